package submissions

import (
	"context"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/record"
	"assay/shared/table"
)

func create(ctx context.Context, c *api.Call, t *record.TaskItem, d record.SubmissionDraft) (created api.Created[*record.Submission], err error) {
	e, err := admit(ctx, c, t, &d)
	if err != nil {
		return created, err
	}
	d.Files = slices.Clone(d.Files)
	inline, err := checkFiles(&d)
	if err != nil {
		return created, err
	}
	if err := e.validate(ctx, &d, inline); err != nil {
		return created, err
	}
	now := c.Now()
	s := e.submission(c, d, now)
	runs := e.runs(s, d.Files, now)
	quota, err := e.charge(s, t.Submissions, now)
	if err != nil {
		return created, err
	}
	if err := putFiles(ctx, c, runs, d.Files, inline); err != nil {
		return created, err
	}
	tx := new(table.Tx).Create(s).Check(e.registration)
	if e.allowance.Version == 0 {
		tx.Create(e.allowance)
	} else {
		tx.Replace(e.allowance)
	}
	for _, r := range runs {
		tx.Create(r).Create(review(r, now))
	}
	v := s.Submission
	v.Quota = quota
	if v.Files, err = files(ctx, c, runs, access.Owner); err != nil {
		return created, err
	}
	created.Tx, created.Location, created.Answer = tx, "/v1/tasks/"+t.ID+"/submissions/"+s.ID, &v
	return created, c.KnowUser(ctx, tx)
}

// submission is the record of the draft; its files stand with its runs.
func (e *entry) submission(c *api.Call, d record.SubmissionDraft, now time.Time) *record.SubmissionItem {
	d.Files = nil
	s := &record.SubmissionItem{
		Submission: record.Submission{
			Meta: record.NewMeta(now), TaskID: e.task.ID, UserID: c.Caller.ID, Team: e.registration.Team, SubmissionDraft: d, RunIDs: []string{},
		},
		RegistrationID: e.registration.ID,
		Standing: record.Standing{
			OrganizerID: e.task.OrganizerID, PrivateTask: e.task.Visibility == record.Private, Public: d.Visibility == record.Public,
			Anonymous: e.registration.Anonymous, Alias: e.registration.Alias, Baseline: d.Baseline,
		},
	}
	return s
}

// runs makes one run for each dataset, and names them in the submission.
func (e *entry) runs(s *record.SubmissionItem, all []record.RunFile, now time.Time) []*record.RunItem {
	var runs []*record.RunItem
	for i, set := range e.datasets {
		at := record.At(now)
		r := &record.RunItem{
			Run: record.Run{
				Meta: record.NewMeta(now), SubmissionID: s.ID, TaskID: s.TaskID, DatasetID: set.ID, UserID: s.UserID, Team: s.Team,
				State: record.Queued, QueuedAt: &at, Files: []record.File{}, Diagnostics: nil,
			},
			Standing: s.Standing, Type: s.Type, Queue: record.QueueBuiltin, Counted: true,
		}
		r.Standing.Blinded = set.Split == record.Test
		if s.Type != record.UploadType || e.truths[i].Evaluator.Kind == record.EvaluatorWorker {
			r.Queue = record.QueueWorkers
		}
		for _, f := range all {
			if f.DatasetID == set.ID {
				r.Files = append(r.Files, f.File)
			}
		}
		if !record.AllStored(r.Files) {
			r.State, r.QueuedAt = record.AwaitingUpload, nil
		}
		s.RunIDs = append(s.RunIDs, r.ID)
		runs = append(runs, r)
	}
	return runs
}

// charge counts the runs in the user's allowance, or refuses them.
func (e *entry) charge(s *record.SubmissionItem, rules record.SubmissionRules, now time.Time) (*record.Quota, error) {
	if e.allowance == nil {
		e.allowance = &record.Allowance{Meta: record.NewMeta(now), TaskID: s.TaskID}
		e.allowance.ID, e.allowance.Version = s.UserID, 0
	}
	if err := e.allowance.Charge(rules, s.RunIDs, now); err != nil {
		return nil, err
	}
	e.allowance.Submissions++
	record.Touch(e.allowance, now)
	quota := e.allowance.Quota(rules, now)
	return &quota, nil
}

// review is the one that a run begins with: unpublished, and blinded on a test split.
func review(r *record.RunItem, now time.Time) *record.ReviewItem {
	v := &record.ReviewItem{Review: record.Review{Meta: record.NewMeta(now), RunID: r.ID}, OrganizerID: r.Standing.OrganizerID, TaskID: r.TaskID, UserID: r.UserID}
	v.Blinded = r.Standing.Blinded
	return v
}

func putFiles(ctx context.Context, c *api.Call, runs []*record.RunItem, all []record.RunFile, inline [][]byte) error {
	for i, f := range all {
		if inline[i] == nil {
			continue
		}
		n := slices.IndexFunc(runs, func(r *record.RunItem) bool { return r.DatasetID == f.DatasetID })
		if err := c.PutFile(ctx, record.ObjectKey(record.HolderRuns, runs[n].ID, f.SHA256), f.File, inline[i]); err != nil {
			return err
		}
	}
	return nil
}
