package deletion

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// purge deletes the items that lie in the trash for the entry, with their files, which no longer count in quotas then. From its first
// write on, nothing of the entry can be restored.
func (d Deleter) purge(ctx context.Context, entry *record.DeletionItem) error {
	if !entry.Over() {
		if err := d.schedule(ctx, entry, record.PurgeTrash, d.Now(), record.Decided); err != nil {
			return err
		}
	}
	if err := d.each(ctx, entry, func(key store.Key) error { return d.purgeItem(ctx, key) }); err != nil {
		return err
	}
	return new(records.Tx).Delete(entry).Commit(ctx, d.Store)
}

// purgeItem deletes an item that lies in the trash. The files that it names go first, because they are found by the item.
func (d Deleter) purgeItem(ctx context.Context, key store.Key) error {
	items, err := d.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if err != nil || !items[0].Exists() {
		return records.Failed(err)
	}
	tx := new(records.Tx).Write(store.DeleteIf(items[0]))
	r, err := record.DecodeFileHolder(items[0])
	if err != nil {
		return err
	}
	if r != nil {
		if err := d.Files.Delete(ctx, r.ObjectKeys()...); err != nil {
			return err
		}
		user, stored := record.StoredBytes(r)
		account := quota.Account{Store: d.Store, Tx: tx, Now: d.Now(), UserID: user}
		if err := account.Credit(ctx, record.Charge{Bytes: -stored}); err != nil {
			return err
		}
	}
	return tx.Commit(ctx, d.Store)
}
