package organizers

import (
	"context"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/service/records"
)

var task = api.Load[record.TaskItem]("taskId", record.TaskKey)

// auditFilters are the filters of both lists of audit entries.
var auditFilters = []page.Filter{{Name: "actorId", Type: page.ID}, {Name: "userId", Type: page.ID}, {Name: "action", Type: page.Enum}}

func listAuditEntries(ctx context.Context, c *api.Call, o *record.Organizer) (page.Page[*record.AuditEntry], error) {
	return listAudit(ctx, c, records.AuditEntries(o.ID))
}

// listTaskAuditEntries returns the audit entries of the task, and the entries of its organizer that concern all tasks.
func listTaskAuditEntries(ctx context.Context, c *api.Call, t *record.TaskItem) (page.Page[*record.AuditEntry], error) {
	return listAudit(ctx, c,
		records.Partition(record.List(record.KindTask, t.ID, record.KindAudit, access.Organizers)),
		records.Partition(record.List(record.KindOrganizer, t.OrganizerID, record.KindAudit, access.Organizers)))
}

func listAudit(ctx context.Context, c *api.Call, sources ...records.Source) (page.Page[*record.AuditEntry], error) {
	keep := func(a *record.AuditEntry) bool {
		return c.Page.Matches("taskId", a.TaskID) && c.Page.Matches("actorId", a.ActorID) && c.Page.Matches("action", a.Action) &&
			(c.Page.Matches("userId", "") || slices.ContainsFunc(a.UserIDs, func(id string) bool { return c.Page.Matches("userId", id) }))
	}
	return api.PageOf(ctx, c, sources, keep, (*record.AuditEntry).Named)
}

// auditRows returns the rows of a table of audit entries.
func auditRows(all []*record.AuditEntry) [][]string {
	rows := [][]string{{"id", "createdAt", "actorId", "actorName", "actorEmail", "action", "subject", "taskId", "userIds", "userNames",
		"before", "after"}}
	for _, a := range all {
		names := lists.Map(a.Users, func(u *record.Person) string { return u.Name })
		rows = append(rows, []string{
			a.ID, a.CreatedAt.String(), a.ActorID, a.Actor.Name, a.Actor.Email, a.Action, a.Subject, a.TaskID,
			strings.Join(a.UserIDs, " "), strings.Join(names, "; "), string(a.Before), string(a.After),
		})
	}
	return rows
}
