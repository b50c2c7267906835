// Package organizers serves the organizations that run tasks.
//
// Everyone sees every organizer with its members. Every user can found one and is its first member; members
// alone change it. Members are users; each membership is also a grant in its user's partition, written in the same
// transaction, so that what a caller may do costs one read.
//
// Nobody is bound by what others do: only known users can be added, each by others to a bounded number of organizers, and
// all can leave. An organizer keeps at least one known member, so that somebody can always change it.
package organizers

import (
	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
)

var organizer = api.Load[record.Organizer]("organizerId", record.OrganizerKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listOrganizers", Path: "/v1/organizers", May: access.Anyone,
		Summary:     "List organizers",
		Description: "All organizers, the newest first.",
		Query:       page.Spec{Filters: []page.Filter{{Name: "name"}}},
	}, api.Anything, list, nil),
	api.Create(api.Spec{
		ID: "createOrganizer", Path: "/v1/organizers", May: access.User,
		Summary:     "Create an organizer",
		Description: "The caller becomes its first member. At most 45 members can be named at once; more can be added later. Members must be known users: see `updateOrganizer`. How many a user can create in 24 hours, `/info` tells.",
	}, api.Anything, create),
	api.Get(api.Spec{
		ID: "getOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Anyone,
		Summary:     "Return an organizer",
		Description: "With the ids of its members.",
	}, organizer, show),
	api.Patch(api.Spec{
		ID: "updateOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer,
		Summary:     "Update an organizer",
		Description: "Members are added and removed by a change of `members`, at most 45 in one request. Who is added must be a known user (one who changed something here, or sent `PATCH /v1/user`) with fewer than 50 memberships; the last known member cannot be removed. Audit entries of the organizer's tasks show every change of members.",
	}, organizer, show, change),
	api.Delete(api.Spec{
		ID: "deleteOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer,
		Summary:     "Delete an organizer",
		Description: "Refused with 409 while it has tasks.",
	}, organizer, remove),
	api.List(api.Spec{
		ID: "listMembers", Path: "/v1/organizers/{organizerId}/members", May: access.Anyone,
		Summary:     "List the members of an organizer",
		Description: "In descending order of the users' ids.",
	}, organizer, listMembers, nil),
	api.Get(api.Spec{
		ID: "getMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Anyone,
		Summary:     "Return a member of an organizer",
		Description: "Its entity tag is that of the organizer's members: it changes with the organizer.",
	}, member, showMember),
	api.Delete(api.Spec{
		ID: "deleteMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Owner | access.Organizer,
		Summary:     "Leave an organizer, or remove a member",
		Description: "Users end their own memberships, no matter who added them; members remove each other. Refused with 409 for the last known member.",
	}, member, removeMember),
}
