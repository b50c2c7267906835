// Package runlog stores the logs of runs. While a run is worked on, its lines are chunks in the table. The transaction that writes a
// chunk checks the worker's lease, so that only the holder appends lines, each once. After the run has ended, its logs are sealed:
// they become text files, and the chunks are deleted.
//
// record.RunItem.ReadsLog decides who may read a log.
package runlog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/wait"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Append adds lines to the end of a log in tx, and counts them in the run. The transaction must also replace the run. Lines get the
// instant now. Too long lines are cut. Lines beyond the limit of a log are only counted, and shown in its tail.
func Append(tx *records.Tx, run *record.RunItem, k record.LogKind, lines []record.LogLine, now time.Time) {
	if len(lines) == 0 {
		return
	}
	state, tail, _ := run.Log(k)
	at := record.At(now)
	clean := lists.Map(lines, func(l record.LogLine) record.LogLine {
		return record.LogLine{At: at, Stream: l.Stream, Text: line(l.Text)}
	})
	*tail = record.Tailed(*tail, clean)
	record.Touch(run, now)
	kept := clean
	for i, l := range clean {
		if state.Dropped > 0 || state.Bytes+int64(len(l.Text)) > record.MaxLogBytes {
			kept = clean[:i]
			if state.Dropped == 0 {
				kept = append(kept[:i:i], record.LogLine{At: at, Stream: record.StreamWorker, Text: fmt.Sprintf(
					"The log has reached its limit of %d MiB. What comes after this line is not kept, except its end.", record.MaxLogBytes>>20)})
			}
			state.Dropped += int64(len(clean) - i)
			break
		}
		state.Bytes += int64(len(l.Text))
	}
	for _, c := range record.Chunks(now, run.ID, k, state.Lines, kept) {
		tx.Create(c)
	}
	state.Lines += int64(len(kept))
}

// line converts a text to one line of valid UTF-8 with at most record.MaxLineBytes.
func line(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\n", " ")
	if len(text) <= record.MaxLineBytes {
		return text
	}
	text = text[:record.MaxLineBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// pageChunks is how many chunks are read at once.
const pageChunks = 5

// Logs reads and seals the logs of runs.
type Logs struct {
	Store store.Store
	Files blob.Store
}

// log is one log of a run.
type log struct {
	Logs
	run  *record.RunItem
	kind record.LogKind
}

// Pauses before Lines reads again, while a line that the run counts is not visible.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// Lines yields the lines of a run's log from the number on, in order. It yields all lines that the run counts, and possibly lines that
// were written since the run was read.
//
// While DynamoDB applies a transaction, a reader can see the changed run before the lines. Lines then waits for them, and fails if they
// do not become visible. It yields fewer lines without an error only if the run was deleted.
func (s Logs) Lines(ctx context.Context, run *record.RunItem, k record.LogKind, number int64) iter.Seq2[record.LogLine, error] {
	return func(yield func(record.LogLine, error) bool) {
		l := log{s, run, k}
		state, _, _ := run.Log(k)
		next := number
		for pause := firstPause; ; pause *= 2 {
			var err error
			next, err = l.visible(ctx, next, yield)
			again := err == nil && next >= 0 && next < state.Lines
			if again {
				again, err = l.await(ctx, next, pause)
			}
			if err != nil {
				yield(record.LogLine{}, err)
			}
			if !again {
				return
			}
		}
	}
}

// visible yields the lines that can be read now. It returns the same as chunks.
func (l log) visible(ctx context.Context, next int64, yield func(record.LogLine, error) bool) (_ int64, err error) {
	state, _, _ := l.run.Log(l.kind)
	if next < state.Sealed {
		next, err = l.sealed(ctx, next, yield)
	}
	if next >= 0 && err == nil {
		next, err = l.chunks(ctx, next, yield)
	}
	if next >= 0 && err == nil && next < state.Lines { // the log was sealed since the run was read
		next, err = l.sealed(ctx, next, yield)
	}
	return next, err
}

// await pauses before the next read of the line. It returns false without an error if the run was deleted.
func (l log) await(ctx context.Context, line int64, pause time.Duration) (bool, error) {
	run, err := records.Get[record.RunItem](ctx, l.Store, store.Strong, record.RunKey(l.run.ID))
	switch {
	case err != nil || run == nil:
		return false, err
	case pause > longestPause:
		return false, fmt.Errorf("runlog: the %s log of run %s misses line %d", l.kind, run.ID, line)
	case !wait.Sleep(ctx, pause):
		return false, records.Failed(context.Cause(ctx))
	}
	return true, nil
}

// chunks yields the lines in the table. It may stop after the lines that the run counts. It returns the number of the line after them,
// or -1 if yield returned false.
func (l log) chunks(ctx context.Context, next int64, yield func(record.LogLine, error) bool) (int64, error) {
	take := func(c *record.LogChunk) (more bool) {
		for _, line := range c.Lines[next-c.First:] {
			if !yield(line, nil) {
				next = -1
				return false
			}
		}
		next = c.First + int64(len(c.Lines))
		return true
	}
	state, _, _ := l.run.Log(l.kind)
	first, err := l.chunkWith(ctx, next)
	if err != nil || first == nil || !take(first) || next >= state.Lines {
		return next, err
	}
	q := store.Query{
		Partition: first.Key().Partition, From: record.LogKey(l.run.ID, l.kind, next).Sort, To: record.LogEnd(l.kind), Limit: pageChunks,
		Consistency: store.Strong,
	}
	for it, err := range records.Items(ctx, l.Store, q) {
		if err != nil {
			return next, err
		}
		c, err := records.Decode[record.LogChunk](it)
		if err != nil || c.First > next || !take(c) { // chunks in between may have been deleted meanwhile
			return next, err
		}
	}
	return next, nil
}

// chunkWith returns the chunk with the line of the number, or nil if none exists.
func (l log) chunkWith(ctx context.Context, line int64) (*record.LogChunk, error) {
	found, err := records.Query[record.LogChunk](ctx, l.Store, store.Query{
		Partition: record.RunKey(l.run.ID).Partition, From: record.LogKey(l.run.ID, l.kind, 0).Sort,
		To:         record.LogKey(l.run.ID, l.kind, line).Sort,
		Descending: true, Limit: 1, Consistency: store.Strong,
	})
	if err != nil || len(found) == 0 || line >= found[0].First+int64(len(found[0].Lines)) {
		return nil, err
	}
	return found[0], nil
}

// sealed yields the lines in the file of the log. It returns the same as chunks.
func (l log) sealed(ctx context.Context, number int64, yield func(record.LogLine, error) bool) (int64, error) {
	f, err := l.open(ctx)
	if err != nil || f == nil {
		return number, err
	}
	defer func() { _ = f.Close() }() // f was only read
	lines := bufio.NewReader(f)
	for n := int64(0); ; n++ {
		text, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return max(n, number), nil
		}
		var line record.LogLine
		if err == nil && n >= number {
			line, err = parse(strings.TrimSuffix(text, "\n"))
		}
		if err != nil {
			return n, fmt.Errorf("runlog: line %d of the %s log of run %s: %w", n, l.kind, l.run.ID, err)
		}
		if n >= number && !yield(line, nil) {
			return -1, nil
		}
	}
}

// open opens the present file of the run's log. It returns nil if the run has no such file, or was deleted. If the log was sealed again
// meanwhile, which replaces the file, open reads the run again.
func (l log) open(ctx context.Context) (io.ReadCloser, error) {
	var version int64
	for {
		run, err := records.Get[record.RunItem](ctx, l.Store, store.Strong, record.RunKey(l.run.ID))
		if err != nil || run == nil || run.Version == version {
			return nil, err
		}
		_, _, file := run.Log(l.kind)
		if *file == nil {
			return nil, nil
		}
		f, err := l.Files.Open(ctx, record.ObjectKey(record.HolderLogs, run.ID, (*file).SHA256))
		if !errors.Is(err, blob.ErrNotFound) {
			return f, err
		}
		version = run.Version
	}
}

// format returns a line's text in the file: time, stream and text.
func format(l record.LogLine) string { return fmt.Sprintf("%s %s %s\n", l.At, l.Stream, l.Text) }

// parse is the inverse of format.
func parse(text string) (record.LogLine, error) {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) < 3 {
		return record.LogLine{}, fmt.Errorf("%.80q is no line of a log", text)
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	return record.LogLine{At: record.At(at), Stream: parts[1], Text: parts[2]}, err
}

// mediaType is the media type of log files.
const mediaType = "text/plain; charset=utf-8"

// Seal writes the logs of a run that has ended to files, and then deletes the chunks. It may be called repeatedly. It does nothing for
// a run that has not ended, or was deleted.
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
			*file = f
			state.Sealed = state.Lines
			sealed = true
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

// seal stores the new file of the log: its earlier file followed by the chunks.
func (l log) seal(ctx context.Context) (*record.File, error) {
	state, _, file := l.run.Log(l.kind)
	var all bytes.Buffer
	if *file != nil {
		if err := l.copyFile(ctx, &all, record.ObjectKey(record.HolderLogs, l.run.ID, (*file).SHA256)); err != nil {
			return nil, err
		}
	}
	next, err := l.chunks(ctx, state.Sealed, func(line record.LogLine, _ error) bool {
		all.WriteString(format(line))
		return true
	})
	if err != nil {
		return nil, err
	}
	if next < state.Lines {
		return nil, fmt.Errorf("runlog: the %s log of run %s misses line %d of %d", l.kind, l.run.ID, next, state.Lines)
	}
	f := &record.File{Name: string(l.kind) + ".log", Size: int64(all.Len()), SHA256: fmt.Sprintf("%x", sha256.Sum256(all.Bytes())),
		MediaType: mediaType, State: record.FileStored}
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
