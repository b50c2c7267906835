package organizers

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/table"
)

// grant adds the changes of members to tx: a grant for each who came, and none any more for each who went.
func grant(c *api.Call, tx *table.Tx, organizerID string, before, after []string) error {
	changes := 0
	for _, m := range after {
		if !slices.Contains(before, m) {
			tx.Create(&record.Reservation{Meta: record.NewMeta(c.Now()), At: record.MembershipKey(m, organizerID)})
			changes++
		}
	}
	for _, m := range before {
		if !slices.Contains(after, m) {
			tx.DeleteKey(record.MembershipKey(m, organizerID))
			changes++
		}
	}
	if changes > record.MaxMemberChanges {
		return problem.Check([]problem.Field{{Pointer: "/members", Detail: "can change by at most 90 users in one request: change it in several"}})
	}
	return nil
}

// audit tells a change of members in the newest tasks of the organizer, as many as the transaction has room for.
func audit(ctx context.Context, c *api.Call, tx *table.Tx, o *record.Organizer, before, after []string) error {
	const room = 5
	var sources []table.Source
	for _, a := range []access.Audience{access.Everyone, access.Registrants} {
		sources = append(sources, table.Partition(record.ByOrganizer, record.OfOrganizer(o.ID, record.KindTask, a)))
	}
	tasks, _, err := table.List[record.TaskItem](ctx, c.Store, table.Selection{Sources: sources, Limit: room}, nil)
	for _, t := range tasks {
		tx.Create(record.NewAudit(c.Now(), t.ID, c.Caller.ID, "members.changed", "/v1/organizers/"+o.ID, before, after))
	}
	return err
}
