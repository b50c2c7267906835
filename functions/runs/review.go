package runs

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// ReviewDraft holds the members of a review that organizers write.
type ReviewDraft struct {
	record.ReviewDraft
	Waits bool `json:"waits,omitempty" doc:"only in requests: true makes the run wait for a review again, and every other change ends this"`
}

// review finds the review of the run that the path names.
func review(ctx context.Context, c *api.Call) (*record.ReviewItem, error) {
	return findReview(ctx, c, c.Param("runId"))
}

// findReview reads the review of a run, and the run.
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

// showReview returns the review that the caller sees.
func showReview(ctx context.Context, c *api.Call, r *record.ReviewItem) (record.Review, error) {
	sight, err := c.Sight(ctx, r.Run, c.Now())
	if err != nil {
		return record.Review{}, err
	}
	return r.For(sight), nil
}

// changeReview changes the review. The same transaction changes the access attributes of the run and of all its evaluations, so that all of
// them become visible or hidden at once.
func changeReview(ctx context.Context, c *api.Call, r *record.ReviewItem, d ReviewDraft) (*record.ReviewItem, error) {
	now := c.Now()
	changed := *r
	changed.ReviewDraft = d.ReviewDraft
	changed.ReviewerID, changed.ReviewedAt = c.Caller.ID, new(record.At(now))
	if d.Waits {
		changed.ReviewerID, changed.ReviewedAt = "", nil
	}
	c.Tx.Save(&changed, now)
	if err := c.Audit(ctx, r.Scope(), record.ReviewUpdated, "/v1/runs/"+r.RunID+"/review", r.Audited(), changed.Audited()); err != nil {
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
			c.Tx.Replace(&run) // The run looks the same to clients, so its version stays.
		}
		return &changed, nil
	}
	run.Access.Published, run.Access.Blinded = d.Published, d.Blinded
	c.Tx.Save(&run, now)
	return &changed, eachEvaluation(ctx, c, &run, func(e *record.EvaluationItem) {
		e.Access.Published, e.Access.Blinded = d.Published, d.Blinded
	})
}

// eachEvaluation applies a change to all evaluations of the run in c.Tx.
func eachEvaluation(ctx context.Context, c *api.Call, r *record.RunItem, change func(*record.EvaluationItem)) error {
	evaluations, err := records.GetExisting[record.EvaluationItem](ctx, c.Store, store.Strong, r.Evaluations, record.EvaluationKey)
	for _, e := range evaluations {
		change(e)
		c.Tx.Save(e, c.Now())
	}
	return err
}
