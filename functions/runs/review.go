package runs

import (
	"context"

	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// review reads a review together with its run.
func review(ctx context.Context, c *api.Call) (*record.ReviewItem, error) {
	return findReview(ctx, c, c.Param("runId"))
}

func findReview(ctx context.Context, c *api.Call, id string) (*record.ReviewItem, error) {
	if !record.IsID(id) {
		return nil, visibility.Missing
	}
	var r *record.ReviewItem
	var run *record.RunItem
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&r, record.ReviewKey(id)), records.Into(&run, record.RunKey(id)))
	switch {
	case err != nil:
		return nil, err
	case r == nil || run == nil:
		return nil, visibility.Missing
	}
	r.Run = run
	return r, nil
}

func showReview(ctx context.Context, c *api.Call, r *record.ReviewItem) (record.Review, error) {
	roles, err := c.Roles(ctx, r.Scope())
	return r.For(roles), err
}

// changeReview changes the review with the access attributes of the run and of all its evaluations in one transaction, so that no
// caller sees one by the old verdict and another by the new.
func changeReview(ctx context.Context, c *api.Call, r *record.ReviewItem, d record.ReviewDraft) (*record.ReviewItem, error) {
	now := c.Now()
	changed := *r
	changed.ReviewDraft = d
	changed.ReviewerID, changed.ReviewedAt = c.Caller.ID, new(record.At(now))
	c.Tx.Save(&changed, now)
	if err := c.Audit(ctx, r.Scope(), record.ReviewUpdated, "/v1/runs/"+r.RunID+"/review", r.ReviewDraft, changed.ReviewDraft); err != nil {
		return nil, err
	}
	if d.Published && !r.Published {
		c.Tx.Create(record.NewEvent(now, record.EventReviewPublished, r.Scope(), "/v1/runs/"+r.RunID))
	}
	if d.Published == r.Published && d.Blinded == r.Blinded {
		return &changed, nil
	}
	return &changed, propagate(ctx, c, r.RunID, d)
}

// propagate adds to c.Tx the access attributes that run and evaluations have of the review.
func propagate(ctx context.Context, c *api.Call, runID string, d record.ReviewDraft) error {
	run, err := visibility.Find[record.RunItem](ctx, &c.Viewer, runID, record.RunKey)
	if err != nil {
		return err
	}
	run.Access.Published, run.Access.Blinded = d.Published, d.Blinded
	c.Tx.Save(run, c.Now())
	return eachEvaluation(ctx, c, run, func(e *record.EvaluationItem) {
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
