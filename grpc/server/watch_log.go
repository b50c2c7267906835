package server

import (
	"context"
	"fmt"
	"iter"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/visibility"
	"assay/shared/wait"
)

// Limits of a message: clients take 4 MiB unless they say otherwise.
const (
	batchLines = 500
	batchBytes = 256 << 10
)

// batch is the lines of a message.
type batch struct {
	lines []numbered
	bytes int
	full  bool
}

// add reports whether there was room for the line.
func (b *batch) add(l numbered) bool {
	n := lineBytes(l.LogLine)
	if b.full || len(b.lines) == batchLines || len(b.lines) > 0 && b.bytes+n > batchBytes {
		b.full = true
		return false
	}
	b.lines, b.bytes = append(b.lines, l), b.bytes+n
	return true
}

// older is the lines of a log, on their way from the store to a watcher who is further behind than what the topic keeps.
type older struct {
	next func() (record.LogLine, error, bool)
	stop func()
	held *record.LogLine // the next line, which a message had no room for
}

// read adds to the batch the lines of a log from the number on, up to the one of the number until, as many as it takes. It
// returns the number behind them.
func (w *watcher) read(ctx context.Context, log int, run *record.RunItem, from, until int64, b *batch) (int64, error) {
	o := &w.older[log]
	pause := firstPause
	for from < until && !b.full {
		next, err := w.readOn(ctx, log, run, from, until, b)
		if err != nil {
			return from, err
		}
		if next > from {
			from, pause = next, firstPause
			continue
		}
		if o.next == nil && !b.full {
			if err := w.await(ctx, record.LogKinds[log], from, pause); err != nil {
				return from, err
			}
			pause *= 2
		}
	}
	if from == until {
		o.end()
	}
	return from, nil
}

// readOn does a step of read: it takes lines from the topic or, when that has them no more, from the store. When it returns
// from, there were none, or no room.
func (w *watcher) readOn(ctx context.Context, log int, run *record.RunItem, from, until int64, b *batch) (int64, error) {
	o := &w.older[log]
	if o.next == nil {
		next, found, err := w.topic.logs[log].read(ctx, run, from, until, b)
		if err != nil || found {
			return next, err
		}
		o.next, o.stop = iter.Pull2(runlog.From(ctx, w.hub.store, w.hub.files, run, record.LogKinds[log], from))
	}
	for from < until {
		l, more, err := o.take()
		if err != nil {
			return from, err
		}
		if !more {
			o.end()
			break
		}
		if !b.add(numbered{l, record.LogKinds[log], from}) {
			o.held = &l
			break
		}
		from++
	}
	return from, nil
}

// Pauses before a line that the run counts, and that is not there, is looked for again.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = time.Second
)

// await waits for a line that the run counts and that is not there. While DynamoDB applies a transaction, who reads may see
// the run changed, and the lines not yet. Otherwise the run is no more, or there is a fault.
func (w *watcher) await(ctx context.Context, k record.LogKind, line int64, pause time.Duration) error {
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

// take returns the next line, if there are more.
func (o *older) take() (record.LogLine, bool, error) {
	if o.held != nil {
		l := *o.held
		o.held = nil
		return l, true, nil
	}
	l, err, more := o.next()
	return l, more, err
}

// end lets go of what is read.
func (o *older) end() {
	if o.next != nil {
		o.stop()
		*o = older{}
	}
}

// rest lets go of all that is read.
func (w *watcher) rest() {
	for i := range w.older {
		w.older[i].end()
	}
}
