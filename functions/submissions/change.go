package submissions

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/propagation"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// SubmissionPatch holds the members of a submission that clients can change.
type SubmissionPatch struct {
	Title       string            `json:"title" required:"false" maxLength:"200"`
	Description string            `json:"description" required:"false" maxLength:"65536"`
	PaperURL    string            `json:"paperUrl,omitempty" format:"uri" maxLength:"2000"`
	Notes       string            `json:"notes,omitempty" required:"false" maxLength:"65536"`
	Visibility  record.Visibility `json:"visibility" enum:"public,private"`
	Baseline    bool              `json:"baseline" required:"false"`
}

// change applies a patch to a submission. The same transaction copies the result to the runs and to their listed evaluations. Superseded
// evaluations are in no list; they get their copies after the transaction.
func change(ctx context.Context, c *api.Call, s *record.SubmissionItem, d SubmissionPatch) (*record.SubmissionItem, error) {
	if err := checkPatch(c, s, d); err != nil {
		return nil, err
	}
	changed := patched(s, d, c.TargetRoles)
	c.Tx.Save(&changed, c.Now())
	if changed.Access == s.Access { // Only description or notes have changed; runs and evaluations do not copy them.
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
			c.Log.ErrorContext(ctx, "cannot copy the access attributes of a submission to superseded evaluations", "submission", s.ID,
				"error", err)
		}
	})
	return &changed, nil
}

// checkPatch checks the texts of a patch, and that the caller has the right to each change.
func checkPatch(c *api.Call, s *record.SubmissionItem, d SubmissionPatch) error {
	texts := record.SubmissionDraft{Title: d.Title, Description: d.Description, PaperURL: d.PaperURL, Notes: d.Notes}
	if err := problem.Check(texts.CheckTexts()); err != nil {
		return err
	}
	if err := checkBaseline(c, d.Baseline, s.Baseline); err != nil {
		return err
	}
	isOwner := c.TargetRoles&access.Owner != 0
	switch {
	case s.Unregistered() && !d.Baseline:
		return problem.InvalidMember("/baseline",
			"stays true: the submission was made without a registration, so it has no team and no quota counts it")
	case d.Visibility == record.Public && s.Visibility != record.Public && !isOwner:
		return problem.InvalidMember("/visibility", "can only be made public by the team that submitted it: ask one of its members")
	case d.Notes != "" && !isOwner:
		return problem.InvalidMember("/notes", "can only be written by the team that submitted it")
	}
	return nil
}

// patched returns the submission with the members of the patch. Callers outside the team do not see the notes and leave them unchanged.
func patched(s *record.SubmissionItem, d SubmissionPatch, roles access.Role) record.SubmissionItem {
	changed := *s
	if roles&access.Owner != 0 {
		changed.Notes = d.Notes
	}
	changed.Title = d.Title
	changed.Description = d.Description
	changed.PaperURL = d.PaperURL
	changed.Visibility = d.Visibility
	changed.Baseline = d.Baseline
	changed.Access.Public = d.Visibility == record.Public
	changed.Access.Baseline = d.Baseline
	changed.Access.Title = d.Title
	changed.Access.PaperURL = d.PaperURL
	return changed
}

// propagate copies the access attributes of the submission to its runs in c.Tx, and to evaluations that lists show now or will show next.
// It reports whether the runs have other evaluations.
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
