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

// Clean deletes the files that no record names any more: of requests that failed, and of what was deleted or replaced. It tells records that still wait for a file which is there.
func (w *Worker) Clean(ctx context.Context) error {
	var keys []string
	for key, err := range w.Files.List(ctx, "", w.Now().Add(-record.AbandonedAfter)) {
		if err != nil {
			return err
		}
		if keys = append(keys, key); len(keys) == store.MaxKeys/2 {
			if err := w.clean(ctx, keys); err != nil {
				return err
			}
			keys = keys[:0]
		}
	}
	return w.clean(ctx, keys)
}

// CleanResults deletes the results of tools whose links have ended.
func (w *Worker) CleanResults(ctx context.Context) error {
	var keys []string
	for key, err := range w.Files.List(ctx, string(record.HolderTools)+"/", w.Now().Add(-record.ResultLinkTime)) {
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	return w.Files.Delete(ctx, keys...)
}

// clean deletes those of the files that no record names. Keys that are not of files of records are left alone.
func (w *Worker) clean(ctx context.Context, keys []string) error {
	var parsed, abandoned []string
	var named []store.Key // two for each parsed key
	for _, key := range keys {
		h, id, _, ok := record.ParseObjectKey(key)
		if !ok {
			continue
		}
		switch h {
		case record.HolderTools: // which CleanResults or, on S3, a rule of the bucket deletes
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
		named, err := names(key, items[2*i], items[2*i+1])
		if err != nil {
			return err
		}
		if !named {
			abandoned = append(abandoned, key)
			continue
		}
		if awaited(key, items[2*i]) { // the word that it has arrived was lost
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

// names reports whether one of the items, which are those of the key's record, names the file of the key.
func names(key string, one, other store.Item) (bool, error) {
	h, _, sha256, _ := record.ParseObjectKey(key)
	has := func(files []record.File) bool {
		return slices.ContainsFunc(files, func(f record.File) bool { return f.SHA256 == sha256 })
	}
	switch h {
	case record.HolderRuns:
		run, err := records.Decode[record.RunItem](one)
		return run != nil && (has(run.Files) || run.Lease != nil && has(run.Lease.Outputs)), err
	case record.HolderLogs:
		run, err := records.Decode[record.RunItem](one)
		return run != nil && slices.Contains(run.ObjectKeys(), key), err
	case record.HolderEvaluations:
		topics, err := records.Decode[record.Topics](one)
		return topics != nil && topics.ObjectKey == key, err
	default:
		dataset, err := records.Decode[record.DatasetItem](one)
		if err != nil || dataset != nil && (has(dataset.Inputs) || has(dataset.Truths)) {
			return true, err
		}
		truth, err := records.Decode[record.Truth](other)
		return truth != nil && has(truth.Files), err
	}
}

// awaited reports whether the item, which is the key's record, still waits for the file of the key.
func awaited(key string, it store.Item) bool {
	h, _, sha256, _ := record.ParseObjectKey(key)
	waits := func(files []record.File) bool {
		return slices.ContainsFunc(files, func(f record.File) bool { return f.SHA256 == sha256 && f.State == record.FilePending })
	}
	switch h {
	case record.HolderRuns:
		run, err := records.Decode[record.RunItem](it)
		return err == nil && run != nil && waits(run.Files)
	case record.HolderInputs, record.HolderTruths:
		dataset, err := records.Decode[record.DatasetItem](it)
		return err == nil && dataset != nil && (waits(dataset.Inputs) || waits(dataset.Truths))
	default:
		return false
	}
}
