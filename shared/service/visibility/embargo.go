package visibility

import (
	"context"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
)

// Release returns when the scores of the dataset are released, according to the stored closes. It reads them once until Forget drops
// them. For a missing dataset, or one that is being deleted, the release is unknown.
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

// ApplyEmbargo sets in the attributes of a run or evaluation on the dataset whether scores are withheld at now. The stored attributes
// follow a change of the last close only later. It reads nothing if the dataset never withholds scores.
func (v *Viewer) ApplyEmbargo(ctx context.Context, a *record.AccessAttributes, taskID, datasetID string, now time.Time) error {
	if !a.AfterClose && !a.Embargoed {
		return nil
	}
	r, err := v.Release(ctx, taskID, datasetID)
	a.Embargoed = r.Withholds(now)
	return err
}
