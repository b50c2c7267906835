package submissions

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// SubmissionPatch has the members of a submission that can change.
type SubmissionPatch struct {
	Title       string            `json:"title" required:"false" maxLength:"200"`
	Description string            `json:"description" required:"false" maxLength:"65536"`
	PaperURL    string            `json:"paperUrl,omitempty" format:"uri" maxLength:"2000"`
	Notes       string            `json:"notes,omitempty" required:"false" maxLength:"65536"`
	Visibility  record.Visibility `json:"visibility" enum:"public,private"`
	Baseline    bool              `json:"baseline" required:"false"`
}

// change propagates to the runs and their listed evaluations in the same transaction, and to superseded evaluations before the
// answer.
func change(ctx context.Context, c *api.Call, s *record.SubmissionItem, d SubmissionPatch) (*record.SubmissionItem, error) {
	texts := record.SubmissionDraft{Title: d.Title, Description: d.Description, PaperURL: d.PaperURL, Notes: d.Notes}
	if err := problem.Check(texts.CheckTexts()); err != nil {
		return nil, err
	}
	if err := checkBaseline(c, d.Baseline, s.Baseline); err != nil {
		return nil, err
	}
	if s.Unregistered() && !d.Baseline {
		return nil, problem.InvalidMember("/baseline",
			"stays true: the submission was made without a registration, so no quota counts it and it is of no team")
	}
	if d.Visibility == record.Public && s.Visibility != record.Public && c.TargetRoles&access.Owner == 0 {
		return nil, problem.InvalidMember("/visibility", "can be made public by the team that submitted it alone: ask one of its members")
	}
	changed := *s
	switch {
	case c.TargetRoles&access.Owner != 0:
		changed.Notes = d.Notes
	case d.Notes != "":
		return nil, problem.InvalidMember("/notes", "can be written by the team that submitted it alone")
	}
	changed.Title = d.Title
	changed.Description = d.Description
	changed.PaperURL = d.PaperURL
	changed.Visibility = d.Visibility
	changed.Baseline = d.Baseline
	st := &changed.Access
	st.Public = d.Visibility == record.Public
	st.Baseline = d.Baseline
	st.Title = d.Title
	st.PaperURL = d.PaperURL
	c.Tx.Save(&changed, c.Now())
	if changed.Access == s.Access { // which has all of it but the description
		return &changed, nil
	}
	if err := c.Audit(ctx, s.Scope(), record.SubmissionChanged, path(s), s.Audited(), changed.Audited()); err != nil {
		return nil, err
	}
	superseded, err := propagate(ctx, c, &changed)
	if err != nil || !superseded {
		return &changed, err
	}
	c.After(func(ctx context.Context) {
		if err := (propagation.Propagator{Store: c.Store, Now: c.Now}).Submission(ctx, s.ID); err != nil {
			c.Log.ErrorContext(ctx, "the access attributes of superseded evaluations are not those of their submission", "submission", s.ID,
				"error", err)
		}
	})
	return &changed, nil
}

// propagate adds to c.Tx the access attributes of the runs, and of their evaluations that lists have or will have next, and reports
// whether there are other evaluations.
func propagate(ctx context.Context, c *api.Call, s *record.SubmissionItem) (superseded bool, err error) {
	runs, err := records.GetExisting[record.RunItem](ctx, c.Store, store.Strong, s.RunIDs, record.RunKey)
	if err != nil {
		return false, err
	}
	var shown []string
	for _, r := range runs {
		propagation.CopySubmission(&r.Access, &s.Access)
		c.Tx.Save(r, c.Now())
		for _, id := range r.Evaluations {
			if r.Lists(id) {
				shown = append(shown, id)
			} else {
				superseded = true
			}
		}
	}
	evaluations, err := records.GetExisting[record.EvaluationItem](ctx, c.Store, store.Strong, shown, record.EvaluationKey)
	for _, e := range evaluations {
		propagation.CopySubmission(&e.Access, &s.Access)
		e.Baseline = s.Access.Baseline
		c.Tx.Save(e, c.Now())
	}
	return superseded, err
}
