package server

import (
	"context"
	"fmt"
	"iter"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
	"assay/shared/wait"
)

// Limits of a message: clients take 4 MiB unless they say otherwise. The last line may exceed the bytes.
const (
	maxBatchLines = 500
	maxBatchBytes = 256 << 10
)

// lineBatch is the lines of a message.
type lineBatch struct {
	lines []numberedLine
	bytes int
}

func (b *lineBatch) full() bool { return len(b.lines) >= maxBatchLines || b.bytes >= maxBatchBytes }

func (b *lineBatch) add(l numberedLine) {
	b.lines, b.bytes = append(b.lines, l), b.bytes+lineBytes(l.LogLine)
}

// storedLines iterates over the lines of a log in the store, for a watcher that is further behind than what the topic keeps.
type storedLines struct {
	next func() (record.LogLine, error, bool)
	stop func()
}

func (s *storedLines) close() {
	if s.next != nil {
		s.stop()
		*s = storedLines{}
	}
}

// closeLogs closes the iterators over stored lines.
func (w *watcher) closeLogs() {
	for i := range w.stored {
		w.stored[i].close()
	}
}

// readLines adds lines of a log to the batch until it is full: those with numbers from `from` up to, and without, `until`, which
// the run has. It returns the number of the line after them.
func (w *watcher) readLines(ctx context.Context, log int, run *record.RunItem, from, until int64, b *lineBatch) (int64, error) {
	for pause := firstPause; from < until && !b.full(); {
		next, err := w.readStep(ctx, log, run, from, until, b)
		if err != nil {
			return from, err
		}
		if next > from {
			from, pause = next, firstPause
			continue
		}
		if err := w.awaitLine(ctx, record.LogKinds[log], from, pause); err != nil {
			return from, err
		}
		pause *= 2
	}
	if from == until {
		w.stored[log].close()
	}
	return from, nil
}

// readStep is one step of readLines: it reads lines from the topic or, when the topic no longer keeps them, from the store. When it
// returns `from`, the line is in neither.
func (w *watcher) readStep(ctx context.Context, log int, run *record.RunItem, from, until int64, b *lineBatch) (int64, error) {
	s := &w.stored[log]
	if s.next == nil {
		next, found, err := w.topic.logs[log].read(ctx, run, from, until, b)
		if err != nil || found {
			return next, err
		}
		s.next, s.stop = iter.Pull2(w.hub.logs().Lines(ctx, run, record.LogKinds[log], from))
	}
	for from < until && !b.full() {
		l, err, more := s.next()
		if err != nil {
			return from, err
		}
		if !more {
			s.close()
			break
		}
		b.add(numberedLine{l, record.LogKinds[log], from})
		from++
	}
	return from, nil
}

// Pauses before another look for a line that the run counts and that is not there.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// awaitLine waits for a line that the run counts and that is not there: while DynamoDB applies a transaction, a reader may see the
// changed run before the lines. It fails when the run was deleted, or when the line does not appear.
func (w *watcher) awaitLine(ctx context.Context, k record.LogKind, line int64, pause time.Duration) error {
	run, err := records.Get[record.RunItem](ctx, w.hub.store, store.Strong, w.topic.key)
	if err != nil {
		return err
	}
	if run == nil {
		return visibility.Missing
	}
	if pause > longestPause {
		return fmt.Errorf("grpc: the %s log of run %s misses line %d", k, run.ID, line)
	}
	if !wait.Sleep(ctx, pause) {
		return context.Cause(ctx)
	}
	return nil
}
