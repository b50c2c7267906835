package visibility

import (
	"context"
	"time"

	"assay/shared/record"
	"assay/shared/records"
)

// Release is that of scores of the dataset, by the closes as they are stored. It reads them once until Forget drops them. Of a dataset
// that is being deleted it is not known.
func (v *Viewer) Release(ctx context.Context, taskID, datasetID string) (record.Release, error) {
	if r, read := v.releases[datasetID]; read {
		return r, nil
	}
	var t *record.TaskItem
	var d *record.DatasetItem
	var e *record.Embargo
	err := records.Read(ctx, v.Store, v.Consistency, records.Into(&t, record.TaskKey(taskID)),
		records.Into(&d, record.DatasetKey(datasetID)), records.Into(&e, record.EmbargoKey(taskID)))
	r := record.Release{Unknown: true}
	if err != nil {
		return r, err
	}
	if t != nil && d != nil {
		r = d.Release(t, e)
	}
	if v.releases == nil {
		v.releases = map[string]record.Release{}
	}
	v.releases[datasetID] = r
	return r, nil
}

// ApplyEmbargo has the attributes of a run or an evaluation on the dataset say whether scores are withheld at now, because what is stored
// of that follows a change of the last close later. It reads nothing where the dataset never withholds them.
func (v *Viewer) ApplyEmbargo(ctx context.Context, a *record.AccessAttributes, taskID, datasetID string, now time.Time) error {
	if !a.AfterClose && !a.Embargoed {
		return nil
	}
	r, err := v.Release(ctx, taskID, datasetID)
	a.Embargoed = r.Withholds(now)
	return err
}
