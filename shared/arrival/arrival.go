// Package arrival is what happens when the bytes of a file have arrived: the record that waits for it is told, and goes
// on when nothing is missing any more.
package arrival

import (
	"context"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Stored tells the record behind the object's key that its bytes are there. It may be told so again. When no record
// waits for the object or has it, the error is blob.ErrNotFound and the object can go.
func Stored(ctx context.Context, s store.Store, now time.Time, key string) error {
	holder, id, digest, ok := record.ParseObjectKey(key)
	if !ok {
		return blob.ErrNotFound
	}
	switch holder {
	case record.HolderRuns:
		return forRun(ctx, s, now, id, digest)
	case record.HolderInputs, record.HolderTruths:
		return forDataset(ctx, s, now, holder, id, digest)
	default:
		return blob.ErrNotFound
	}
}

// Awaited reports whether a record waits for the object of the key, or has it; also when the record cannot be read.
func Awaited(ctx context.Context, s store.Store, key string) bool {
	holder, id, digest, ok := record.ParseObjectKey(key)
	if !ok {
		return false
	}
	named := func(files []record.File, pending bool) bool {
		return slices.ContainsFunc(files, func(f record.File) bool { return f.SHA256 == digest && (pending || f.State == record.FileStored) })
	}
	if holder == record.HolderRuns {
		r, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(id))
		if err != nil || r == nil {
			return err != nil
		}
		return named(r.Files, r.State == record.AwaitingUpload) || r.Lease != nil && named(r.Lease.Outputs, true)
	}
	d, err := records.Get[record.DatasetItem](ctx, s, store.Strong, record.DatasetKey(id))
	if err != nil || d == nil {
		return err != nil
	}
	return holder == record.HolderInputs && named(d.Inputs, true) || holder == record.HolderTruths && named(d.Truths, true)
}

// mark marks the file of the digest as stored, and reports whether there is such a file and whether that is news.
func mark(files *[]record.File, digest string) (there, news bool) {
	*files, news = record.Stored(*files, digest)
	return slices.ContainsFunc(*files, func(f record.File) bool { return f.SHA256 == digest }), news
}

func forRun(ctx context.Context, s store.Store, now time.Time, id, digest string) error {
	return records.Retry(ctx, func() error {
		r, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(id))
		if err != nil {
			return err
		}
		if r == nil {
			return blob.ErrNotFound
		}
		if r.Lease != nil && slices.ContainsFunc(r.Lease.Outputs, func(f record.File) bool { return f.SHA256 == digest }) {
			return nil // the worker says when all are there
		}
		there, news := mark(&r.Files, digest)
		if !there || news && r.State != record.AwaitingUpload {
			return blob.ErrNotFound
		}
		if !news {
			return nil
		}
		if record.AllStored(r.Files) {
			truth, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(r.DatasetID))
			if err != nil {
				return err
			}
			if err := queue.Enqueue(r, truth, now); err != nil {
				return err
			}
		}
		return new(records.Tx).Save(r, now).Commit(ctx, s)
	})
}

func forDataset(ctx context.Context, s store.Store, now time.Time, h record.Holder, id, digest string) error {
	return records.Retry(ctx, func() error {
		d, err := records.Get[record.DatasetItem](ctx, s, store.Strong, record.DatasetKey(id))
		if err != nil {
			return err
		}
		if d == nil {
			return blob.ErrNotFound
		}
		files := &d.Inputs
		if h == record.HolderTruths {
			files = &d.Truths
		}
		there, news := mark(files, digest)
		if !there {
			return used(ctx, s, h, id, digest)
		}
		if !news {
			return nil
		}
		if h == record.HolderTruths && record.AllStored(d.Truths) && !d.Deleting() {
			d.PendingWork = record.NewPendingWork(record.AcceptTruth, now)
		}
		return new(records.Tx).Save(d, now).Commit(ctx, s)
	})
}

// used is nil when runs are still evaluated with a file that the dataset itself no longer names, since its new truth is
// not there yet; it is blob.ErrNotFound when nothing names the file.
func used(ctx context.Context, s store.Store, h record.Holder, id, digest string) error {
	if h != record.HolderTruths {
		return blob.ErrNotFound
	}
	truth, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(id))
	if err != nil {
		return err
	}
	if truth == nil || !slices.ContainsFunc(truth.Files, func(f record.File) bool { return f.SHA256 == digest }) {
		return blob.ErrNotFound
	}
	return nil
}
