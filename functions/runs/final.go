package runs

import (
	"context"
	"fmt"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// mark adds to c.Tx that the team's allowance lists the run as final, or no longer. All marks of a team change the same allowance, so that
// no race marks more runs than the dataset takes. The team marks runs until its window closes, and organizers at any time.
func mark(ctx context.Context, c *api.Call, r *record.RunItem, final bool) error {
	var t *record.TaskItem
	var d *record.DatasetItem
	err := records.Read(ctx, c.Store, store.Strong, records.Into(&t, record.TaskKey(r.TaskID)),
		records.Into(&d, record.DatasetKey(r.DatasetID)))
	if err != nil {
		return err
	}
	switch {
	case t == nil || d == nil:
		return problem.Conflict.New("The dataset of the run is being deleted.")
	case r.Unregistered():
		return problem.InvalidMember("/final", "is for runs of teams, and this run is a baseline without a registration")
	case final && d.FinalRuns == 0:
		return problem.InvalidMember("/final", "cannot be set, because the dataset takes no final runs")
	case final && !r.State.Counts():
		return problem.InvalidMember("/final", "cannot be set, because the run is %s", r.State)
	}
	a, err := allowance.Of(ctx, c.Store, store.Strong, r.Scope())
	if err != nil {
		return err
	}
	a = allowance.OfTeam(c.Tx, a, r.TaskID, r.TeamID(), c.Now())
	if !c.Organizes() {
		_, closes := a.Window(t, d)
		if err := record.CheckWindow(fmt.Sprintf("The choice of final runs on the dataset %q", d.Name), nil, closes, c.Now()); err != nil {
			return err
		}
	}
	if err := a.Mark(d, r.ID, final); err != nil {
		return err
	}
	c.Tx.Save(a, c.Now())
	return nil
}
