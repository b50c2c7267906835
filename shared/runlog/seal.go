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

// mediaType is that of the file of a log.
const mediaType = "text/plain; charset=utf-8"

// Seal writes the logs of a run that has ended to files, and then deletes the chunks. It may be called again at any time; a run that
// has not ended, or was deleted, stays as it is.
func (s Logs) Seal(ctx context.Context, now time.Time, runID string) error {
	var run *record.RunItem
	var replaced []string // keys of files
	err := records.Retry(ctx, func() (err error) {
		replaced = nil
		run, err = records.Get[record.RunItem](ctx, s.Store, store.Strong, record.RunKey(runID))
		if err != nil || run == nil || !run.State.Ended() {
			return err
		}
		sealed := false
		for _, k := range record.LogKinds {
			state, _, file := run.Log(k)
			if state.Lines == state.Sealed {
				continue
			}
			f, err := log{s, run, k}.seal(ctx)
			if err != nil {
				return err
			}
			if *file != nil && (*file).SHA256 != f.SHA256 {
				replaced = append(replaced, record.ObjectKey(record.HolderLogs, runID, (*file).SHA256))
			}
			*file, state.Sealed, sealed = f, state.Lines, true
		}
		if !sealed {
			return nil
		}
		return new(records.Tx).Save(run, now).Commit(ctx, s.Store)
	})
	if err != nil || run == nil {
		return err
	}
	// Logs with the same bytes are the same file.
	replaced = slices.DeleteFunc(replaced, func(key string) bool { return slices.Contains(run.ObjectKeys(), key) })
	if err := s.Files.Delete(ctx, replaced...); err != nil {
		return fmt.Errorf("runlog: delete earlier logs of run %s: %w", runID, err)
	}
	for _, k := range record.LogKinds {
		if err := (log{s, run, k}).deleteChunks(ctx); err != nil {
			return err
		}
	}
	return nil
}

// seal stores the file of the log: its earlier file, and the chunks that follow.
func (l log) seal(ctx context.Context) (*record.File, error) {
	state, _, file := l.run.Log(l.kind)
	var all bytes.Buffer
	if *file != nil {
		if err := l.copyFile(ctx, &all, record.ObjectKey(record.HolderLogs, l.run.ID, (*file).SHA256)); err != nil {
			return nil, err
		}
	}
	var failed error
	next, err := l.chunks(ctx, state.Sealed, func(line record.LogLine, _ error) bool {
		failed = format(&all, line)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	if next < state.Lines {
		return nil, fmt.Errorf("runlog: the %s log of run %s misses line %d of %d", l.kind, l.run.ID, next, state.Lines)
	}
	sum := sha256.Sum256(all.Bytes())
	f := &record.File{Name: string(l.kind) + ".log", Size: int64(all.Len()), SHA256: hex.EncodeToString(sum[:]), MediaType: mediaType,
		State: record.FileStored}
	o := blob.Object{Key: record.ObjectKey(record.HolderLogs, l.run.ID, f.SHA256), Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
	return f, l.Files.Put(ctx, o, &all)
}

func (s Logs) copyFile(ctx context.Context, to io.Writer, key string) (err error) {
	f, err := s.Files.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("runlog: open %s: %w", key, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(to, f)
	return err
}

// deleteChunks deletes the chunks whose lines are in the file of the log.
func (l log) deleteChunks(ctx context.Context) error {
	state, _, _ := l.run.Log(l.kind)
	if state.Sealed == 0 {
		return nil
	}
	q := store.Query{
		Partition: record.RunKey(l.run.ID).Partition, From: record.LogKey(l.run.ID, l.kind, 0).Sort,
		To: record.LogKey(l.run.ID, l.kind, state.Sealed-1).Sort, Limit: pageChunks,
	}
	d := records.Deletions{Store: l.Store}
	return errors.Join(d.AddFound(ctx, q), d.Commit(ctx))
}
