package tasks

import (
	"context"

	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// remove begins the deletion of a task: from then on nothing new comes into it, and only its organizers see it. What
// stands below it goes after that; should the request die meanwhile, the evaluator goes on with it.
func remove(ctx context.Context, c *api.Call, t *record.TaskItem) (api.Change, error) {
	used, err := submittedTo(ctx, c, t.ID)
	if err != nil {
		return api.Change{}, err
	}
	if used {
		return api.Change{}, problem.Conflict.New("The task has submissions. Delete them first, or make the task private.")
	}
	marked := *t
	marked.Deleting, marked.Follow = true, &record.Follow{At: record.At(c.Now().Add(follow.Patience))}
	record.Touch(&marked, c.Now())
	if err := new(table.Tx).Replace(&marked).Commit(ctx, c.Store); err != nil {
		return api.Change{}, err
	}
	if err := follow.Delete(ctx, c.Store, &marked); err != nil {
		return api.Change{}, err
	}
	return api.Change{}, nil
}

// submittedTo reports whether the task has a submission.
func submittedTo(ctx context.Context, c *api.Call, taskID string) (bool, error) {
	for _, a := range record.Audiences {
		found, err := c.Store.Query(ctx, store.Query{Index: record.ByTask, Partition: record.OfTask(taskID, record.KindSubmission, a), Limit: 1})
		if err != nil || len(found) > 0 {
			return len(found) > 0, table.Failed(err)
		}
	}
	return false, nil
}
