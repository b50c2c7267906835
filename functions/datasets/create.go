package datasets

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// task finds the task that a draft names. It checks the evaluator first, so that a preview reports its faults although the task does not
// exist yet.
func task(ctx context.Context, c *api.Call, d record.DatasetDraft) (*record.TaskItem, error) {
	if err := problem.Check(checkEvaluator(&d)); err != nil {
		return nil, err
	}
	return visibility.Find[record.TaskItem](ctx, &c.Viewer, d.TaskID, record.TaskKey)
}

func create(ctx context.Context, c *api.Call, t *record.TaskItem, d record.DatasetDraft) (path string, shown *record.Dataset, err error) {
	if err := problem.Check(d.CheckPool(t.OrganizerID, "")); err != nil {
		return "", nil, err
	}
	none := new(record.DatasetItem) // the state before
	inline, err := checkFiles(&d, none)
	if err != nil {
		return "", nil, err
	}
	if err := checkDatasetCount(ctx, c, t.ID); err != nil {
		return "", nil, err
	}
	item := &record.DatasetItem{
		Dataset:     record.Dataset{Meta: record.NewMeta(c.Now()), DatasetDraft: d},
		OrganizerID: t.OrganizerID, PrivateTask: t.Visibility == record.Private, Payer: c.Caller.ID,
	}
	if err := chargeFiles(ctx, c, none, item, record.Charge{Kind: record.MadeDatasets, Count: 1}); err != nil {
		return "", nil, err
	}
	if record.AllStored(d.Truths) {
		if err := acceptFirstTruth(ctx, c, item, inline); err != nil {
			return "", nil, err
		}
	}
	if err := putFiles(ctx, item, inline, c.PutFile); err != nil {
		return "", nil, err
	}
	path = "/v1/datasets/" + item.ID
	c.Tx.Create(item).Check(t)
	if err := renewWindow(ctx, c, none, item); err != nil {
		return "", nil, err
	}
	if err := c.AuditFree(ctx, item.Scope(), record.DatasetCreated, path, nil, item.Audited()); err != nil {
		return "", nil, err
	}
	c.EffectOfAdvice(none, item, t, t)
	shown, err = showWithLinks(ctx, c, item)
	return path, shown, err
}

// acceptFirstTruth activates the ground truth of a new dataset in c.Tx. A truth that takes too much memory for a request is accepted later.
func acceptFirstTruth(ctx context.Context, c *api.Call, d *record.DatasetItem, inline contents) error {
	checked, err := checkTruth(ctx, c, d.ID, &d.DatasetDraft, inline)
	switch {
	case problem.TooLarge.Is(err):
		d.PendingWork = record.NewPendingWork(record.AcceptTruth, c.Now())
		return nil
	case err != nil:
		return err
	}
	truth.Activate(c.Tx, d, nil, checked, c.Now())
	return nil
}

// checkDatasetCount refuses another dataset for a task that has the most datasets that a task can have.
func checkDatasetCount(ctx context.Context, c *api.Call, taskID string) error {
	q := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(taskID), Limit: record.MaxTaskDatasets}
	found, err := c.Store.Query(ctx, q)
	if err != nil {
		return records.Failed(err)
	}
	if len(found) == record.MaxTaskDatasets {
		return problem.Conflict.New("The task has %d datasets, which is the most. Delete one, or create another task.", record.MaxTaskDatasets)
	}
	return nil
}
