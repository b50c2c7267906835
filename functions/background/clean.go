package background

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/files"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// DeleteAbandonedFiles deletes the files that no record names, after requests that failed, deletions and replacements. It also completes
// uploads whose notification was lost. If the context ends first, it returns the last key that it has handled, and the next call takes this
// key as after. The first call takes "".
func (w *Worker) DeleteAbandonedFiles(ctx context.Context, after string) (done string, err error) {
	var found record.FileCount
	done, err = w.eachBatch(ctx, "", after, record.AbandonedAfter, func(ctx context.Context, keys []string) error {
		return w.deleteAbandoned(ctx, keys, &found)
	})
	return done, cmp.Or(err, w.countFiles(context.WithoutCancel(ctx), found, after == "", done == "" && err == nil))
}

// countFiles adds the files to the count of all files. first and last report whether the batch begins or ends the count.
func (w *Worker) countFiles(ctx context.Context, found record.FileCount, first, last bool) error {
	return records.Retry(ctx, func() error {
		stored, err := records.Get[record.StoredFiles](ctx, w.Store, store.Strong, record.StoredFilesKey())
		if err != nil {
			return err
		}
		stored = cmp.Or(stored, &record.StoredFiles{Meta: record.MetaOf("", w.Now())})
		stored.Add(found, first, last, w.Now())
		return new(records.Tx).Save(stored, w.Now()).Commit(ctx, w.Store)
	})
}

// deleteAllAbandoned is DeleteAbandonedFiles for the binary. First it checks that the files belong to the table: two servers over different
// tables that started at the same time may both have found the files without a claim.
func (w *Worker) deleteAllAbandoned(ctx context.Context) error {
	if err := files.CheckClaim(ctx, w.Store, w.Files); err != nil {
		return err
	}
	_, err := w.DeleteAbandonedFiles(ctx, "")
	return err
}

// DeleteExpiredResults deletes the results of tools whose links have expired.
func (w *Worker) DeleteExpiredResults(ctx context.Context) error {
	_, err := w.eachBatch(ctx, string(record.HolderTools)+"/", "", record.ResultLinkTime, func(ctx context.Context, keys []string) error {
		return w.Files.Delete(ctx, keys...)
	})
	return err
}

// eachBatch calls do with batches of the keys under the prefix whose files are at least so old. It continues after a batch that fails, and
// returns the first error. If the context ends, or files cannot be listed, it returns the last key that it has handled.
func (w *Worker) eachBatch(
	ctx context.Context, prefix, after string, age time.Duration, do func(context.Context, []string) error,
) (done string, failed error) {
	done = after
	var keys []string
	flush := func() {
		if len(keys) == 0 || ctx.Err() != nil {
			return
		}
		failed = cmp.Or(failed, do(ctx, keys))
		if ctx.Err() == nil {
			done, keys = keys[len(keys)-1], keys[:0]
		}
	}
	for key, err := range w.Files.List(ctx, prefix, after, w.Now().Add(-age)) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return done, err
		}
		keys = append(keys, key)
		if len(keys) == store.MaxKeys/2 {
			flush()
		}
	}
	flush()
	if ctx.Err() != nil {
		return done, ctx.Err()
	}
	return "", failed
}

// deleteAbandoned deletes the files that no record names, and counts the others. It ignores keys that cannot belong to files of records.
func (w *Worker) deleteAbandoned(ctx context.Context, keys []string, found *record.FileCount) (err error) {
	live := func(k store.Key) store.Key { return k }
	for i, place := range []func(store.Key) store.Key{live, record.TrashKey, live} { // live again, because of restored records
		before := len(keys)
		if keys, err = w.withoutHolder(ctx, keys, place); err != nil {
			return err
		}
		found.Files += int64(before - len(keys))
		if i == 1 {
			found.InTrash += int64(before - len(keys))
		}
		if len(keys) == 0 {
			return nil
		}
	}
	w.Log.InfoContext(ctx, "abandoned files deleted", "keys", keys)
	return w.Files.Delete(ctx, keys...)
}

// withoutHolder returns the files that no record in the place names, although one could. It completes uploads whose notification was lost.
func (w *Worker) withoutHolder(ctx context.Context, keys []string, place func(store.Key) store.Key) (abandoned []string, err error) {
	var holders []store.Key
	for _, key := range keys {
		holders = append(holders, lists.Map(record.HoldersOf(key), place)...)
	}
	items, err := w.Store.Get(ctx, store.Strong, holders...)
	if err != nil {
		return nil, records.Failed(err)
	}
	for _, key := range keys {
		n := len(record.HoldersOf(key))
		named, pending, err := names(items[:n], key)
		switch {
		case err != nil:
			return nil, err
		case pending:
			if err := w.uploads().Complete(ctx, key); err != nil && !errors.Is(err, blob.ErrNotFound) {
				return nil, err
			}
		case !named && n > 0:
			abandoned = append(abandoned, key)
		}
		items = items[n:]
	}
	return abandoned, nil
}

// names reports whether one of the items is a record that names the object, and whether the record still waits for the upload.
func names(items []store.Item, key string) (named, pending bool, err error) {
	for _, it := range items {
		r, err := record.DecodeFileHolder(it)
		if err != nil {
			return false, false, err
		}
		if r == nil || !slices.Contains(r.ObjectKeys(), key) {
			continue
		}
		named = true
		switch r := r.(type) {
		case *record.RunItem:
			pending = r.State == record.AwaitingUpload
		case *record.DatasetItem:
			pending = !record.AllStored(r.Files())
		}
	}
	return named, pending, nil
}
