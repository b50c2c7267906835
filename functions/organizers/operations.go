// Package organizers serves the organizations that run tasks.
//
// Everyone sees every organizer with its members. Whoever is logged in can found one and is its first member; members
// alone change it. Members are users; each membership is also a grant in its user's partition, written in the same
// transaction, so that what a caller may do costs one read.
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
		Description: "The caller becomes its first member. At most 90 members can be named at once; more can be added later.",
	}, api.Anything, create),
	api.Get(api.Spec{
		ID: "getOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Anyone,
		Summary:     "Return an organizer",
		Description: "With the ids of its members.",
	}, organizer, show),
	api.Patch(api.Spec{
		ID: "updateOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer,
		Summary:     "Update an organizer",
		Description: "Members come and go by a change of `members`, at most 90 in one request; the last one cannot be removed. Every change of members is told in the audit entries of the organizer's tasks.",
	}, organizer, show, change),
	api.Delete(api.Spec{
		ID: "deleteOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer,
		Summary:     "Delete an organizer",
		Description: "Refused with 409 while it has tasks.",
	}, organizer, remove),
}
