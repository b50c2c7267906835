package submissions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
)

func create(ctx context.Context, c *api.Call, adm *admission, draft SubmissionDraft) (at string, shown *record.Submission, err error) {
	d := draft.SubmissionDraft
	d.Files = slices.Clone(d.Files)
	inline, faults := checkFiles(&d)
	if faults == nil && !d.Baseline {
		adm.draft, adm.again = d.Digest(), draft.Again
	}
	if err := adm.loadRecords(ctx, c, &d); err != nil {
		return "", nil, err
	}
	same, err := adm.repeated(ctx, c)
	if err != nil {
		return "", nil, err
	}
	if same != nil {
		c.Repeats()
		shown, err = same.show(ctx, c, adm)
		return path(same.submission), shown, err
	}
	if err := adm.admit(c, &d); err != nil {
		return "", nil, err
	}
	if faults != nil {
		return "", nil, faults
	}
	if err := adm.validate(ctx, c, &d, inline); err != nil {
		return "", nil, err
	}
	now := c.Now()
	s := adm.submission(c, d, now)
	runs := adm.runs(s, d.Files, now)
	c.Tx.Create(s).Create(record.NewAudit(now, s.Scope(), c.Caller.ID, record.SubmissionCreated, path(s), nil, s.Audited()))
	adm.checkUnchanged(c.Tx, d.Type)
	if adm.draft != "" {
		c.Tx.Save(record.NewSubmittedDraft(adm.latest, adm.draft, s, now), now)
	}
	quota, err := adm.charge(ctx, c, s, now)
	if err != nil {
		return "", nil, err
	}
	if err := c.Charge(ctx, chargeOf(runs)); err != nil {
		return "", nil, err
	}
	if err := putFiles(ctx, c, runs, d.Files, inline); err != nil {
		return "", nil, err
	}
	for _, r := range runs {
		c.Tx.Create(r).Create(review(r, now))
	}
	v := s.Submission
	v.Quota = quota
	if v.Files, err = filesOf(ctx, c, runs, access.Owner); err != nil {
		return "", nil, err
	}
	return path(s), &v, c.UpsertProfile(ctx)
}

// checkUnchanged adds to tx the condition that the records that admitted the submission are unchanged. It also marks datasets on which
// workers execute runs.
func (adm *admission) checkUnchanged(tx *records.Tx, t record.SubmissionType) {
	if adm.registration != nil {
		tx.Check(adm.registration)
	} else {
		tx.Check(adm.task)
	}
	for _, set := range adm.datasets {
		switch {
		case t != record.UploadType && !set.Executed:
			changed := *set
			changed.Executed = true // No answer has this member, so the version stays.
			tx.Replace(&changed)
		case adm.registration == nil:
			tx.Check(set)
		}
	}
}

// submission returns the record of the draft, without files: its runs have the files.
func (adm *admission) submission(c *api.Call, d record.SubmissionDraft, now time.Time) *record.SubmissionItem {
	d.Files = nil
	s := &record.SubmissionItem{
		Submission: record.Submission{
			Meta: record.NewMeta(now), TaskID: adm.task.ID, UserID: c.Caller.ID, Team: record.BaselineTeam, SubmissionDraft: d, RunIDs: []string{},
		},
		Access: record.AccessAttributes{
			OrganizerID: adm.task.OrganizerID, PrivateTask: adm.task.Visibility == record.Private, Public: d.Visibility == record.Public,
			Baseline: d.Baseline,
			Title:    d.Title, PaperURL: d.PaperURL,
		},
	}
	if r := adm.registration; r != nil {
		s.Team = r.Team
		s.Access.RegistrationID = r.ID
		s.Access.Anonymous = r.Anonymous
		s.Access.Alias, s.Access.Affiliation = r.Alias, r.Affiliation
	}
	return s
}

// runs makes a run for each dataset, and adds its id to the submission.
func (adm *admission) runs(s *record.SubmissionItem, all []record.RunFile, now time.Time) []*record.RunItem {
	var runs []*record.RunItem
	for i, set := range adm.datasets {
		r := &record.RunItem{
			Run: record.Run{
				Meta: record.NewMeta(now), SubmissionID: s.ID, TaskID: s.TaskID, DatasetID: set.ID, UserID: s.UserID, Team: s.Team,
				State: record.Queued, QueuedAt: new(record.At(now)), Files: []record.File{}, Diagnostics: []measure.Diagnostic{},
			},
			Access: s.Access, Type: s.Type, Payer: adm.task.Payer, Queue: record.QueueBuiltin, Pool: set.Pool, Counted: !s.Unregistered(),
		}
		r.Access.Blinded = set.StartsBlinded()
		set.ValueRules(adm.task, adm.embargo).Copy(&r.Access, now)
		if s.Type != record.UploadType || adm.truths[i].Evaluator.Kind == record.EvaluatorWorker {
			r.Queue = record.QueueWorkers
		}
		for _, f := range all {
			if f.DatasetID == set.ID {
				r.Files = append(r.Files, f.File)
			}
		}
		r.Bytes = record.SizeOf(r.Files)
		if !record.AllStored(r.Files) {
			r.State, r.QueuedAt = record.AwaitingUpload, nil
		}
		s.RunIDs = append(s.RunIDs, r.ID)
		runs = append(runs, r)
	}
	return runs
}

// charge counts the runs in the allowance of the team in c.Tx, and returns the rest of the team's quota. It refuses runs beyond the quota.
// Baselines without a registration use the allowance of their organizer, which bounds only unfinished runs.
func (adm *admission) charge(ctx context.Context, c *api.Call, s *record.SubmissionItem, now time.Time) (*record.Quota, error) {
	a := allowance.OfTeam(c.Tx, adm.allowance, s.TaskID, cmp.Or(s.Access.RegistrationID, s.UserID), now)
	if !s.Unregistered() {
		if err := a.Charge(adm.task, adm.datasets, s.RunIDs, now); err != nil {
			return nil, err
		}
		a.Submissions++
	}
	if err := limitUnfinished(ctx, c, a, s); err != nil {
		return nil, err
	}
	for _, set := range adm.datasets {
		a.Keep(set.ID)
	}
	c.Tx.Save(a, now)
	if s.Unregistered() {
		return nil, nil
	}
	return new(a.Quota(adm.task, adm.datasets, adm.participation(), now)), nil
}

// chargeOf returns the charge of the runs for the quotas of the user.
func chargeOf(runs []*record.RunItem) record.Charge {
	ch := record.Charge{Kind: record.MadeRuns, Count: int64(len(runs)), Pending: map[string]record.Uploads{}}
	for _, r := range runs {
		ch.Bytes += r.Bytes
		if p := record.PendingUploads(r.Files); p.Files > 0 {
			ch.Pending[r.Key().Partition] = p
		}
	}
	return ch
}

// review returns the first review of a run: unpublished, and blinded on a test split.
func review(r *record.RunItem, now time.Time) *record.ReviewItem {
	v := &record.ReviewItem{Review: record.Review{Meta: record.NewMeta(now), RunID: r.ID}, OrganizerID: r.Access.OrganizerID, TaskID: r.TaskID,
		UserID: r.UserID}
	v.Blinded = r.Access.Blinded
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

// limitUnfinished adds the runs to the unfinished runs of the allowance, or refuses them if these are too many. Only when the bound is
// reached, it reads which runs have ended since.
func limitUnfinished(ctx context.Context, c *api.Call, a *record.Allowance, s *record.SubmissionItem) error {
	most := c.Rates.Limits().WaitingRuns
	if most == 0 {
		return nil
	}
	others, added, err := allowance.Wait(ctx, c.Store, a, most, s.RunIDs...)
	if err == nil && !added {
		who := "Your team has"
		if s.Unregistered() {
			who = "You have"
		}
		err = problem.QuotaExhausted.New("%s %s in this task that %s not ended, and this submission makes %d more; at most %d may be under "+
			"way at a time. Submit again when some have ended, or cancel some.", who, plural.Count(others, "run"),
			plural.Verb(others, "has", "have"), len(s.RunIDs), most)
	}
	return err
}

func path(s *record.SubmissionItem) string { return "/v1/tasks/" + s.TaskID + "/submissions/" + s.ID }
