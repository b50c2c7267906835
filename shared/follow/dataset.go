package follow

import (
	"context"
	"strings"
	"time"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// DeleteDataset removes a dataset that no run uses. One that is used stays, and the error is a Conflict.
//
// The dataset is marked first, so that nothing new is submitted to it. When then every grant of the task has been written
// anew, submissions that were admitted before the mark are made or never will be, and the allowances tell whether there are
// any. A request that dies on the way leaves the mark, which the evaluator takes up.
func DeleteDataset(ctx context.Context, s store.Store, now time.Time, id, by string) error {
	d, err := markDataset(ctx, s, now, id, by)
	if err != nil || d == nil {
		return err
	}
	err = renewGrants(ctx, s, d.TaskID)
	if err == nil {
		err = datasetUnused(ctx, s, d)
	}
	if problem.Conflict.Is(err) {
		if undone := update(ctx, s, d.Key(), func(d *record.DatasetItem) bool { d.Deletion = nil; return true }); undone != nil {
			return undone
		}
	}
	if err != nil {
		return err
	}
	return table.Retry(ctx, func() error {
		d, err := table.Get[record.DatasetItem](ctx, s, store.Strong, record.DatasetKey(id))
		if err != nil || d == nil || d.Deletion == nil {
			return err
		}
		tx := new(table.Tx).Delete(d).DeleteKey(record.TruthKey(id))
		tx.Create(record.NewAudit(now, d.TaskID, d.Deletion.By, "dataset.deleted", "/v1/datasets/"+id, d.Audited(), nil))
		return tx.Commit(ctx, s)
	})
}

// markDataset returns the dataset marked; nil when it is gone already. One that is used is not marked.
func markDataset(ctx context.Context, s store.Store, now time.Time, id, by string) (marked *record.DatasetItem, err error) {
	err = table.Retry(ctx, func() error {
		marked, err = table.Get[record.DatasetItem](ctx, s, store.Strong, record.DatasetKey(id))
		if err != nil || marked == nil || marked.Deletion != nil {
			return err
		}
		if err := datasetUnused(ctx, s, marked); err != nil {
			return err
		}
		marked.Deletion = &record.Deletion{At: record.At(now.Add(Patience)), By: by}
		return new(table.Tx).Replace(marked).Commit(ctx, s)
	})
	return marked, err
}

// renewGrants writes every grant of the task anew: whoever decided by one as it was decides again.
func renewGrants(ctx context.Context, s store.Store, taskID string) error {
	return inTask(ctx, s, taskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.RegistrationPrefix) {
			return nil
		}
		r, err := table.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		return update(ctx, s, record.RegisteredKey(r.UserID, taskID), func(*record.Registered) bool { return true })
	})
}

// datasetUnused returns the Conflict that runs use the dataset, if they do.
func datasetUnused(ctx context.Context, s store.Store, d *record.DatasetItem) error {
	used := problem.Conflict.New("Runs use the dataset. Delete their submissions first.")
	err := inTask(ctx, s, d.TaskID, func(it store.Item) error {
		if !strings.HasPrefix(it.Sort, record.AllowancePrefix) {
			return nil
		}
		a, err := table.Decode[record.Allowance](it)
		if err == nil && a.Runs[d.ID] > 0 {
			return used
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range record.Audiences {
		found, err := s.Query(ctx, store.Query{Index: record.ByDataset, Partition: record.OfDataset(d.ID, record.KindRun, a), Limit: 1})
		if err != nil {
			return table.Failed(err)
		}
		if len(found) > 0 {
			return used
		}
	}
	return nil
}
