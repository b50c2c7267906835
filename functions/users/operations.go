// Package users serves who is logged in, and what users submitted.
//
// A user's id comes from the token alone, so everyone who can log in is somebody, and a GET creates nothing. A profile is
// stored when its user first changes something, if only by an empty PATCH. That makes the user known: others can add known
// users alone to their organizers and tasks, so that nobody is added who never asked anything of this server.
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
		Summary: "Return the user who is logged in",
		Description: "With roles, memberships of organizers and registrations for tasks. Organizers add a user by this `id`, which the user " +
			"gives to them.",
	}, current, showCurrent),
	api.Patch(api.Spec{
		ID: "updateCurrentUser", Path: "/v1/user", May: access.User,
		Summary: "Become known",
		Description: "Stores name and email as the sign-in issuer gives them. From then on organizers can name the user as a member or " +
			"register the user for a task; every other change makes its user known too. No member can be written: send an empty patch, `{}` or " +
			"`[]`.",
	}, current, showCurrent, changeCurrent),
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
	}, userID, show),
	api.List(api.Spec{
		ID: "listUserSubmissions", Path: "/v1/users/{userId}/submissions", May: access.Anyone,
		Summary: "List the submissions of a user",
		Description: "The public ones that show the user's name; the user and admins see all. Empty (204) when there is nothing to see, for " +
			"any user.",
		Query: page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}}},
	}, userID, listSubmissions, nil),
}
