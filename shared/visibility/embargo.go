package visibility

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/records"
)

// LiftEmbargo shows the scores of a single run or evaluation on the dataset, which has the attributes, from the instant of the last close
// on: those that are stored follow later. It reads nothing where no scores are withheld.
func (v *Viewer) LiftEmbargo(ctx context.Context, a *record.AccessAttributes, taskID, datasetID string, now time.Time) error {
	if !a.Embargoed {
		return nil
	}
	var t *record.TaskItem
	var d *record.DatasetItem
	var e *record.Embargo
	err := records.Read(ctx, v.Store, v.Consistency, records.Into(&t, record.TaskKey(taskID)),
		records.Into(&d, record.DatasetKey(datasetID)), records.Into(&e, record.EmbargoKey(taskID)))
	if err == nil && t != nil && d != nil {
		a.Embargoed = d.Embargoed(t, e, now)
	}
	return err
}
