package runlog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// mediaType is what the file of a whole log is.
const mediaType = "text/plain; charset=utf-8"

// Seal makes files of the logs of a run that has ended, and then deletes the chunks. It may be called again at any time; a
// run that has not ended, or is no more, stays as it is.
func Seal(ctx context.Context, s store.Store, files blob.Store, now time.Time, runID string) error {
	var run *record.RunItem
	var before []string // files that have become part of others
	err := records.Retry(ctx, func() (err error) {
		before = nil
		run, err = records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(runID))
		if err != nil || run == nil || !run.State.Ended() {
			return err
		}
		sealed := false
		for _, k := range record.LogKinds {
			state, _, whole := run.Log(k)
			if state.Lines == state.Sealed {
				continue
			}
			f, err := seal(ctx, s, files, run, k)
			if err != nil {
				return err
			}
			if *whole != nil && (*whole).SHA256 != f.SHA256 {
				before = append(before, record.ObjectKey(record.HolderLogs, runID, (*whole).SHA256))
			}
			*whole, state.Sealed, sealed = f, state.Lines, true
		}
		if !sealed {
			return nil
		}
		return new(records.Tx).Save(run, now).Commit(ctx, s)
	})
	if err != nil || run == nil {
		return err
	}
	// Logs with the same bytes are the same file.
	before = slices.DeleteFunc(before, func(key string) bool { return slices.Contains(run.ObjectKeys(), key) })
	if err := files.Delete(ctx, before...); err != nil {
		return fmt.Errorf("runlog: delete earlier logs of run %s: %w", runID, err)
	}
	for _, k := range record.LogKinds {
		if err := forget(ctx, s, run, k); err != nil {
			return err
		}
	}
	return nil
}

// seal stores the file of a whole log: that which there is, and the chunks behind it.
func seal(ctx context.Context, s store.Store, files blob.Store, run *record.RunItem, k record.LogKind) (*record.File, error) {
	state, _, whole := run.Log(k)
	var all bytes.Buffer
	if *whole != nil {
		if err := copyOf(ctx, files, &all, record.ObjectKey(record.HolderLogs, run.ID, (*whole).SHA256)); err != nil {
			return nil, err
		}
	}
	var failed error
	next, err := chunks(ctx, s, run.ID, k, state.Sealed, func(l record.LogLine, _ error) bool {
		failed = format(&all, l)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	if next < state.Lines {
		return nil, fmt.Errorf("runlog: the %s log of run %s misses line %d of %d", k, run.ID, next, state.Lines)
	}
	sum := sha256.Sum256(all.Bytes())
	f := &record.File{Name: string(k) + ".log", Size: int64(all.Len()), SHA256: hex.EncodeToString(sum[:]), MediaType: mediaType, State: record.FileStored}
	o := blob.Object{Key: record.ObjectKey(record.HolderLogs, run.ID, f.SHA256), Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
	return f, files.Put(ctx, o, &all)
}

func copyOf(ctx context.Context, files blob.Store, to io.Writer, key string) (err error) {
	f, err := files.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("runlog: open %s: %w", key, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(to, f)
	return err
}

// forget deletes the chunks of a log that stand in its file.
func forget(ctx context.Context, s store.Store, run *record.RunItem, k record.LogKind) error {
	state, _, _ := run.Log(k)
	if state.Sealed == 0 {
		return nil
	}
	q := store.Query{Partition: record.RunKey(run.ID).Partition, From: record.LogKey(run.ID, k, 0).Sort, To: record.LogKey(run.ID, k, state.Sealed-1).Sort, Limit: chunksAtOnce}
	d := records.Deletions{Store: s}
	return errors.Join(d.AddFound(ctx, q), d.Commit(ctx))
}
