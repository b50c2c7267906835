// Package files connects the files in records with the objects that hold their content. It signs links to objects. It also records
// completed uploads, after which a run is queued or a ground truth is accepted.
package files

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Uploads records completed uploads in the records that wait for them.
type Uploads struct {
	Store store.Store
	Now   func() time.Time
}

// Complete marks the file of the object as stored in its record. With its last file, a run is queued, and a dataset's ground truth
// (qrels, labels) is due to be accepted. Complete may be called again for the same object. It returns blob.ErrNotFound if no record
// names the object; then the object can be deleted.
func (u Uploads) Complete(ctx context.Context, key string) error {
	holder, id, digest, ok := record.ParseObjectKey(key)
	if !ok {
		return blob.ErrNotFound
	}
	var err error
	switch holder {
	case record.HolderRuns:
		err = records.Retry(ctx, func() error { return u.completeRunFile(ctx, id, digest) })
		return u.orInTrash(ctx, record.RunKey(id), err)
	case record.HolderInputs, record.HolderTruths:
		err = records.Retry(ctx, func() error { return u.completeDatasetFile(ctx, holder, id, digest) })
		return u.orInTrash(ctx, record.DatasetKey(id), err)
	default:
		return blob.ErrNotFound
	}
}

// orInTrash returns nil instead of blob.ErrNotFound if the record is in the trash. Its files remain, because the record may be restored.
func (u Uploads) orInTrash(ctx context.Context, key store.Key, err error) error {
	if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	items, getErr := u.Store.Get(ctx, store.Strong, record.TrashKey(key))
	if getErr != nil || items[0].Exists() {
		return records.Failed(getErr)
	}
	return err
}

// Expected reports whether a record waits for the object or has it. It also returns true if the record cannot be read.
func (u Uploads) Expected(ctx context.Context, key string) bool {
	holder, id, digest, ok := record.ParseObjectKey(key)
	if !ok {
		return false
	}
	var expected bool
	var err error
	if holder == record.HolderRuns {
		expected, err = u.runExpects(ctx, id, digest)
	} else {
		expected, err = u.datasetExpects(ctx, holder, id, digest)
	}
	return expected || err != nil
}

func (u Uploads) runExpects(ctx context.Context, id, digest string) (bool, error) {
	r, err := records.Get[record.RunItem](ctx, u.Store, store.Strong, record.RunKey(id))
	if err != nil || r == nil {
		return false, err
	}
	if r.Lease != nil && has(r.Lease.Outputs, digest) {
		return true, nil
	}
	awaitsUpload := r.State == record.AwaitingUpload
	return slices.ContainsFunc(r.Files, func(f record.File) bool {
		return f.SHA256 == digest && (awaitsUpload || f.State == record.FileStored)
	}), nil
}

func (u Uploads) datasetExpects(ctx context.Context, h record.Holder, id, digest string) (bool, error) {
	d, err := records.Get[record.DatasetItem](ctx, u.Store, store.Strong, record.DatasetKey(id))
	if err != nil || d == nil {
		return false, err
	}
	switch h {
	case record.HolderInputs:
		return has(d.Inputs, digest), nil
	case record.HolderTruths:
		return has(d.Truths, digest), nil
	default:
		return false, nil
	}
}

func has(files []record.File, digest string) bool {
	return slices.ContainsFunc(files, func(f record.File) bool { return f.SHA256 == digest })
}

func (u Uploads) completeRunFile(ctx context.Context, id, digest string) error {
	r, err := records.Require[record.RunItem](ctx, u.Store, store.Strong, record.RunKey(id), blob.ErrNotFound)
	if err != nil {
		return err
	}
	if r.Lease != nil && has(r.Lease.Outputs, digest) {
		return nil // the worker completes the run after all outputs are stored
	}
	files, changed := record.Stored(r.Files, digest)
	switch {
	case !has(files, digest):
		return blob.ErrNotFound
	case !changed:
		return nil
	case r.State != record.AwaitingUpload:
		return blob.ErrNotFound
	}
	r.Files = files
	if record.AllStored(r.Files) {
		truth, err := records.Get[record.TruthVersion](ctx, u.Store, store.Strong, record.TruthKey(r.DatasetID))
		if err != nil {
			return err
		}
		if err := queue.Enqueue(r, truth, u.Now()); err != nil {
			return err
		}
	}
	return new(records.Tx).Save(r, u.Now()).Commit(ctx, u.Store)
}

func (u Uploads) completeDatasetFile(ctx context.Context, h record.Holder, id, digest string) error {
	d, err := records.Require[record.DatasetItem](ctx, u.Store, store.Strong, record.DatasetKey(id), blob.ErrNotFound)
	if err != nil {
		return err
	}
	files := &d.Inputs
	if h == record.HolderTruths {
		files = &d.Truths
	}
	var changed bool
	*files, changed = record.Stored(*files, digest)
	if !has(*files, digest) {
		return u.checkTruthInUse(ctx, h, id, digest)
	}
	if !changed {
		return nil
	}
	switch {
	case d.Deleting():
	case h == record.HolderInputs:
		d.DescribeTruth(u.Now())
	case record.AllStored(d.Truths):
		d.PendingWork = record.NewPendingWork(record.AcceptTruth, u.Now())
	}
	return new(records.Tx).Save(d, u.Now()).Commit(ctx, u.Store)
}

// checkTruthInUse returns nil if the ground truth in use has the file although the dataset no longer names it. That is the case until
// the dataset's new ground truth is accepted. It returns blob.ErrNotFound if nothing names the file.
func (u Uploads) checkTruthInUse(ctx context.Context, h record.Holder, id, digest string) error {
	if h != record.HolderTruths {
		return blob.ErrNotFound
	}
	truth, err := records.Get[record.TruthVersion](ctx, u.Store, store.Strong, record.TruthKey(id))
	if err == nil && (truth == nil || !has(truth.Files, digest)) {
		return blob.ErrNotFound
	}
	return err
}

// quarter is the unit to which the expiry of links is rounded. So answers with links, and their entity tags, remain equal for a while.
const quarter = 15 * time.Minute

// LinkLife is the lifetime of a link in the words of API descriptions.
const LinkLife = "30 to 45 minutes"

// Links signs links to the files of one caller.
type Links struct {
	Objects  blob.Store
	Now      time.Time
	Download bool // whether the caller may read files that are stored
	Upload   bool // whether the caller may upload files that are pending
}

// Sign returns a copy of the holder's files with the links that the caller may use.
func (l Links) Sign(ctx context.Context, h record.Holder, id string, files []record.File) ([]record.File, error) {
	expires := l.Now.Truncate(quarter).Add(3 * quarter)
	signed := make([]record.File, len(files))
	for i, f := range files {
		signed[i] = f
		key := record.ObjectKey(h, id, f.SHA256)
		switch {
		case l.Download && f.State == record.FileStored:
			link, err := l.Objects.SignGet(ctx, key, f.Name, f.MediaType, expires)
			if err != nil {
				return nil, err
			}
			signed[i].URL = link.URL
		case l.Upload && f.State == record.FilePending:
			link, err := l.Objects.SignPut(ctx, blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}, expires)
			if err != nil {
				return nil, err
			}
			if link.URL == "" { // previews sign no links
				continue
			}
			signed[i].Upload = &record.Upload{Method: link.Method, URL: link.URL, Headers: link.Headers, ExpiresAt: record.At(link.ExpiresAt)}
		}
	}
	return signed, nil
}
