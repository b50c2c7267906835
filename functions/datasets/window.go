package datasets

import (
	"context"
	"reflect"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
)

// renewWindow adds to c.Tx the event that notifies participants when the dataset's own window closes. If the change decides who sees
// columns, it also adds the change of the task's embargo.
func renewWindow(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) error {
	if err := records.CreateMissing[record.Event](ctx, c.Store, c.Tx, changed.ClosingEvent(c.Now())); err != nil {
		return err
	}
	rules := old.ID != "" && !changed.ShowsLike(old)
	if !rules && (!changed.IsTimed() || reflect.DeepEqual(changed.Submissions, old.Submissions)) {
		return nil
	}
	if rules { // The records of runs do not know the rules yet.
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Embargo, record.EmbargoKey(changed.TaskID))
	}
	return propagation.RenewEmbargo(ctx, c.Store, c.Tx, changed.TaskID, c.Now(), func(e *record.Embargo) { e.Add(changed.ID) })
}
