// Package organizers serves the organizations that run tasks, and the audit entries of what was changed in them and their tasks.
//
// Everyone sees every organizer with the ids of its members. Every user can found one and is its first member and owner; members
// alone change it, and owners alone its members. Members are users; each membership is also a grant in its user's partition, written in the
// same transaction, so that what a caller may do costs one read.
//
// Nobody is bound by what others do: users join by themselves, with an invitation (package invitations), and all can leave. An organizer
// keeps at least one owner, so that somebody can always change it.
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
	}, api.NoTarget, list, nil),
	api.Create(api.Spec{
		ID: "createOrganizer", Path: "/v1/organizers", May: access.User, Problems: api.Quotas,
		Token:       access.ScopeOrganize,
		Summary:     "Create an organizer",
		Description: "The caller becomes its only member and owner; others join by an invitation. How many a user can create in 24 hours, `/info` tells.",
	}, api.NoTarget, create),
	api.Get(api.Spec{
		ID: "getOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Anyone,
		Summary:     "Return an organizer",
		Description: "With the ids of its members; members see who they are.",
	}, organizer, show),
	api.Patch(api.Spec{
		ID: "updateOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update an organizer",
		Description: "Owners remove members by a change of `members`, and make members owners, or owners editors, by one of `owners`: at " +
			"most 45 in one request. A merge patch replaces a whole list; the JSON Patch " +
			"`[{\"op\":\"add\",\"path\":\"/owners/-\",\"value\":\"<user id>\"}]` adds one. Nobody becomes a member by it: users join by an " +
			"invitation. The last owner cannot be removed. Every such change is an audit entry.",
	}, organizer, show, change),
	api.Delete(api.Spec{
		ID: "deleteOrganizer", Path: "/v1/organizers/{organizerId}", May: access.OrganizerOwner,
		Token:   access.ScopeOrganize,
		Summary: "Delete an organizer",
		Description: "For its owners. Refused with 409 while it has tasks. Its audit entries are deleted too, since they are below its " +
			"address; the server's log has who deleted it.",
	}, organizer, remove),
	api.List(api.Spec{
		ID: "listOrganizerAuditEntries", Path: "/v1/organizers/{organizerId}/audit-entries", May: access.Organizer,
		Summary: "List what was changed in an organizer and its tasks",
		Description: "Who did what and when, the newest first: what was created and deleted, and changes that others rely on. Entries are " +
			"never changed, and stay when what they are about is deleted, but for the organizer itself. They keep ids of users alone, for which a " +
			"random one stands when a user is deleted; `actor` and `users` say who those are, as far as they have a profile. `Accept: text/csv` " +
			"returns a table.",
		Query: page.Spec{Filters: append([]page.Filter{{Name: "taskId", Type: page.ID}}, auditFilters...)},
	}, organizer, listAuditEntries, auditRows),
	api.List(api.Spec{
		ID: "listTodos", Path: "/v1/organizers/{organizerId}/todos", May: access.Organizer,
		Summary: "List what waits for an organizer",
		Description: "Over all of its tasks, in descending order of ids: registrations that wait for a decision; runs that are completed, not " +
			"published, and not reviewed; runs that failed, also when they were evaluated again, and were not reviewed since; and of each " +
			"dataset, looked for once a day, a run that has waited for an hour for a worker while none that serves it is seen. To change a review " +
			"in any way, or to name its run in `updateReviews`, also with nothing to change, ends the entry of the run. Runs that a worker " +
			"executed are listed once their logs are stored. Runs that had ended when the server was updated to the first version with this list " +
			"count " +
			"as reviewed, and registrations that waited then are listed once they change.",
		Query: page.Spec{Filters: []page.Filter{{Name: "kind", Type: page.Enum}, {Name: "taskId", Type: page.ID}}},
	}, organizer, listTodos, nil),
	api.List(api.Spec{
		ID: "listAuditEntries", Path: "/v1/tasks/{taskId}/audit-entries", May: access.Organizer,
		Summary: "List what was changed in a task",
		Description: "Those of the organizer's audit entries that are about the task, or about the organizer and so all of its tasks. Once the " +
			"task was deleted they are in the organizer's list alone.",
		Query: page.Spec{Filters: auditFilters},
	}, task, listTaskAuditEntries, auditRows),
	api.List(api.Spec{
		ID: "listMembers", Path: "/v1/organizers/{organizerId}/members", May: access.Anyone,
		Summary:     "List the members of an organizer",
		Description: "In descending order of the users' ids; with names and addresses for members.",
	}, organizer, listMembers, nil),
	api.Get(api.Spec{
		ID: "getMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Anyone,
		Summary:     "Return a member of an organizer",
		Description: "Its entity tag is that of the organizer's members: it changes with the organizer.",
	}, member, showMember),
	api.Delete(api.Spec{
		ID: "deleteMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Owner | access.OrganizerOwner,
		Problems:    api.Quotas,
		Token:       access.ScopeOrganize,
		Summary:     "Leave an organizer, or remove a member",
		Description: "Users end their own memberships; owners remove every member. Refused with 409 for the last owner.",
	}, member, removeMember),
}
