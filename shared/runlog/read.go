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

// chunksAtOnce is how many chunks are read at once.
const chunksAtOnce = 5

// From yields the lines of a run's log from the one of the number on, in order, as many as there are now. The run must be
// as read not long ago; lines that came since may be among them.
func From(ctx context.Context, s store.Store, files blob.Store, run *record.RunItem, k record.LogKind, number int64) iter.Seq2[record.LogLine, error] {
	return func(yield func(record.LogLine, error) bool) {
		state, _, _ := run.Log(k)
		next := number
		var err error
		if next < state.Sealed {
			next, err = sealed(ctx, s, files, run, k, next, yield)
		}
		if next >= 0 && err == nil {
			next, err = chunks(ctx, s, run.ID, k, next, yield)
		}
		if next >= 0 && err == nil && next < state.Lines { // the log was sealed since the run was read
			_, err = sealed(ctx, s, files, run, k, next, yield)
		}
		if err != nil {
			yield(record.LogLine{}, err)
		}
	}
}

// chunks yields what is in the table. It returns the number of the line behind that, or -1 when yield wants no more.
func chunks(ctx context.Context, s store.Store, runID string, k record.LogKind, next int64, yield func(record.LogLine, error) bool) (int64, error) {
	take := func(c *record.LogChunk) (more bool) {
		for _, l := range c.Lines[next-c.First:] {
			if !yield(l, nil) {
				next = -1
				return false
			}
		}
		next = c.First + int64(len(c.Lines))
		return true
	}
	first, err := holding(ctx, s, runID, k, next)
	if err != nil || first == nil || !take(first) {
		return next, err
	}
	q := store.Query{Partition: first.Key().Partition, From: record.LogKey(runID, k, next).Sort, To: record.LogEnd(k), Limit: chunksAtOnce, Consistency: store.Strong}
	for it, err := range records.Items(ctx, s, q) {
		if err != nil {
			return next, err
		}
		c, err := records.Decode[record.LogChunk](it)
		if err != nil || c.First > next || !take(c) { // those between may have just gone
			return next, err
		}
	}
	return next, nil
}

// holding returns the chunk that has the line of the number; nil when there is none.
func holding(ctx context.Context, s store.Store, runID string, k record.LogKind, line int64) (*record.LogChunk, error) {
	found, err := s.Query(ctx, store.Query{
		Partition: record.RunKey(runID).Partition, From: record.LogKey(runID, k, 0).Sort, To: record.LogKey(runID, k, line).Sort,
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

// sealed yields what is in the file of the whole log. It returns what chunks does.
func sealed(ctx context.Context, s store.Store, files blob.Store, run *record.RunItem, k record.LogKind, number int64, yield func(record.LogLine, error) bool) (int64, error) {
	f, err := open(ctx, s, files, run, k)
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
		var l record.LogLine
		if err == nil && n >= number {
			l, err = parse(strings.TrimSuffix(text, "\n"))
		}
		if err != nil {
			return n, fmt.Errorf("runlog: line %d of the %s log of run %s: %w", n, k, run.ID, err)
		}
		if n >= number && !yield(l, nil) {
			return -1, nil
		}
	}
}

// open opens the file of the whole log as the run has it now; nil when it has none, or is no more. A run that is sealed anew
// gets another file, and the one before goes: then the run is read again.
func open(ctx context.Context, s store.Store, files blob.Store, run *record.RunItem, k record.LogKind) (io.ReadCloser, error) {
	for {
		run, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(run.ID))
		if err != nil || run == nil {
			return nil, err
		}
		_, _, whole := run.Log(k)
		if *whole == nil {
			return nil, nil
		}
		f, err := files.Open(ctx, record.ObjectKey(record.HolderLogs, run.ID, (*whole).SHA256))
		if !errors.Is(err, blob.ErrNotFound) {
			return f, err
		}
		if again, err := records.Get[record.RunItem](ctx, s, store.Strong, record.RunKey(run.ID)); err != nil || again == nil || again.Version == run.Version {
			return nil, err
		}
	}
}

// format writes a line as it stands in the file: when, where, what.
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
