package trash

import (
	"context"

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
