package trash

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/shared/problem"
	"assay/shared/propagation"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
)

// Restore brings back what was deleted, by order of the user. What it belonged to must be there: otherwise the error is a Conflict that
// says what to restore first. What became of that meanwhile counts: names and anonymity of the team, the visibility of the task, the ground
// truth.
func (t Trash) Restore(ctx context.Context, key store.Key, by string) error {
	return t.restore(ctx, key, by, false)
}

// RestoreForTeam is Restore by order of a member of the team that deleted, whose registration has to allow a new submission. Restoring
// that began goes on whatever becomes of the registration.
func (t Trash) RestoreForTeam(ctx context.Context, key store.Key, by string) error {
	return t.restore(ctx, key, by, true)
}

func (t Trash) restore(ctx context.Context, key store.Key, by string, forTeam bool) error {
	return records.Retry(ctx, func() error {
		d, err := records.Get[record.DeletionItem](ctx, t.Store, store.Strong, key)
		if err != nil || d == nil || d.Over() {
			return err
		}
		by := cmp.Or(by, d.RestoredBy)
		switch d.Kind {
		case record.TaskInTrash:
			return t.restoreTask(ctx, d, by)
		case record.DatasetInTrash:
			return t.restoreDataset(ctx, d, by)
		default:
			return t.restoreRuns(ctx, d, by, forTeam)
		}
	})
}

// Resume goes on with restoring that is pending. One that is refused meanwhile leaves what it has not brought back in the trash.
func (t Trash) Resume(ctx context.Context, key store.Key) error {
	d, err := records.Get[record.DeletionItem](ctx, t.Store, store.Strong, key)
	if err != nil || d == nil || !d.PendingWork.Is(record.RestoreTrash) {
		return err
	}
	if d.Over() {
		return t.sweepRestored(ctx, key)
	}
	err = t.Restore(ctx, key, "")
	if problem.Conflict.Is(err) {
		return t.step(ctx, key, record.RestoreTrash, func(d *record.DeletionItem) error {
			return t.schedule(ctx, d, record.MoveToTrash, t.Now(), "") // what came back of it goes again
		})
	}
	return err
}

// begin marks that restoring goes on, so that nothing more is moved to the trash and the evaluator resumes if the request ends.
func (t Trash) begin(ctx context.Context, d *record.DeletionItem, by string) error {
	if d.PendingWork.Is(record.RestoreTrash) {
		return nil
	}
	d.RestoredBy = by
	return t.schedule(ctx, d, record.RestoreTrash, t.Now().Add(record.RequestTime), "")
}

// audit is the entry that the deletion is undone.
func (t Trash) audit(d *record.DeletionItem, by string) *record.AuditEntry {
	return record.NewAudit(t.Now(), d.Scope(), by, record.Restored, d.Subject, nil, nil)
}

// restoreRuns restores a run, or a submission with its runs: in one transaction what lists show, and before it what has no room there.
func (t Trash) restoreRuns(ctx context.Context, d *record.DeletionItem, by string, forTeam bool) error {
	b := &batch{Tx: new(records.Tx), deletion: d}
	if forTeam && !d.PendingWork.Is(record.RestoreTrash) {
		if err := t.checkTeam(ctx, b, d); err != nil {
			return err
		}
	}
	if d.PendingWork.Is(record.MoveToTrash) { // what moved after the trash is read would stay there
		if err := t.begin(ctx, d, by); err != nil {
			return err
		}
	}
	rest, err := t.restoreListed(ctx, b, d)
	if err != nil {
		return err
	}
	if b.fits(rest...) {
		err = b.each(rest, (*batch).back)
	} else if err = t.begin(ctx, d, by); err == nil {
		err = t.moveAll(ctx, d, rest, (*batch).back)
	}
	if err != nil {
		return err
	}
	return b.Delete(d).Create(t.audit(d, by)).Commit(ctx, t.Store)
}

// restoreListed adds to b what lists show of the runs, with the submission, and returns the rest.
func (t Trash) restoreListed(ctx context.Context, b *batch, d *record.DeletionItem) (rest []store.Item, err error) {
	runs, err := t.deletedRuns(ctx, d)
	if err != nil {
		return nil, err
	}
	s, err := t.submissionOf(ctx, b, d, runs)
	if err != nil {
		return nil, err
	}
	a, err := team.AllowanceOf(ctx, t.Store, store.Strong, s)
	if err != nil {
		return nil, err
	}
	a = cmp.Or(a, &record.Allowance{Meta: record.MetaOf(cmp.Or(s.Access.RegistrationID, s.UserID), t.Now()), TaskID: s.TaskID})
	if d.Kind == record.SubmissionInTrash && !s.Unregistered() {
		a.Submissions++ // what was used of the quota never changed
	}
	var embargoed []string // datasets
	for _, r := range runs {
		set, truth, err := t.checkDataset(ctx, b, r)
		if err != nil {
			return nil, err
		}
		a.Keep(r.DatasetID)
		if r.Final {
			r.Final = a.Mark(set, r.ID, true) == nil // unless the team chose others meanwhile
		}
		if r.Refunded && !slices.ContainsFunc(a.Exceptions, func(e record.Exception) bool { return e.RunID == r.ID }) {
			r.EndRefund() // which the allowance has counted since
		}
		record.Touch(r, t.Now()) // with its evaluations it may be shown otherwise than before
		adopt(r, s)
		if r.Access.Embargoed {
			embargoed = append(embargoed, r.DatasetID)
		}
		if err := queue.Restore(r, truth, t.Now()); err != nil {
			return nil, err
		}
		items, err := t.itemsOf(ctx, d, r)
		if err != nil {
			return nil, err
		}
		first, others := listed(r, items)
		if err := b.each(first, (*batch).back); err != nil {
			return nil, err
		}
		rest = append(rest, others...)
	}
	b.Save(a, t.Now())
	return rest, t.renewEmbargo(ctx, b, embargoed...)
}

// renewEmbargo adds to b that pending work looks at the datasets, whose scores are shown after a close: that may have passed meanwhile.
func (t Trash) renewEmbargo(ctx context.Context, b *batch, datasetIDs ...string) error {
	if len(datasetIDs) == 0 {
		return nil
	}
	return propagation.RenewEmbargo(ctx, t.Store, b.Tx, b.deletion.TaskID, t.Now(), func(e *record.Embargo) {
		for _, id := range datasetIDs {
			e.Add(id)
		}
	})
}

// adopt gives the run what others are shown of its submission and team, as they are now.
func adopt(r *record.RunItem, s *record.SubmissionItem) {
	from, to := s.Access, &r.Access
	r.Team, to.RegistrationID = s.Team, from.RegistrationID
	to.PrivateTask = from.PrivateTask
	to.Public = from.Public
	to.Baseline = from.Baseline
	to.Anonymous = from.Anonymous
	to.Alias = from.Alias
	to.Affiliation = from.Affiliation
	to.Title = from.Title
	to.PaperURL = from.PaperURL
}

// itemsOf returns the items of a run that lies in the trash: of the run and its evaluations, as the run now is and what it says of who may
// see them.
func (t Trash) itemsOf(ctx context.Context, d *record.DeletionItem, r *record.RunItem) ([]store.Item, error) {
	items, err := records.Contents(ctx, t.bin(d), r.Key())
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
				record.Touch(e, t.Now())
				items[i], err = record.Item(e)
			}
		}
	}
	return items, err
}

// submissionOf adds to b that the submission of the runs has them, and returns it.
func (t Trash) submissionOf(ctx context.Context, b *batch, d *record.DeletionItem, runs []*record.RunItem) (*record.SubmissionItem, error) {
	if d.Kind == record.RunInTrash {
		if len(runs) == 0 {
			return nil, gone
		}
		s, err := records.Get[record.SubmissionItem](ctx, t.Store, store.Strong, record.SubmissionKey(runs[0].SubmissionID))
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, t.missing(ctx, "submission", record.SubmissionKey(runs[0].SubmissionID))
		}
		s.RunIDs = append(slices.Clone(s.RunIDs), runs[0].ID)
		b.Save(s, t.Now())
		return s, nil
	}
	s, err := records.Require[record.SubmissionItem](ctx, t.bin(d), store.Strong, record.SubmissionKey(d.ResourceID), gone)
	if err != nil {
		return nil, err
	}
	if err := t.ofTeam(ctx, b, s); err != nil {
		return nil, err
	}
	record.Touch(s, t.Now())
	return s, b.record(s, (*batch).back)
}

// ofTeam gives the submission what is shown of its team and its task as they are now, which b requires to stay so.
func (t Trash) ofTeam(ctx context.Context, b *batch, s *record.SubmissionItem) error {
	task, err := t.task(ctx, b, s.TaskID)
	if err != nil {
		return err
	}
	s.Access.PrivateTask = task.Visibility == record.Private
	id := s.Access.RegistrationID
	if id == "" {
		return nil
	}
	r, err := t.registration(ctx, b, s.TaskID, id)
	if err != nil {
		return err
	}
	s.Team = r.Team
	s.Access.Affiliation = r.Affiliation
	s.Access.Anonymous = r.Anonymous
	s.Access.Alias = r.Alias
	return nil
}

// task returns the task, which b requires to stay as it is.
func (t Trash) task(ctx context.Context, b *batch, id string) (*record.TaskItem, error) {
	task, err := records.Get[record.TaskItem](ctx, t.Store, store.Strong, record.TaskKey(id))
	if err != nil {
		return nil, err
	}
	if task == nil {
		return nil, t.missing(ctx, "task", record.TaskKey(id))
	}
	b.require(task)
	return task, nil
}

// registration returns the registration, which b requires to stay as it is.
func (t Trash) registration(ctx context.Context, b *batch, taskID, id string) (*record.RegistrationItem, error) {
	r, err := records.Require[record.RegistrationItem](ctx, t.Store, store.Strong, record.RegistrationKey(taskID, id),
		conflict("The team has withdrawn its registration for the task, so its submissions cannot be restored."))
	if err == nil {
		b.require(r)
	}
	return r, err
}

// checkDataset requires in b that the dataset of the run is there, and returns it with its ground truth. A run that was evaluated against
// another one is evaluated again.
func (t Trash) checkDataset(ctx context.Context, b *batch, r *record.RunItem) (*record.DatasetItem, *record.Truth, error) {
	var set *record.DatasetItem
	var truth *record.Truth
	key := record.DatasetKey(r.DatasetID)
	err := records.Read(ctx, t.Store, store.Strong, records.Into(&set, key), records.Into(&truth, record.TruthKey(r.DatasetID)))
	if err != nil {
		return nil, nil, err
	}
	if set == nil || set.Deleting() {
		return nil, nil, t.missing(ctx, "dataset", key)
	}
	set.Embargo(&r.Access, record.Release{Unknown: set.Scores == record.ScoresAfterClose}, t.Now()) // until pending work looks at the run
	if truth == nil || !queue.NeedsReevaluation(r, truth) && !queue.ListingOutdated(r, truth) {
		b.Check(set)
		return set, truth, nil
	}
	set.Reevaluate(t.Now())
	b.Replace(set)
	return set, truth, nil
}

// restoreDataset restores a dataset with its ground truth. What was pending of it goes on.
func (t Trash) restoreDataset(ctx context.Context, d *record.DeletionItem, by string) error {
	b := &batch{Tx: new(records.Tx), deletion: d}
	task, err := t.task(ctx, b, d.TaskID)
	if err != nil {
		return err
	}
	inTask := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(task.ID), Limit: record.MaxTaskDatasets}
	others, err := t.Store.Query(ctx, inTask)
	if err != nil {
		return records.Failed(err)
	}
	if len(others) == record.MaxTaskDatasets {
		return conflict("The task has %d datasets, which is the most. Delete one, and restore this one then.", record.MaxTaskDatasets)
	}
	items, err := records.Contents(ctx, t.bin(d), record.DatasetKey(d.ResourceID))
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.Sort == "DATASET" {
			set, err := records.Decode[record.DatasetItem](it)
			if err != nil {
				return err
			}
			set.PrivateTask = task.Visibility == record.Private
			record.Touch(set, t.Now())
			if it, err = record.Item(set); err != nil {
				return err
			}
			if err := records.CreateMissing[record.Event](ctx, t.Store, b.Tx, set.ClosingEvent(t.Now())); err != nil {
				return err
			}
			if set.Scores == record.ScoresAfterClose {
				if err := t.renewEmbargo(ctx, b, set.ID); err != nil {
					return err
				}
			}
		}
		if err := b.back(it); err != nil {
			return err
		}
	}
	return b.Delete(d).Create(t.audit(d, by)).Commit(ctx, t.Store)
}

// gone is the answer about something whose user was deleted meanwhile.
var gone = conflict("What was deleted is not there any more, because a user was deleted whose it was.")

// missing says what to restore first.
func (t Trash) missing(ctx context.Context, what string, key store.Key) error {
	items, err := t.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil {
		return records.Failed(err)
	}
	id, deleted := strings.CutPrefix(items[0].Entry(record.ByKind).Partition, record.TrashPartition(""))
	if !deleted {
		return conflict("The %s that this belongs to is not there any more, so this cannot be restored.", what)
	}
	return conflict("The %s that this belongs to was deleted too: restore it first (DELETE /v1/deletions/%s).", what, id)
}
