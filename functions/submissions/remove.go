package submissions

import (
	"context"
	"errors"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// remove deletes a submission with all that was made for it. What it used of the quota stays used, or deleting would be a
// way around it.
func remove(ctx context.Context, c *api.Call, s *record.SubmissionItem) error {
	roles, err := c.Roles(ctx, s.Scope())
	if err != nil {
		return err
	}
	runs, err := runsOf(ctx, c, s.RunIDs, store.Strong)
	if err != nil {
		return err
	}
	allowance, err := records.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(s.TaskID, s.UserID))
	if err != nil {
		return err
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	c.Tx.Delete(s)
	if allowance != nil {
		if !s.Unregistered() {
			allowance.Submissions = max(0, allowance.Submissions-1)
		}
		for _, r := range runs {
			allowance.Drop(r.DatasetID)
		}
		c.Tx.Save(allowance, c.Now())
	}
	if err := c.AuditFree(ctx, s.Scope(), record.SubmissionDeleted, path(s), s.Audited(), nil); err != nil {
		return err
	}
	var evaluations, files []string
	var bytes int64
	for _, r := range runs {
		bytes += r.Bytes
		if r.Access.Published && !organizes {
			return problem.Conflict.New("A review of the submission is published, so only the organizers can delete it. Ask them.")
		}
		c.Tx.Delete(r).DeleteKey(record.ReviewKey(r.ID))
		files = append(files, r.ObjectKeys()...)
		for _, id := range r.Evaluations {
			if r.Lists(id) {
				queue.DeleteEvaluation(c.Tx, id)
			} else {
				evaluations = append(evaluations, id)
			}
		}
	}
	if err := c.Account(s.UserID).Credit(ctx, record.Charge{Bytes: -bytes}); err != nil {
		return err
	}
	for len(evaluations) > 0 && c.Tx.Len() < maxWrites {
		queue.DeleteEvaluation(c.Tx, evaluations[0])
		evaluations = evaluations[1:]
	}
	c.After(func(ctx context.Context) { deleteRest(ctx, c, evaluations) })
	c.DeleteFiles(files...)
	return nil
}

// maxWrites is how many writes the transaction of a deletion may have before another evaluation is too much for it.
const maxWrites = store.MaxWrites - 2

// deleteRest removes the evaluations that did not fit into the transaction.
func deleteRest(ctx context.Context, c *api.Call, evaluations []string) {
	d := records.Deletions{Store: c.Store}
	var err error
	for _, id := range evaluations {
		err = errors.Join(err, d.Add(ctx, record.EvaluationKey(id), record.TopicsKey(id)))
	}
	if err = errors.Join(err, d.Commit(ctx)); err != nil {
		c.Log.ErrorContext(ctx, "superseded evaluations of a deleted submission are left", "error", err)
	}
}

func path(s *record.SubmissionItem) string { return "/v1/tasks/" + s.TaskID + "/submissions/" + s.ID }
