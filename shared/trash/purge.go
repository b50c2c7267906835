package trash

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/quota"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Purge deletes what lies in the trash for the deletion, if its time has come, with its files. They no longer count in quotas then.
func (t Trash) Purge(ctx context.Context, key store.Key) error {
	return t.step(ctx, key, record.PurgeTrash, func(d *record.DeletionItem) error {
		if d.ExpiresAt.After(t.Now()) && !d.Over() {
			return nil
		}
		return t.purge(ctx, d)
	})
}

func (t Trash) purge(ctx context.Context, d *record.DeletionItem) error {
	if !d.Over() {
		if err := t.schedule(ctx, d, record.PurgeTrash, t.Now(), record.Decided); err != nil {
			return err
		}
	}
	if err := t.each(ctx, d, func(key store.Key) error { return t.purgeItem(ctx, key) }); err != nil {
		return err
	}
	return new(records.Tx).Delete(d).Commit(ctx, t.Store)
}

// purgeItem deletes an item that lies in the trash, with the files that it names, which go first: they are found by it.
func (t Trash) purgeItem(ctx context.Context, key store.Key) error {
	items, err := t.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil || !items[0].Exists() {
		return records.Failed(err)
	}
	tx := new(records.Tx).Write(store.DeleteIf(items[0]))
	r, err := record.DecodeFileHolder(items[0])
	if err != nil {
		return err
	}
	if r != nil {
		if err := t.Files.Delete(ctx, r.ObjectKeys()...); err != nil {
			return err
		}
		user, stored := record.StoredBytes(r)
		account := quota.Account{Store: t.Store, Tx: tx, Now: t.Now(), UserID: user}
		if err := account.Credit(ctx, record.Charge{Bytes: -stored}); err != nil {
			return err
		}
	}
	return tx.Commit(ctx, t.Store)
}

// ForgetUser purges what lies in the trash of a user who is being deleted, and has the other id stand for the user in the rest.
func (t Trash) ForgetUser(ctx context.Context, userID, replacement string) error {
	deletions := records.OfKind(record.KindDeletion, access.Owners, access.Organizers)
	return records.Each(ctx, t.Store, page, deletions, func(d *record.DeletionItem) error {
		return records.Retry(ctx, func() error { return t.forget(ctx, d.Key(), userID, replacement) })
	})
}

func (t Trash) forget(ctx context.Context, key store.Key, userID, replacement string) error {
	if err := t.Continue(ctx, key); err != nil {
		return err
	}
	d, err := records.Get[record.DeletionItem](ctx, t.Store, store.Strong, key)
	if err != nil || d == nil || d.Over() {
		return err
	}
	if d.OwnerID == userID {
		return t.purge(ctx, d)
	}
	if d.DeletedBy == userID || d.RestoredBy == userID {
		d.DeletedBy = strings.ReplaceAll(d.DeletedBy, userID, replacement)
		d.RestoredBy = strings.ReplaceAll(d.RestoredBy, userID, replacement)
		if err := new(records.Tx).Replace(d).Commit(ctx, t.Store); err != nil {
			return err
		}
	}
	return t.each(ctx, d, func(key store.Key) error { return t.forgetItem(ctx, d, key, userID, replacement) })
}

// forgetItem purges what the user submitted, with what belongs to it, and a team of the user alone.
func (t Trash) forgetItem(ctx context.Context, d *record.DeletionItem, key store.Key, userID, replacement string) error {
	found, err := t.get(ctx, in, key)
	if err != nil || len(found) == 0 || !bytes.Contains(found[0].Data, []byte(userID)) {
		return err
	}
	it := found[0]
	var of struct{ UserID string }
	if err := json.Unmarshal(it.Data, &of); err != nil {
		return err
	}
	purged := []store.Item{it}
	switch {
	case strings.HasPrefix(it.Sort, record.RegistrationPrefix):
		r, err := records.Decode[record.RegistrationItem](it)
		if err != nil {
			return err
		}
		if len(r.Members) == 1 && slices.Contains(r.Members, userID) {
			name, _ := r.ReservedName()
			if err := t.dropExtensions(ctx, d, r); err != nil {
				return err
			}
			own, err := t.get(ctx, in, name, record.AllowanceKey(r.TaskID, r.ID), record.AllowanceKey(r.TaskID, userID))
			if err != nil {
				return err
			}
			purged = append(purged, own...)
			break
		}
		r.Leave(userID)
		if it, err = record.Item(r); err != nil {
			return err
		}
		return t.rename(ctx, d, it, userID, replacement)
	case of.UserID != userID || it.Sort == "REVIEW":
		return t.rename(ctx, d, it, userID, replacement)
	default:
		if purged, err = t.partition(ctx, in, it.Key); err != nil {
			return err
		}
	}
	for _, it := range purged {
		if err := t.purgeItem(ctx, it.Key); err != nil {
			return err
		}
	}
	return nil
}

// dropExtensions has scores of the task in the trash wait no more for the later closes that were granted to the team.
func (t Trash) dropExtensions(ctx context.Context, d *record.DeletionItem, r *record.RegistrationItem) error {
	a, err := find[record.Allowance](ctx, t, record.AllowanceKey(r.TaskID, r.ID))
	if err != nil || a == nil {
		return err
	}
	e, err := find[record.Embargo](ctx, t, record.EmbargoKey(r.TaskID))
	if err != nil || e == nil || !e.Drop(a.Exceptions...) {
		return err
	}
	it, err := record.Item(e)
	if err != nil {
		return err
	}
	return t.rename(ctx, d, it, r.UserID, r.UserID)
}

// rename has the other id stand for the user in an item, and in the lists that it will be in.
func (t Trash) rename(ctx context.Context, d *record.DeletionItem, it store.Item, userID, replacement string) error {
	changed, err := record.Trash(it, d.ID)
	if err != nil {
		return err
	}
	changed.Version, changed.Data = it.Version, bytes.ReplaceAll(changed.Data, []byte(userID), []byte(replacement))
	return new(records.Tx).Write(store.Replace(changed)).Commit(ctx, t.Store)
}
