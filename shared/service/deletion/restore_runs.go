package deletion

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/allowance"
	"assay/shared/service/propagation"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// restoreRuns adds to b that a run, or a submission with its runs, comes back as lists show it. It returns the rest of the runs.
func (d Deleter) restoreRuns(ctx context.Context, b *batch) (rest []store.Item, err error) {
	runs, err := d.deletedRuns(ctx, b.entry)
	if err != nil {
		return nil, err
	}
	s, err := d.submissionOf(ctx, b, runs)
	if err != nil {
		return nil, err
	}
	a, err := allowance.OfSubmitted(ctx, d.Store, store.Strong, s)
	if err != nil {
		return nil, err
	}
	a = cmp.Or(a, &record.Allowance{Meta: record.MetaOf(cmp.Or(s.Access.RegistrationID, s.UserID), d.Now()), TaskID: s.TaskID})
	if b.entry.Kind == record.SubmissionInTrash && !s.Unregistered() {
		a.Submissions++ // what was used of the quota never changed
	}
	var embargoed, waiting []string // datasets, runs
	for _, r := range runs {
		set, truth, err := d.checkDataset(ctx, b, r)
		if err != nil {
			return nil, err
		}
		a.Keep(r.DatasetID)
		if r.Final {
			r.Final = a.Mark(set, r.ID, true) == nil // unless the team chose others meanwhile
			if !r.Final {
				b.unmarked = append(b.unmarked, r.ID)
			}
		}
		r.FollowExceptions(a)
		record.Touch(r, d.Now()) // with its evaluations it may be shown otherwise than before
		adopt(r, s)
		if set.IsTimed() {
			embargoed = append(embargoed, r.DatasetID)
		}
		if err := queue.Restore(r, truth, d.Now()); err != nil {
			return nil, err
		}
		if !r.State.Ended() {
			waiting = append(waiting, r.ID)
		}
		if d.OutcomeOnly {
			continue
		}
		items, err := d.itemsOf(ctx, b.entry, r)
		if err != nil {
			return nil, err
		}
		first, others := listed(r, items)
		if err := b.each(first, (*batch).back); err != nil {
			return nil, err
		}
		rest = append(rest, others...)
	}
	if err := d.wait(ctx, b, a, waiting); err != nil {
		return nil, err
	}
	b.Save(a, d.Now())
	return rest, d.renewEmbargo(ctx, b, embargoed...)
}

// wait counts the restored runs that have not ended as waiting. Otherwise deleting and restoring runs would get around the limit of
// unfinished runs.
func (d Deleter) wait(ctx context.Context, b *batch, a *record.Allowance, runIDs []string) error {
	if len(runIDs) == 0 {
		return nil
	}
	others, added, err := allowance.Wait(ctx, d.Store, a, b.waitingRuns, runIDs...)
	if err == nil && !added {
		who, noun := "Your team", "run"
		if b.entry.RegistrationID == "" {
			who, noun = "The user who submitted this baseline", "baseline"
		}
		err = problem.QuotaExhausted.New("%s has %s in this task that %s not ended, and this would restore %d more; at most %d may be under way "+
			"at a time. Try again when some have ended, or cancel some.", who, plural.Count(others, noun), plural.Verb(others, "has", "have"),
			len(runIDs), b.waitingRuns)
	}
	return err
}

// renewEmbargo adds to b that pending work looks at the datasets, whose scores are shown after a close: it may have passed meanwhile.
func (d Deleter) renewEmbargo(ctx context.Context, b *batch, datasetIDs ...string) error {
	if len(datasetIDs) == 0 {
		return nil
	}
	return propagation.RenewEmbargo(ctx, d.Store, b.Tx, b.entry.TaskID, d.Now(), func(e *record.Embargo) {
		for _, id := range datasetIDs {
			e.Add(id)
		}
	})
}

// adopt gives the run the current access attributes of its submission and of its team.
func adopt(r *record.RunItem, s *record.SubmissionItem) {
	from, to := &s.Access, &r.Access
	propagation.CopySubmission(to, from)
	r.Team = s.Team
	to.PrivateTask = from.PrivateTask
	to.Anonymous = from.Anonymous
	to.Alias = from.Alias
	to.Affiliation = from.Affiliation
}

// itemsOf returns the items of a run in the trash, with the changes that were made to the run. Its evaluations get its access attributes.
func (d Deleter) itemsOf(ctx context.Context, entry *record.DeletionItem, r *record.RunItem) ([]store.Item, error) {
	items, err := records.Contents(ctx, d.bin(entry), r.Key())
	for i, it := range items {
		if err != nil {
			return nil, err
		}
		switch {
		case it.Key == r.Key():
			items[i], err = record.Item(r)
		case it.Sort == "EVALUATION":
			var e *record.EvaluationItem
			if e, err = records.Decode[record.EvaluationItem](it); err == nil {
				e.Team = r.Team
				e.Access = r.Access
				e.Baseline = r.Access.Baseline
				e.Final = r.Final
				record.Touch(e, d.Now())
				items[i], err = record.Item(e)
			}
		}
	}
	return items, err
}

// submissionOf adds to b that the submission of the runs has them, and returns it.
func (d Deleter) submissionOf(ctx context.Context, b *batch, runs []*record.RunItem) (*record.SubmissionItem, error) {
	if b.entry.Kind == record.RunInTrash {
		if len(runs) == 0 {
			return nil, errPurged
		}
		s, err := records.Get[record.SubmissionItem](ctx, d.Store, store.Strong, record.SubmissionKey(runs[0].SubmissionID))
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, d.missing(ctx, b, "submission", record.SubmissionKey(runs[0].SubmissionID))
		}
		s.RunIDs = append(slices.Clone(s.RunIDs), runs[0].ID)
		b.Save(s, d.Now())
		return s, nil
	}
	s, err := records.Require[record.SubmissionItem](ctx, d.bin(b.entry), store.Strong, record.SubmissionKey(b.entry.ResourceID), errPurged)
	if err != nil {
		return nil, err
	}
	if err := d.ofTeam(ctx, b, s); err != nil {
		return nil, err
	}
	record.Touch(s, d.Now())
	return s, b.record(s, (*batch).back)
}

// ofTeam gives the submission the current access attributes of its team and its task, and requires in b that these do not change.
func (d Deleter) ofTeam(ctx context.Context, b *batch, s *record.SubmissionItem) error {
	task, err := d.task(ctx, b, s.TaskID)
	if err != nil {
		return err
	}
	s.Access.PrivateTask = task.Visibility == record.Private
	id := s.Access.RegistrationID
	if id == "" {
		return nil
	}
	r, err := d.registration(ctx, b, s.TaskID, id)
	if err != nil {
		return err
	}
	s.Team = r.Team
	s.Access.Affiliation = r.Affiliation
	s.Access.Anonymous = r.Anonymous
	s.Access.Alias = r.Alias
	return nil
}

// checkDataset requires in b that the dataset of the run exists, and returns it with its ground truth. A run that was evaluated against
// another ground truth is evaluated again.
func (d Deleter) checkDataset(ctx context.Context, b *batch, r *record.RunItem) (*record.DatasetItem, *record.TruthVersion, error) {
	var set *record.DatasetItem
	var truth *record.TruthVersion
	key := record.DatasetKey(r.DatasetID)
	err := records.Read(ctx, d.Store, store.Strong, records.Into(&set, key), records.Into(&truth, record.TruthKey(r.DatasetID)))
	if err != nil {
		return nil, nil, err
	}
	if set == nil || set.Deleting() {
		return nil, nil, d.missing(ctx, b, "dataset", key)
	}
	set.ValueRules(nil, nil).Copy(&r.Access, d.Now()) // until pending work looks at the run
	if truth == nil || !queue.NeedsReevaluation(r, truth) && !queue.ListingOutdated(r, truth) {
		b.Check(set)
		return set, truth, nil
	}
	set.Reevaluate(d.Now())
	b.Replace(set)
	return set, truth, nil
}
