package submissions

import (
	"context"
	"errors"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// remove deletes a submission with all that was made for it. What it used of the quota stays used, or deleting would be a
// way around it.
func remove(ctx context.Context, c *api.Call, s *record.SubmissionItem) (api.Change, error) {
	roles, err := c.Roles(ctx, s.Scope())
	if err != nil {
		return api.Change{}, err
	}
	runs, err := runsOf(ctx, c, s.RunIDs, store.Strong)
	if err != nil {
		return api.Change{}, err
	}
	allowance, err := table.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(s.TaskID, s.UserID))
	if err != nil {
		return api.Change{}, err
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	tx := new(table.Tx).Delete(s)
	if allowance != nil {
		if !s.Unregistered() {
			allowance.Submissions = max(0, allowance.Submissions-1)
		}
		for _, r := range runs {
			allowance.Drop(r.DatasetID)
		}
		tx.Save(allowance, c.Now())
	}
	if err := c.AuditFree(ctx, tx, record.NewAudit(c.Now(), s.Scope(), c.Caller.ID, record.SubmissionDeleted, path(s), s.Audited(), nil)); err != nil {
		return api.Change{}, err
	}
	var evaluations, files []string
	var bytes int64
	for _, r := range runs {
		bytes += r.Bytes
		if r.Standing.Published && !organizes {
			return api.Change{}, problem.Conflict.New("A review of the submission is published, so only the organizers can delete it. Ask them.")
		}
		tx.Delete(r).DeleteKey(record.ReviewKey(r.ID))
		files = append(files, r.ObjectKeys()...)
		for _, id := range r.Evaluations {
			if r.Lists(id) {
				queue.Forget(tx, id)
			} else {
				evaluations = append(evaluations, id)
			}
		}
	}
	if err := quota.Credit(ctx, c.Store, c.Now(), tx, s.UserID, record.Charge{Bytes: -bytes}); err != nil {
		return api.Change{}, err
	}
	for len(evaluations) > 0 && tx.Len() < room {
		queue.Forget(tx, evaluations[0])
		evaluations = evaluations[1:]
	}
	return api.Change{Tx: tx, After: func(ctx context.Context) { forget(ctx, c, evaluations, files) }}, nil
}

// room is how many writes the transaction of a deletion may have before another evaluation is too much for it.
const room = store.MaxWrites - 2

// forget removes what did not fit into the transaction, and the files.
func forget(ctx context.Context, c *api.Call, evaluations, files []string) {
	d := table.Deletions{Store: c.Store}
	var err error
	for _, id := range evaluations {
		err = errors.Join(err, d.Add(ctx, record.EvaluationKey(id), record.TopicsKey(id)))
	}
	if err = errors.Join(err, d.Commit(ctx)); err != nil {
		c.Log.ErrorContext(ctx, "superseded evaluations of a deleted submission stay behind", "error", err)
	}
	if err := c.Files.Delete(ctx, files...); err != nil {
		c.Log.WarnContext(ctx, "files of a deleted submission stay behind until the next cleaning", "error", err)
	}
}

func path(s *record.SubmissionItem) string { return "/v1/tasks/" + s.TaskID + "/submissions/" + s.ID }
