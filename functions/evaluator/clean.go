package evaluator

import (
	"context"
	"errors"
	"slices"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// DeleteAbandonedFiles deletes the files that no record names: of requests that failed, and of what was deleted or replaced. It also
// completes uploads whose notification was lost.
func (w *Worker) DeleteAbandonedFiles(ctx context.Context) error {
	var keys []string
	for key, err := range w.Files.List(ctx, "", w.Now().Add(-record.AbandonedAfter)) {
		if err != nil {
			return err
		}
		if keys = append(keys, key); len(keys) == store.MaxKeys/2 {
			if err := w.deleteAbandoned(ctx, keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
	}
	return w.deleteAbandoned(ctx, keys)
}

// DeleteExpiredResults deletes the results of tools whose links have expired.
func (w *Worker) DeleteExpiredResults(ctx context.Context) error {
	var keys []string
	for key, err := range w.Files.List(ctx, string(record.HolderTools)+"/", w.Now().Add(-record.ResultLinkTime)) {
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	return w.Files.Delete(ctx, keys...)
}

// deleteAbandoned deletes those of the files that no record names. It ignores keys that are not of files of records.
func (w *Worker) deleteAbandoned(ctx context.Context, keys []string) error {
	var parsed, abandoned []string
	var named []store.Key // two for each parsed key
	for _, key := range keys {
		h, id, _, ok := record.ParseObjectKey(key)
		if !ok {
			continue
		}
		switch h {
		case record.HolderTools: // which DeleteExpiredResults or, on S3, a rule of the bucket deletes
			continue
		case record.HolderRuns, record.HolderLogs:
			named = append(named, record.RunKey(id), record.RunKey(id))
		case record.HolderEvaluations:
			named = append(named, record.TopicsKey(id), record.TopicsKey(id))
		case record.HolderInputs, record.HolderTruths:
			named = append(named, record.DatasetKey(id), record.TruthKey(id))
		}
		parsed = append(parsed, key)
	}
	items, err := w.Store.Get(ctx, store.Strong, named...)
	if err != nil {
		return records.Failed(err)
	}
	for i, key := range parsed {
		named, pending, err := references(key, items[2*i], items[2*i+1])
		if err != nil {
			return err
		}
		if !named {
			abandoned = append(abandoned, key)
			continue
		}
		if pending { // the notification of its upload was lost
			if err := w.uploads().Complete(ctx, key); err != nil && !errors.Is(err, blob.ErrNotFound) {
				return err
			}
		}
	}
	if len(abandoned) == 0 {
		return nil
	}
	w.Log.InfoContext(ctx, "abandoned files deleted", "keys", abandoned)
	return w.Files.Delete(ctx, abandoned...)
}

// references reports whether one of the items, which are those of the key's record, names the file of the key, and whether the record
// still waits for its upload.
func references(key string, one, other store.Item) (named, pending bool, err error) {
	h, _, sha256, _ := record.ParseObjectKey(key)
	var files, stored []record.File // of a record, and of what it refers to
	switch h {
	case record.HolderRuns, record.HolderLogs:
		run, err := records.Decode[record.RunItem](one)
		if err != nil || run == nil {
			return false, false, err
		}
		if h == record.HolderLogs {
			return slices.Contains(run.ObjectKeys(), key), false, nil
		}
		files = run.Files
		if run.Lease != nil {
			stored = run.Lease.Outputs
		}
	case record.HolderEvaluations:
		topics, err := records.Decode[record.Topics](one)
		return topics != nil && topics.ObjectKey == key, false, err
	default:
		dataset, err := records.Decode[record.DatasetItem](one)
		if err != nil {
			return false, false, err
		}
		truth, err := records.Decode[record.Truth](other)
		if err != nil {
			return false, false, err
		}
		if dataset != nil {
			files = slices.Concat(dataset.Inputs, dataset.Truths)
		}
		if truth != nil {
			stored = truth.Files
		}
	}
	is := func(f record.File) bool { return f.SHA256 == sha256 }
	pending = slices.ContainsFunc(files, func(f record.File) bool { return is(f) && f.State == record.FilePending })
	return slices.ContainsFunc(files, is) || slices.ContainsFunc(stored, is), pending, nil
}
