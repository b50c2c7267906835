package deletion

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// DeleteRun adds to tx that a user moves the run to the trash, with its review and its evaluations. If byTeam is true, the user is a
// member of the team of the run, and the team can restore it. The caller calls Continue with the key of the entry after the commit.
func (d Deleter) DeleteRun(ctx context.Context, tx *records.Tx, r *record.RunItem, by string, byTeam bool) (*record.DeletionItem, error) {
	path := "/v1/runs/" + r.ID
	entry := record.NewDeletion(d.Now(), record.RunInTrash, r.ID, path, r.Name(), r.Scope(), by, byTeam)
	d.tell(tx, entry)
	tx.Create(record.NewAudit(d.Now(), r.Scope(), by, record.RunDeleted, path, r.Audited(), nil))
	if err := d.unlink(ctx, tx, r); err != nil {
		return nil, err
	}
	return entry, d.moveListed(ctx, &batch{Tx: tx, entry: entry}, r)
}

// DeleteSubmission adds to tx that a user moves the submission to the trash with its runs, like DeleteRun.
func (d Deleter) DeleteSubmission(ctx context.Context, tx *records.Tx, s *record.SubmissionItem, runs []*record.RunItem, by string,
	byTeam bool) (*record.DeletionItem, error) {
	path := "/v1/tasks/" + s.TaskID + "/submissions/" + s.ID
	entry := record.NewDeletion(d.Now(), record.SubmissionInTrash, s.ID, path, s.Title, s.Scope(), by, byTeam)
	d.tell(tx, entry)
	tx.Create(record.NewAudit(d.Now(), s.Scope(), by, record.SubmissionDeleted, path, s.Audited(), nil))
	if err := d.uncount(ctx, tx, s, 1, runs...); err != nil {
		return nil, err
	}
	b := &batch{Tx: tx, entry: entry}
	if err := b.record(s, (*batch).out); err != nil {
		return nil, err
	}
	return entry, d.moveListed(ctx, b, runs...)
}

// tell adds to tx an event that notifies the team that organizers deleted its run or submission. A baseline without a registration has no
// team.
func (d Deleter) tell(tx *records.Tx, entry *record.DeletionItem) {
	if entry.ByOrganizers && entry.RegistrationID != "" {
		tx.Create(record.NewEvent(d.Now(), record.EventDeletionCreated, entry.Scope(), "/v1/deletions/"+entry.ID))
	}
}

// unlink adds to tx that the submission of the run, and the allowance of its team, no longer have the run.
func (d Deleter) unlink(ctx context.Context, tx *records.Tx, r *record.RunItem) error {
	s, err := records.Get[record.SubmissionItem](ctx, d.Store, store.Strong, record.SubmissionKey(r.SubmissionID))
	if err != nil {
		return err
	}
	if s != nil {
		s.RunIDs = slices.DeleteFunc(s.RunIDs, func(id string) bool { return id == r.ID })
		tx.Save(s, d.Now())
	}
	return d.uncount(ctx, tx, r, 0, r)
}

// uncount adds to tx a change of the team's allowance, which loses the number of submissions and the runs. The runs stay counted in the
// quota of the task; otherwise deleting would get around the quota.
func (d Deleter) uncount(ctx context.Context, tx *records.Tx, of allowance.Submitted, submissions int, runs ...*record.RunItem) error {
	a, err := allowance.OfSubmitted(ctx, d.Store, store.Strong, of)
	if err != nil || a == nil {
		return err
	}
	if !of.Unregistered() { // allowances count no other submissions
		a.Submissions = max(0, a.Submissions-submissions)
	}
	for _, r := range runs {
		a.Drop(r.DatasetID, r.ID)
	}
	tx.Save(a, d.Now())
	return nil
}

// moveListed adds the entry to b, and moves what lists show of the runs, all of one submission. It moves the rest of them too if b has
// room for it.
func (d Deleter) moveListed(ctx context.Context, b *batch, runs ...*record.RunItem) error {
	var rest []store.Item
	for _, r := range runs {
		items, err := records.Contents(ctx, d.Store, r.Key())
		if err != nil {
			return err
		}
		first, others := listed(r, items)
		for _, it := range first {
			if it.Key == r.Key() {
				it.Version = r.Stored() // a run that changed since is a conflict
			}
			if err := b.out(it); err != nil {
				return err
			}
		}
		rest = append(rest, others...)
	}
	if !b.fits(rest...) {
		b.entry.PendingWork = record.NewPendingWork(record.MoveToTrash, d.Now().Add(record.RequestTime))
		rest = nil
	}
	b.Create(b.entry)
	return b.each(rest, (*batch).out)
}

// moveRuns moves the rest of the runs of the entry to the trash.
func (d Deleter) moveRuns(ctx context.Context, entry *record.DeletionItem) error {
	runs, err := d.deletedRuns(ctx, entry)
	if err != nil {
		return err
	}
	for _, r := range runs {
		evaluations, err := records.Evaluations(ctx, d.Store, r)
		if err != nil {
			return err
		}
		items, err := records.Contents(ctx, d.Store, r.Key())
		if err != nil {
			return err
		}
		if err := d.moveAll(ctx, entry, append(evaluations, items...), (*batch).out); err != nil {
			return err
		}
	}
	return nil
}

// deletedRuns reads the runs of the entry, which lie in the trash: one, or those of a submission.
func (d Deleter) deletedRuns(ctx context.Context, entry *record.DeletionItem) ([]*record.RunItem, error) {
	ids := []string{entry.ResourceID}
	if entry.Kind == record.SubmissionInTrash {
		s, err := records.Get[record.SubmissionItem](ctx, d.bin(entry), store.Strong, record.SubmissionKey(entry.ResourceID))
		if err != nil || s == nil {
			return nil, err
		}
		ids = s.RunIDs
	}
	return records.GetExisting[record.RunItem](ctx, d.bin(entry), store.Strong, ids, record.RunKey)
}
