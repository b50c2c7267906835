// Package users serves who is logged in, and what users submitted.
//
// A user's id comes from the token alone, so everyone who can log in is somebody, and a GET creates nothing. A profile is
// stored when its user first changes something, if only by an empty PATCH.
package users

import (
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
)

// Operations of the family.
var Operations = []api.Operation{
	api.Get(api.Spec{
		ID: "getCurrentUser", Path: "/v1/user", May: access.User,
		Summary:     "Return the user who is logged in",
		Description: "With roles, memberships of organizers and registrations for tasks, and the names of both.",
	}, current, showCurrent),
	api.Patch(api.Spec{
		ID: "updateCurrentUser", Path: "/v1/user", May: access.User,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Store your profile",
		Description: "Stores name and email as the sign-in issuer gives them, which every other change does too. No member can be written: " +
			"send an empty patch, `{}` or `[]`.",
	}, current, showCurrent, changeCurrent),
	api.Delete(api.Spec{
		ID: "deleteCurrentUser", Path: "/v1/user", May: access.User, Token: access.SignedIn,
		Summary: "Delete your account, with all that you said",
		Description: "As `deleteUser` does it, for yourself: `id` must be your own, so that nobody is deleted by a slip, and no access token will " +
			"do. What belongs to a team with other members stays theirs. Withdraw before what shall not stay on leaderboards. Refused with 409 " +
			"as long as you are the last who can manage an organizer, with what to do first. To sign in again makes a new, empty account.",
		Query: page.Spec{Filters: []page.Filter{{Name: "id", Type: page.ID, Standalone: true}}},
	}, current, removeCurrent),
	api.List(api.Spec{
		ID: "listUsers", Path: "/v1/users", May: access.Admin,
		Summary:     "List users",
		Description: "Everyone who logged in and changed something at least once, in descending order of ids.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "name"}}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getUser", Path: "/v1/users/{userId}", May: access.Owner | access.Admin,
		Summary:     "Return a user",
		Description: "Seen by the user and by admins. Anyone else gets 401 or 403, whether or not there is such a user.",
	}, userAccount, show),
	api.Patch(api.Spec{
		ID: "updateUser", Path: "/v1/users/{userId}", May: access.Admin, Token: access.SignedIn,
		Summary: "Set the quota of a user",
		Description: "For users who need more of the platform than others, or shall have less. Each limit of `quota` replaces, for this " +
			"user, the default of the server, which `/info` lists; null returns to the default, and 0 is no limit. `limits` of the answer are " +
			"those that apply. A limit below what is taken refuses what would take more, and deletes nothing.",
	}, userAccount, show, changeQuota),
	api.Delete(api.Spec{
		ID: "deleteUser", Path: "/v1/users/{userId}", May: access.Admin, Token: access.SignedIn,
		Summary: "Delete a user, with all that the user said",
		Description: "The user's rights and access tokens end at once. Within some minutes name, address, team, affiliation, country and " +
			"contact are gone from everything that is stored, and all that was submitted and not published is deleted. Published results stay on " +
			"leaderboards, under the alias of the registration and without what the user wrote of them; a random id stands for the user's " +
			"there and in audit entries. Until that is done `getUser` answers with `deleting`, then with 404. Refused with 409 for the last " +
			"owner of an organizer. Who signs in again is a new user: have the sign-in issuer refuse the account first, if that is not " +
			"meant.",
	}, userID, remove),
	api.List(api.Spec{
		ID: "listUserSubmissions", Path: "/v1/users/{userId}/submissions", May: access.Anyone,
		Summary: "List the submissions of a user",
		Description: "The public ones that show the user's name; the user and admins see all. Empty (204) when there is nothing to see, for " +
			"any user.",
		Query: page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}}},
	}, userID, listSubmissions, nil),
	api.List(api.Spec{
		ID: "listTokens", Path: "/v1/user/tokens", May: access.User, Token: access.SignedIn,
		Summary:     "List your access tokens",
		Description: "In descending order of ids, without their secrets. One that has expired is listed for 30 days more.",
	}, userID, listTokens, nil),
	api.Create(api.Spec{
		ID: "createToken", Path: "/v1/user/tokens", May: access.User,
		Summary: "Make an access token",
		Description: "For scripts, CI and workers, in place of a token of the sign-in issuer, wherever a bearer token is taken, gRPC included. " +
			"It never allows more than its user may do at that time, and over REST nothing that only administrators may do. The answer has " +
			"the secret, which is stored nowhere: keep it. A user has at most 50, of which those that expired count for 30 days. Tokens with " +
			"the scope `work` are for administrators, who change something with a login every 30 days for them to stay accepted, and, with " +
			"`pools`, for members of the organizers whose pools they name: such a token leases only runs of these organizers' tasks.",
	}, userID, createToken),
	api.Delete(api.Spec{
		ID: "deleteToken", Path: "/v1/user/tokens/{tokenId}", May: access.User,
		Summary:     "Revoke an access token",
		Description: "It is refused everywhere within 10 seconds.",
	}, token, removeToken),
	api.List(api.Spec{
		ID: "listUserTokens", Path: "/v1/users/{userId}/tokens", May: access.Owner | access.Admin, Token: access.SignedIn,
		Summary:     "List the access tokens of a user",
		Description: "As the user lists them, for administrators too: names, scopes and days of use, never secrets.",
	}, userID, listTokens, nil),
	api.Delete(api.Spec{
		ID: "deleteUserToken", Path: "/v1/users/{userId}/tokens/{tokenId}", May: access.Owner | access.Admin, Token: access.SignedIn,
		Summary:     "Revoke an access token of a user",
		Description: "For administrators too, such as when one has leaked. It is refused everywhere within 10 seconds.",
	}, token, removeToken),
	api.List(api.Spec{
		ID: "listQueues", Path: "/v1/platform/queues", May: access.Admin,
		Summary: "List the queues of runs",
		Description: "How many runs wait in each pool for each kind of work, since when, and when a worker was last seen, in the order of the " +
			"pools' names. Of pools with runs that wait, the first 200.",
		Query: page.Spec{Named: true},
	}, api.NoTarget, listQueues, nil),
	api.Get(api.Spec{
		ID: "getStorage", Path: "/v1/platform/storage", May: access.Admin,
		Summary: "Return what is stored and created",
		Description: "What all users together take of the quotas that `/info` lists, and these. What one user takes is `taken` of " +
			"`/v1/users/{userId}`; `/v1/platform/storage/users` lists those who store most.",
	}, api.NoTarget, showStorage),
	api.List(api.Spec{
		ID: "listUsersByStorage", Path: "/v1/platform/storage/users", May: access.Admin,
		Summary: "List users by what they store",
		Description: "Who stores most comes first: users whose files count, by the power of two that their bytes reach, results of tools and " +
			"replaced files aside. Within a page the order is exact; of users on different pages it is for those whose bytes differ by a factor " +
			"of two. With `taken`, `limits` and `quota` of each.",
	}, api.NoTarget, listByStorage, nil),
}
