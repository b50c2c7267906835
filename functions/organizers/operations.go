// Package organizers serves the organizations that run tasks, and the audit entries about organizers and their tasks.
//
// Everyone sees every organizer with the ids of its members. Every user can create an organizer, and is its first member and owner. Only
// members change an organizer, and only owners change its members. Each membership is also a grant in the partition of its user. The same
// transaction writes both, so that one read returns all rights of a caller.
//
// Users become members only by their own request, with an invitation (package invitations), and can always leave. An organizer keeps at
// least one owner, so that somebody can always change it.
package organizers

import (
	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
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
		Description: "The caller becomes its only member and owner. Others join by an invitation. `/info` lists how many organizers a user can create in 24 hours.",
	}, api.NoTarget, create),
	api.Get(api.Spec{
		ID: "getOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Anyone,
		Summary:     "Return an organizer",
		Description: "With the ids of its members. Members also see names and addresses.",
	}, organizer, show),
	api.Patch(api.Spec{
		ID: "updateOrganizer", Path: "/v1/organizers/{organizerId}", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update an organizer",
		Description: "Owners remove members by changing `members`. By changing `owners` they make members owners, or owners editors. One " +
			"request changes at most 45 users. A merge patch replaces a whole list; the JSON Patch " +
			"`[{\"op\":\"add\",\"path\":\"/owners/-\",\"value\":\"<user id>\"}]` adds one owner. A patch cannot add members: users join by an " +
			"invitation. The last owner cannot be removed. Every such change is an audit entry.",
	}, organizer, show, change),
	api.Delete(api.Spec{
		ID: "deleteOrganizer", Path: "/v1/organizers/{organizerId}", May: access.OrganizerOwner,
		Token:   access.ScopeOrganize,
		Summary: "Delete an organizer",
		Description: "For its owners. The answer is 409 while the organizer has tasks. Its tasks in the trash can no longer be restored, with " +
			"everything in them: `/v1/deletions?filter[organizerId]=<id>` lists them before. Its audit entries are deleted, too. The " +
			"server's log records who deleted it.",
	}, organizer, remove),
	api.List(api.Spec{
		ID: "listOrganizerAuditEntries", Path: "/v1/organizers/{organizerId}/audit-entries", May: access.Organizer,
		Summary: "List the audit entries of an organizer and its tasks",
		Description: "The newest first. An entry says who created, deleted or changed something, and when. Entries never change, and stay " +
			"when their subject is deleted, except when the organizer is deleted. They store only the ids of users; a random id replaces the id " +
			"of a deleted user. `actor` and `users` have the names of users with a profile. `Accept: text/csv` returns a table.",
		Query: page.Spec{Filters: append([]page.Filter{{Name: "taskId", Type: page.ID}}, auditFilters...)},
	}, organizer, listAuditEntries, auditRows),
	api.List(api.Spec{
		ID: "listTodos", Path: "/v1/organizers/{organizerId}/todos", May: access.Organizer,
		Summary: "List the open work of an organizer",
		Description: "In all of its tasks, in descending order of ids: registrations that wait for a decision; completed runs that are neither " +
			"published nor reviewed; runs that failed and were not reviewed since; and for each dataset, checked daily, a run that has waited " +
			"for an hour without a worker that serves it. Every change of a review ends the entry of its run, and so does naming the run in " +
			"`updateReviews`, even if nothing changes. Runs that a worker executed are listed once their logs are stored.",
		Query: page.Spec{Filters: []page.Filter{{Name: "kind", Type: page.Enum}, {Name: "taskId", Type: page.ID}}},
	}, organizer, listTodos, nil),
	api.List(api.Spec{
		ID: "listAuditEntries", Path: "/v1/tasks/{taskId}/audit-entries", May: access.Organizer,
		Summary: "List the audit entries of a task",
		Description: "The audit entries of the organizer that are about the task, or about the organizer and so about all of its tasks. After " +
			"the task is deleted, only the organizer's list has them.",
		Query: page.Spec{Filters: auditFilters},
	}, task, listTaskAuditEntries, auditRows),
	api.List(api.Spec{
		ID: "listMembers", Path: "/v1/organizers/{organizerId}/members", May: access.Anyone,
		Summary:     "List the members of an organizer",
		Description: "In descending order of the users' ids. Members also see names and addresses.",
	}, organizer, listMembers, nil),
	api.Get(api.Spec{
		ID: "getMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Anyone,
		Summary:     "Return a member of an organizer",
		Description: "Its entity tag changes with the organizer.",
	}, member, showMember),
	api.Delete(api.Spec{
		ID: "deleteMember", Path: "/v1/organizers/{organizerId}/members/{userId}", May: access.Owner | access.OrganizerOwner,
		Problems:    api.Quotas,
		Token:       access.ScopeOrganize,
		Summary:     "Leave an organizer, or remove a member",
		Description: "Users end their own memberships, and owners end every membership. The answer is 409 for the last owner.",
	}, member, removeMember),
}
