// Package notifications serves the announcements of tasks, each user's choices of e-mails, and webhooks.
//
// Everyone who sees a task sees its announcements. Creating an announcement is an event; package notifier sends it to the registrants. A
// mailbox stores the choices of a user. A link at the end of each e-mail stops all e-mails without a login (RFC 8058). The link contains a
// secret of the mailbox, which allows nothing else.
//
// A webhook belongs to an organizer or to one of its tasks. Only organizers see webhooks and their deliveries.
package notifications

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// Operations of the family.
var Operations = slices.Concat([]api.Operation{
	api.List(api.Spec{
		ID: "listAnnouncements", Path: "/v1/tasks/{taskId}/announcements", May: access.Anyone,
		Summary:     "List the announcements of a task",
		Description: "The newest first, for everyone who sees the task.",
		Query:       page.Spec{},
	}, task, listAnnouncements, nil),
	api.Create(api.Spec{
		ID: "createAnnouncement", Path: "/v1/tasks/{taskId}/announcements", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary: "Announce something to everyone who sees a task",
		Description: "If the server sends e-mails, members of accepted teams get it, unless they chose otherwise. Later changes of the " +
			"announcement are not sent.",
	}, task, createAnnouncement),
	api.Get(api.Spec{
		ID: "getAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Anyone,
		Summary:     "Return an announcement",
		Description: "With its latest corrections.",
	}, announcement, showAnnouncement),
	api.Patch(api.Spec{
		ID: "updateAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Correct an announcement",
		Description: "It is not sent again. E-mails that have not been sent yet have the corrected text.",
	}, announcement, showAnnouncement, changeAnnouncement),
	api.Delete(api.Spec{
		ID: "deleteAnnouncement", Path: "/v1/tasks/{taskId}/announcements/{announcementId}", May: access.Organizer,
		Token: access.ScopeOrganize, Problems: api.Quotas,
		Summary:     "Delete an announcement",
		Description: "E-mails that were sent already cannot be taken back.",
	}, announcement, removeAnnouncement),
	api.Get(api.Spec{
		ID: "getNotifications", Path: "/v1/user/notifications", May: access.User,
		Summary:     "Return what you are notified of by e-mail",
		Description: "All kinds of events, unless you chose fewer. E-mails go to the latest address from the sign-in issuer.",
	}, choices, showChoices),
	api.Patch(api.Spec{
		ID: "updateNotifications", Path: "/v1/user/notifications", May: access.User,
		Token:       access.ScopeSubmit | access.ScopeOrganize,
		Summary:     "Choose what you are notified of by e-mail",
		Description: "`email` lists the kinds of events that you want. An empty list stops all e-mails. You get at most one e-mail in ten minutes.",
	}, choices, showChoices, changeChoices),
	api.WithHTML(api.Get(api.Spec{
		ID: "getUnsubscription", Path: "/v1/users/{userId}/unsubscriptions/{unsubscriptionId}", May: access.Anyone,
		Problems: []*problem.Kind{problem.NotFound},
		Summary:  "Return whether e-mails are stopped",
		Description: "The link at the end of each e-mail leads here. Browsers get a page with a button. Opening the link stops nothing, " +
			"because programs that check e-mails open their links.",
	}, mailbox, showMailbox), unsubscribePage),
	api.Act(api.Spec{
		Token: access.SignedIn,
		ID:    "unsubscribe", Path: "/v1/users/{userId}/unsubscriptions/{unsubscriptionId}", May: access.Anyone,
		Problems: []*problem.Kind{problem.NotFound},
		Summary:  "Stop all e-mails",
		Description: "Needs no login, only the secret id in the link of an e-mail, so that e-mail programs can unsubscribe their users (RFC " +
			"8058). `PATCH /v1/user/notifications` allows e-mails again.",
	}, mailbox, showMailbox, unsubscribe),
}, organizerWebhooks.operations(), taskWebhooks.operations())
