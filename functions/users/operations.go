// Package users serves the caller's account, the accounts of users, access tokens, and figures about the platform.
//
// The id of a user is derived from the token. So everyone who can log in is a user, and a GET stores nothing. A profile is stored when its
// user first changes something, or sends an empty PATCH.
package users

import (
	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/edge/api"
)

// Operations of the family.
var Operations = []api.Operation{
	api.Get(api.Spec{
		ID: "getCurrentUser", Path: "/v1/user", May: access.User,
		Summary:     "Return your account",
		Description: "With roles, memberships of organizers and registrations for tasks, and the names of both.",
	}, current, showCurrent),
	api.Patch(api.Spec{
		ID: "updateCurrentUser", Path: "/v1/user", May: access.User,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Store your profile",
		Description: "Stores the name and email from the sign-in issuer, like every other change. No member can be written: send an empty " +
			"patch, `{}` or `[]`.",
	}, current, showCurrent, changeCurrent),
	api.Delete(api.Spec{
		ID: "deleteCurrentUser", Path: "/v1/user", May: access.User, Token: access.SignedIn,
		Summary: "Delete your account and your data",
		Description: "Like `deleteUser`, for your own account. `id` must be your id, so that no accident deletes your account. Access tokens " +
			"cannot do it. Submissions of teams with other members stay with the team. Published results stay; withdraw them first if you " +
			"do not want this. The answer is 409 while you are the last owner of an organizer, and says what to do first. Signing " +
			"in again creates a new, empty account.",
		Query: page.Spec{Filters: []page.Filter{{Name: "id", Type: page.ID, Standalone: true}}},
	}, current, removeCurrent),
	api.List(api.Spec{
		ID: "listUsers", Path: "/v1/users", May: access.Admin,
		Summary:     "List users",
		Description: "All users who have changed something at least once, in descending order of ids.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "name"}}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getUser", Path: "/v1/users/{userId}", May: access.Owner | access.Admin,
		Summary:     "Return a user",
		Description: "For the user and for administrators. Other callers get 401 or 403, whether the user exists or not.",
	}, userAccount, show),
	api.Patch(api.Spec{
		ID: "updateUser", Path: "/v1/users/{userId}", May: access.Admin, Token: access.SignedIn,
		Summary: "Set the quota of a user",
		Description: "Each limit of `quota` replaces the server's default, which `/info` lists, for this user. null returns to the default, " +
			"and 0 means no limit. `limits` of the answer are the limits that apply. A limit below the user's current usage deletes nothing, and " +
			"refuses requests that would use more.",
	}, userAccount, show, changeQuota),
	api.Delete(api.Spec{
		ID: "deleteUser", Path: "/v1/users/{userId}", May: access.Admin, Token: access.SignedIn,
		Summary: "Delete a user and the user's data",
		Description: "The user's rights and access tokens end at once. Within some minutes, name, address, team, affiliation, country and " +
			"contact are removed from all records, and unpublished submissions are deleted. A run whose review is published and that was " +
			"completed stays, also if it failed later: under the alias of the registration, with its results and without texts of the user " +
			"and diagnostics. A random id replaces the user's id in them and in audit entries. " +
			"`getUser` answers with `deleting` until this is done, then with 404. The answer is 409 for the last owner of an organizer. A " +
			"deleted user who signs in again is a new user. To prevent this, block the account at the sign-in issuer first.",
	}, userID, remove),
	api.List(api.Spec{
		ID: "listUserSubmissions", Path: "/v1/users/{userId}/submissions", May: access.Anyone,
		Summary: "List the submissions of a user",
		Description: "All public submissions that show the user's name. The user and administrators see all submissions. The answer is 204 if " +
			"the caller sees none, also if the user does not exist.",
		Query: page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}}},
	}, userID, listSubmissions, nil),
	api.List(api.Spec{
		ID: "listTokens", Path: "/v1/user/tokens", May: access.User, Token: access.SignedIn,
		Summary:     "List your access tokens",
		Description: "In descending order of ids, without their secrets. Expired tokens stay in the list for 30 days.",
	}, userID, listTokens, nil),
	api.Create(api.Spec{
		ID: "createToken", Path: "/v1/user/tokens", May: access.User,
		Summary: "Make an access token",
		Description: "For scripts, CI and workers. An access token replaces a token of the sign-in issuer everywhere, also in gRPC. It never " +
			"allows more than its user may do at the time, and in REST no operations for administrators. Only this answer has the secret, which " +
			"is not stored: keep it. A user has at most 50 tokens; expired tokens count for 30 days. Administrators can make tokens with the " +
			"scope `work`. To keep these tokens accepted, they must change something with a login every 30 days. Members of organizers can make " +
			"tokens with the scope `work` for the `pools` of their organizers. Such a token leases only runs of these organizers' tasks.",
	}, userID, createToken),
	api.Delete(api.Spec{
		ID: "deleteToken", Path: "/v1/user/tokens/{tokenId}", May: access.User,
		Summary:     "Revoke an access token",
		Description: "The server refuses it within 10 seconds.",
	}, token, removeToken),
	api.List(api.Spec{
		ID: "listUserTokens", Path: "/v1/users/{userId}/tokens", May: access.Owner | access.Admin, Token: access.SignedIn,
		Summary:     "List the access tokens of a user",
		Description: "For the user and for administrators: names, scopes and days of use, never secrets.",
	}, userID, listTokens, nil),
	api.Delete(api.Spec{
		ID: "deleteUserToken", Path: "/v1/users/{userId}/tokens/{tokenId}", May: access.Owner | access.Admin, Token: access.SignedIn,
		Summary:     "Revoke an access token of a user",
		Description: "For the user and for administrators, for example if it has leaked. The server refuses it within 10 seconds.",
	}, token, removeToken),
	api.List(api.Spec{
		ID: "listQueues", Path: "/v1/platform/queues", May: access.Admin,
		Summary: "List the queues of runs",
		Description: "For each pool and kind of work: the number of queued runs, the time of the oldest, and the time at which a worker was " +
			"last seen. In the order of the pools' names; at most 200 pools with queued runs.",
		Query: page.Spec{Named: true},
	}, api.NoTarget, listQueues, nil),
	api.Get(api.Spec{
		ID: "getStorage", Path: "/v1/platform/storage", May: access.Admin,
		Summary: "Return the usage of the platform",
		Description: "The usage of all users together, and its limits, which `/info` lists. `taken` of `/v1/users/{userId}` is the usage of " +
			"one user. `/v1/platform/storage/users` lists the users who store most.",
	}, api.NoTarget, showStorage),
	api.List(api.Spec{
		ID: "listUsersByStorage", Path: "/v1/platform/storage/users", May: access.Admin,
		Summary: "List users by stored bytes",
		Description: "Users with stored files, the largest first, with `taken`, `limits` and `quota`. Results of tools and replaced files do " +
			"not count. The order is exact within a page. Users on different pages are in order if their bytes differ by at least a factor of two.",
	}, api.NoTarget, listByStorage, nil),
}
