package runlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

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

// Lines yields the lines of a run's log from the number on, in order, as many as there are now. The run must have been read
// recently; lines that came since may be among them.
func (s Logs) Lines(ctx context.Context, run *record.RunItem, k record.LogKind, number int64) iter.Seq2[record.LogLine, error] {
	return func(yield func(record.LogLine, error) bool) {
		l := log{s, run, k}
		state, _, _ := run.Log(k)
		next := number
		var err error
		if next < state.Sealed {
			next, err = l.sealed(ctx, next, yield)
		}
		if next >= 0 && err == nil {
			next, err = l.chunks(ctx, next, yield)
		}
		if next >= 0 && err == nil && next < state.Lines { // the log was sealed since the run was read
			_, err = l.sealed(ctx, next, yield)
		}
		if err != nil {
			yield(record.LogLine{}, err)
		}
	}
}

// chunks yields the lines that are in the table. It returns the number of the line after them, or -1 when yield wants no more.
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
	first, err := l.chunkWith(ctx, next)
	if err != nil || first == nil || !take(first) {
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
		if err != nil || c.First > next || !take(c) { // those in between may have been deleted just now
			return next, err
		}
	}
	return next, nil
}

// chunkWith returns the chunk that has the line of the number; nil when there is none.
func (l log) chunkWith(ctx context.Context, line int64) (*record.LogChunk, error) {
	found, err := l.Store.Query(ctx, store.Query{
		Partition: record.RunKey(l.run.ID).Partition, From: record.LogKey(l.run.ID, l.kind, 0).Sort,
		To:         record.LogKey(l.run.ID, l.kind, line).Sort,
		Descending: true, Limit: 1, Consistency: store.Strong,
	})
	if err != nil || len(found) == 0 {
		return nil, records.Failed(err)
	}
	c, err := records.Decode[record.LogChunk](found[0])
	if err != nil || line >= c.First+int64(len(c.Lines)) {
		return nil, err
	}
	return c, nil
}

// sealed yields the lines that are in the file of the log. It returns what chunks does.
func (l log) sealed(ctx context.Context, number int64, yield func(record.LogLine, error) bool) (int64, error) {
	f, err := l.open(ctx)
	if err != nil || f == nil {
		return number, err
	}
	defer func() { _ = f.Close() }() // it was only read
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

// open opens the file of the log that the run has now; nil when it has none, or was deleted. When the log was sealed again
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

// format writes a line as it is in the file: time, stream and text.
func format(w io.Writer, l record.LogLine) error {
	_, err := fmt.Fprintf(w, "%s %s %s\n", l.At, l.Stream, l.Text)
	return err
}

// parse reads what format wrote.
func parse(text string) (record.LogLine, error) {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) < 3 {
		return record.LogLine{}, fmt.Errorf("%.80q is no line of a log", text)
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	return record.LogLine{At: record.At(at), Stream: parts[1], Text: parts[2]}, err
}
