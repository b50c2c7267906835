package runs

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// ReviewDraft is what an organizer writes of a review, and whether the run waits for one all the same.
type ReviewDraft struct {
	record.ReviewDraft
	Waits bool `json:"waits,omitempty" doc:"only sent: true has the run wait for a review as before, and so undoes one; every other change ends that"`
}

// review is the one of the run that the path names.
func review(ctx context.Context, c *api.Call) (*record.ReviewItem, error) {
	return findReview(ctx, c, c.Param("runId"))
}

// findReview reads a review together with its run.
func findReview(ctx context.Context, c *api.Call, id string) (r *record.ReviewItem, err error) {
	if !record.IsID(id) {
		return nil, visibility.Missing
	}
	var run *record.RunItem
	err = records.Read(ctx, c.Store, c.Consistency, records.Into(&r, record.ReviewKey(id)).Or(visibility.Missing),
		records.Into(&run, record.RunKey(id)).Or(visibility.Missing))
	if err == nil {
		r.Run = run
	}
	return r, err
}

// changeReview changes the review with the access attributes of the run and of all its evaluations in one transaction, so that no
// caller sees one by the old verdict and another by the new.
func changeReview(ctx context.Context, c *api.Call, r *record.ReviewItem, d ReviewDraft) (*record.ReviewItem, error) {
	now := c.Now()
	changed := *r
	changed.ReviewDraft = d.ReviewDraft
	changed.ReviewerID, changed.ReviewedAt = c.Caller.ID, new(record.At(now))
	if d.Waits {
		changed.ReviewerID, changed.ReviewedAt = "", nil
	}
	c.Tx.Save(&changed, now)
	if err := c.Audit(ctx, r.Scope(), record.ReviewUpdated, "/v1/runs/"+r.RunID+"/review", r.ReviewDraft, changed.ReviewDraft); err != nil {
		return nil, err
	}
	if d.Published && !r.Published {
		c.Tx.Create(record.NewEvent(now, record.EventReviewPublished, r.Scope(), "/v1/runs/"+r.RunID))
	}
	run := *r.Run
	run.Reviewed = !d.Waits
	changed.Run = &run
	if d.Published == r.Published && d.Blinded == r.Blinded {
		if run.Reviewed != r.Run.Reviewed {
			c.Tx.Replace(&run) // nothing changes that is shown of it
		}
		return &changed, nil
	}
	run.Access.Published, run.Access.Blinded = d.Published, d.Blinded
	c.Tx.Save(&run, now)
	return &changed, eachEvaluation(ctx, c, &run, func(e *record.EvaluationItem) {
		e.Access.Published, e.Access.Blinded = d.Published, d.Blinded
	})
}

// eachEvaluation adds to c.Tx what a change of a run makes of all its evaluations.
func eachEvaluation(ctx context.Context, c *api.Call, r *record.RunItem, change func(*record.EvaluationItem)) error {
	evaluations, err := records.GetExisting[record.EvaluationItem](ctx, c.Store, store.Strong, r.Evaluations, record.EvaluationKey)
	for _, e := range evaluations {
		change(e)
		c.Tx.Save(e, c.Now())
	}
	return err
}
