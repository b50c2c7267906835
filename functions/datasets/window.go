package datasets

import (
	"context"
	"reflect"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
)

// renewWindow adds to c.Tx the event that notifies participants when the dataset's own window closes. If the change decides when scores are
// shown, it also adds the change of the task's embargo.
func renewWindow(ctx context.Context, c *api.Call, old, changed *record.DatasetItem) error {
	if err := records.CreateMissing[record.Event](ctx, c.Store, c.Tx, changed.ClosingEvent(c.Now())); err != nil {
		return err
	}
	was, is := old.WaitsForClose(), changed.WaitsForClose()
	if !was && !is || was && is && reflect.DeepEqual(changed.Submissions, old.Submissions) {
		return nil
	}
	if is && !was { // The records of runs do not say yet that their scores are withheld.
		c.Propagate(propagation.Propagator{Store: c.Store, Now: c.Now}.Embargo, record.EmbargoKey(changed.TaskID))
	}
	return propagation.RenewEmbargo(ctx, c.Store, c.Tx, changed.TaskID, c.Now(), func(e *record.Embargo) { e.Add(changed.ID) })
}
