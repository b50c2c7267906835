package submissions

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/follow"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// SubmissionPatch is what of a submission can change.
type SubmissionPatch struct {
	Title       string            `json:"title" required:"false" maxLength:"200"`
	Description string            `json:"description" required:"false" maxLength:"65536"`
	PaperURL    string            `json:"paperUrl" required:"false" maxLength:"2000"`
	Visibility  record.Visibility `json:"visibility" enum:"public,private"`
	Baseline    bool              `json:"baseline" required:"false"`
}

// change has the runs and evaluations follow in the same transaction, as long as there is room in it; else the rest
// follows before the answer.
func change(ctx context.Context, c *api.Call, s *record.SubmissionItem, d SubmissionPatch) (*record.SubmissionItem, api.Change, error) {
	texts := record.SubmissionDraft{Title: d.Title, PaperURL: d.PaperURL}
	if err := problem.Check(texts.CheckTexts()); err != nil {
		return nil, api.Change{}, err
	}
	if err := baseline(ctx, c, s, d.Baseline, s.Baseline); err != nil {
		return nil, api.Change{}, err
	}
	changed := *s
	changed.Title, changed.Description, changed.PaperURL, changed.Visibility, changed.Baseline = d.Title, d.Description, d.PaperURL, d.Visibility, d.Baseline
	changed.Standing.Public, changed.Standing.Baseline = d.Visibility == record.Public, d.Baseline
	record.Touch(&changed, c.Now())
	tx := new(table.Tx).Replace(&changed)
	if changed.Standing == s.Standing {
		return &changed, api.Change{Tx: tx}, nil
	}
	runs, err := runsOf(ctx, c, s, store.Strong)
	if err != nil {
		return nil, api.Change{}, err
	}
	for _, r := range runs {
		r.Standing.Public, r.Standing.Baseline = changed.Standing.Public, changed.Standing.Baseline
		record.Touch(r, c.Now())
		tx.Replace(r)
	}
	after := func(ctx context.Context) {
		if err := follow.Submission(ctx, c.Store, s.ID); err != nil {
			c.Log.ErrorContext(ctx, "evaluations do not follow their submission", "submission", s.ID, "error", err)
		}
	}
	return &changed, api.Change{Tx: tx, After: after}, nil
}

// remove deletes a submission with all that was made for it.
func remove(ctx context.Context, c *api.Call, s *record.SubmissionItem) (api.Change, error) {
	roles, err := c.Roles(ctx, s.Scope())
	if err != nil {
		return api.Change{}, err
	}
	runs, err := runsOf(ctx, c, s, store.Strong)
	if err != nil {
		return api.Change{}, err
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	tx := new(table.Tx).Delete(s)
	var keys, old []string
	for _, r := range runs {
		if r.Standing.Published && !organizes {
			return api.Change{}, problem.Conflict.New("A review of the submission is published, so it stays. Ask the organizers to delete it.")
		}
		tx.Delete(r).DeleteKey(record.ReviewKey(r.ID))
		if n := len(r.Evaluations); n > 0 {
			tx.DeleteKey(record.EvaluationKey(r.Evaluations[n-1])).DeleteKey(record.TopicsKey(r.Evaluations[n-1]))
			old = append(old, r.Evaluations[:n-1]...)
		}
		for _, f := range r.Files {
			keys = append(keys, record.ObjectKey(record.HolderRuns, r.ID, f.SHA256))
		}
	}
	allowance, err := table.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(s.TaskID, s.UserID))
	if err != nil {
		return api.Change{}, err
	}
	if allowance != nil {
		allowance.Submissions = max(0, allowance.Submissions-1)
		tx.Replace(allowance)
	}
	if c.Caller.ID != s.UserID {
		tx.Create(record.NewAudit(c.Now(), s.TaskID, c.Caller.ID, "submission.deleted", "/v1/tasks/"+s.TaskID+"/submissions/"+s.ID, s.Submission, nil))
	}
	return api.Change{Tx: tx, After: func(ctx context.Context) { clear(ctx, c, old, keys) }}, nil
}

// clear removes what did not fit into the transaction, and the files. What it misses names nothing that is there.
func clear(ctx context.Context, c *api.Call, evaluations, files []string) {
	for _, e := range evaluations {
		if err := new(table.Tx).DeleteKey(record.EvaluationKey(e)).DeleteKey(record.TopicsKey(e)).Commit(ctx, c.Store); err != nil {
			c.Log.WarnContext(ctx, "an evaluation of a deleted submission stays behind", "evaluation", e, "error", err)
		}
	}
	if err := c.Files.Delete(ctx, files...); err != nil {
		c.Log.WarnContext(ctx, "files of a deleted submission stay behind", "error", err)
	}
}
