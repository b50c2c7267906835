package trash

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"assay/shared/access"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
)

// forgetting is what becomes of a user who is deleted.
type forgetting struct {
	Trash
	userID, replacement string
}

// ForgetUser purges what lies in the trash of a user who is being deleted, save what is of others too, in which the other id stands for the
// user from then on. It reports whether that is all: it is not while something moves to the trash or back.
func (t Trash) ForgetUser(ctx context.Context, userID, replacement string) (all bool, err error) {
	f, all := forgetting{t, userID, replacement}, true
	deletions := records.OfKind(record.KindDeletion, access.Owners, access.Organizers)
	err = records.Each(ctx, t.Store, page, deletions, func(d *record.DeletionItem) error {
		return records.Retry(ctx, func() error {
			rests, err := f.forget(ctx, d.Key())
			all = all && rests
			return err
		})
	})
	return all, err
}

// forget does what ForgetUser does for one deletion, unless that is under way.
func (f forgetting) forget(ctx context.Context, key store.Key) (rests bool, err error) {
	if err := f.Continue(ctx, key); err != nil {
		return false, err
	}
	d, err := records.Get[record.DeletionItem](ctx, f.Store, store.Strong, key)
	switch {
	case err != nil:
		return false, err
	case d == nil || d.Over():
		return true, nil
	case !d.PendingWork.Is(record.PurgeTrash):
		return false, nil
	}
	if err := f.each(ctx, d, func(key store.Key) error { return f.forgetItem(ctx, d, key) }); err != nil {
		return false, err
	}
	left, err := f.bin(d).Get(ctx, store.Strong, d.ResourceKey())
	switch {
	case err != nil:
		return false, records.Failed(err)
	case !left[0].Exists():
		return true, f.purge(ctx, d)
	case d.Rename(f.userID, f.replacement):
		err = new(records.Tx).Replace(d).Commit(ctx, f.Store)
	}
	return true, err
}

// forgetItem purges what the user submitted, with what belongs to it, or has the other id stand for the user there.
func (f forgetting) forgetItem(ctx context.Context, d *record.DeletionItem, key store.Key) error {
	found, err := f.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil || !bytes.Contains(found[0].Data, []byte(f.userID)) {
		return records.Failed(err)
	}
	it, err := record.Untrash(found[0])
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(key.Sort, record.RegistrationPrefix):
		return f.leave(ctx, d, it)
	case strings.HasPrefix(key.Sort, record.AllowancePrefix):
		a, err := records.Decode[record.Allowance](it)
		if err != nil {
			return err
		}
		tx := new(records.Tx).Delete(a)
		if err := team.Outlive(ctx, f.bin(d), tx, a, f.userID, f.Now()); err != nil {
			return err
		}
		return tx.Commit(ctx, f.bin(d))
	}
	var of struct {
		UserID string
		Access record.AccessAttributes
	}
	if err := json.Unmarshal(it.Data, &of); err != nil {
		return err
	}
	if of.UserID == f.userID && it.Sort != "REVIEW" {
		teams := f.Store
		if d.Kind == record.TaskInTrash {
			teams = f.bin(d)
		}
		ofOthers, err := team.IsOfOthers(ctx, teams, d.TaskID, f.userID, of.Access)
		switch {
		case err != nil:
			return err
		case !ofOthers:
			return f.purgeContents(ctx, d, key)
		case of.Access.RegistrationID == "" && it.Sort == "SUBMISSION":
			return records.Change(ctx, f.bin(d), key, func(s *record.SubmissionItem, tx *records.Tx) error {
				s.UserID, s.Notes = f.replacement, "" // which nobody else is shown
				tx.Replace(s)
				return nil
			})
		}
	}
	found[0].Data = bytes.ReplaceAll(found[0].Data, []byte(f.userID), []byte(f.replacement))
	return new(records.Tx).Write(store.Replace(found[0])).Commit(ctx, f.Store)
}

func (f forgetting) purgeContents(ctx context.Context, d *record.DeletionItem, key store.Key) error {
	all, err := records.Contents(ctx, f.bin(d), key)
	if err != nil {
		return err
	}
	for _, it := range all {
		if err := f.purgeItem(ctx, it.Key); err != nil {
			return err
		}
	}
	return nil
}

// leave has the user leave a team, which goes when it has no other member.
func (f forgetting) leave(ctx context.Context, d *record.DeletionItem, it store.Item) error {
	r, err := records.Decode[record.RegistrationItem](it)
	if err != nil {
		return err
	}
	tx := new(records.Tx)
	used, err := team.LeaveForGood(ctx, f.bin(d), tx, r, f.userID, f.replacement, f.Now())
	if err != nil {
		return err
	}
	if len(r.Members) > 0 {
		return tx.Replace(r).Commit(ctx, f.bin(d))
	}
	tx.Delete(r).DeleteKeys(r.ReservedNames()...)
	if used != nil && used.ID == r.ID {
		tx.Delete(used)
		if err := propagation.DropExtensions(ctx, f.bin(d), tx, r.TaskID, f.Now(), used.Exceptions...); err != nil {
			return err
		}
	}
	return tx.Commit(ctx, f.bin(d))
}
