// Package notifications serves what people are notified of: the announcements of tasks, and what each user is notified of by e-mail.
//
// An announcement is seen by everyone who sees its task. Its creation is an event, of which package notifier tells the registrants. What
// a user is notified of is kept in a mailbox. A link at the end of each e-mail stops all of them: the link holds a secret of the mailbox,
// which lets its holder do nothing else, so that it needs no login (RFC 8058).
//
// Webhooks belong to an organizer or to one of its tasks. Organizers alone know of them and of what was sent to them.
package notifications

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = slices.Concat([]api.Operation{
	api.List(api.Spec{
		ID: "listAnnouncements", Path: "/v1/tasks/{taskId}/announcements", May: access.Anyone,
		Summary:     "List the announcements of a task",
		Description: "The newest first, to all who see the task.",
		Query:       page.Spec{},
	}, task, listAnnouncements, nil),
	api.Create(api.Spec{
		ID: "createAnnouncement", Path: "/v1/tasks/{taskId}/announcements", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary: "Announce something to all who see a task",
		Description: "Registrants whose registration was accepted are notified of it by e-mail, unless they chose otherwise. A later change is " +
			"not sent again.",
	}, task, createAnnouncement),
	api.Get(api.Spec{
		ID: "getAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Anyone,
		Summary:     "Return an announcement",
		Description: "As it is now.",
	}, announcement, showAnnouncement),
	api.Patch(api.Spec{
		ID: "updateAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Correct an announcement",
		Description: "It is not sent again; what has not been sent yet is sent as it is then.",
	}, announcement, showAnnouncement, changeAnnouncement),
	api.Delete(api.Spec{
		ID: "deleteAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Delete an announcement",
		Description: "What was sent of it stays sent.",
	}, announcement, removeAnnouncement),
	api.Get(api.Spec{
		ID: "getNotifications", Path: "/v1/user/notifications", May: access.User,
		Summary:     "Return what you are notified of by e-mail",
		Description: "All kinds of events, unless you chose. E-mails go to the address that the sign-in issuer gave last.",
	}, choices, showChoices),
	api.Patch(api.Spec{
		ID: "updateNotifications", Path: "/v1/user/notifications", May: access.User,
		Token:       access.ScopeSubmit | access.ScopeOrganize,
		Summary:     "Choose what you are notified of by e-mail",
		Description: "`email` lists the kinds of events that you want; an empty list stops all e-mails. At most one is sent in ten minutes.",
	}, choices, showChoices, changeChoices),
	api.WithHTML(api.Get(api.Spec{
		ID: "getUnsubscription", Path: "/v1/users/{userId}/unsubscriptions/{unsubscriptionId}", May: access.Anyone,
		Problems: []*problem.Kind{problem.NotFound},
		Summary:  "Return whether e-mails are stopped",
		Description: "What the link at the end of each e-mail leads to: for browsers a page with a button. It stops nothing by itself, since " +
			"programs that check mails open their links.",
	}, mailbox, showMailbox), unsubscribePage),
	api.Act(api.Spec{
		Token: access.SignedIn,
		ID:    "unsubscribe", Path: "/v1/users/{userId}/unsubscriptions/{unsubscriptionId}", May: access.Anyone,
		Problems: []*problem.Kind{problem.NotFound},
		Summary:  "Stop all e-mails",
		Description: "By the id in the link of an e-mail, which is a secret, without a login, as programs for mail do when their user wants no " +
			"more of them (RFC 8058). `PATCH /v1/user/notifications` lets them be sent again.",
	}, mailbox, showMailbox, unsubscribe),
}, organizerWebhooks.operations(), taskWebhooks.operations())
