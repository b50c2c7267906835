// Package due does work on records once it is due, such as sending an e-mail or queueing a run again whose lease has expired. The package
// knows neither the records nor the work.
//
// A record with such work has an entry in the index record.ByWork, under the time from which on the work is due. The transaction that makes
// the work necessary adds the entry. The transaction that ends the work removes it. So a process that dies loses nothing, because the next
// process finds the entry. That process may do the work twice, so handlers have to expect it.
//
// A Worker has lines, each with a number of places for running work. Work in one line does not delay work in another line. Nothing waits in
// memory: work without a place stays in the table. Whenever work ends, the worker passes over the lines again, and each pass continues
// where the last one stopped. Work that failed, or is still due after it was done, rests for a second. So it delays no other work, and
// keeps no processor busy.
//
// The binary calls Run, which passes over the lines every second, and earlier after a change (Changed). A function of AWS calls
// HandleChange for each change, RunDue when a schedule invokes it, and NextDue for the time of the next schedule.
package due

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/panics"
	"assay/shared/language/wait"
	"assay/shared/storage/store"
)

// pollInterval is the interval of passes without a wake-up, and how long work rests.
const pollInterval = time.Second

// Worker does the due work of its lines. Callers set the exported fields before they use it, except that a store may get Changed before.
// A Worker must not be copied.
type Worker struct {
	Store store.Store
	Now   func() time.Time
	Log   *slog.Logger
	Lines []*Line // with different partitions

	wakeUp  wait.Signal
	running sync.WaitGroup
	done    atomic.Bool           // whether any work succeeded since RunDue began
	failed  atomic.Pointer[error] // the last failure since then
}

// Run does due work until the context ends. Then it waits for the work that it has begun.
func (w *Worker) Run(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		for _, l := range w.Lines {
			l.places.wake(time.Now().Add(-pollInterval))
			if _, err := w.pass(ctx, l); err != nil && ctx.Err() == nil {
				w.Log.ErrorContext(ctx, "due work cannot be read", "line", l.Name, "error", err)
			}
		}
		w.await(ctx, tick)
	}
	w.running.Wait()
}

// await waits for a change, the end of some work, or the tick, and reports whether it was the tick.
func (w *Worker) await(ctx context.Context, tick *time.Ticker) bool {
	select {
	case <-w.wakeUp.C():
		return false
	case <-tick.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Changed wakes the worker for written items whose work is due within the poll interval.
func (w *Worker) Changed(items []store.Item) {
	for _, it := range items {
		l := w.lineOf(it)
		if l == nil {
			continue
		}
		p, err := l.first(it)
		until := p.due.Sub(w.Now())
		if err == nil && until < pollInterval {
			time.AfterFunc(until, w.wakeUp.Send)
		}
	}
}

// HandleChange does the work of a record that was just read, if the work is due. It returns the time from which on RunDue has work left,
// or the zero Time. It leaves slow work to RunDue, and work without a place. Hosts that do not call Run call it for each change.
func (w *Worker) HandleChange(ctx context.Context, it store.Item) (time.Time, error) {
	l := w.lineOf(it)
	if l == nil {
		return time.Time{}, nil
	}
	p, err := l.first(it)
	if err != nil || p.due.After(w.Now()) {
		return p.due, err
	}
	shares, err := l.shares(ctx, p.id, []store.Item{it})
	if err != nil {
		return time.Time{}, err
	}
	if shares[0].Slow || !l.places.take(shares[0].Limits) {
		return w.Now(), nil
	}
	defer l.places.leave(shares[0].Limits)
	return time.Time{}, w.do(ctx, l, it)
}

// RunDue does the due work of all lines, the work of each entry once, including work that becomes due meanwhile. It fails if it cannot read
// due work or if all work failed, so that the caller waits before the next call. It reads an index, which may lag by about a second. It
// must not run together with Run.
func (w *Worker) RunDue(ctx context.Context) error {
	w.done.Store(false)
	w.failed.Store(nil)
	for _, l := range w.Lines {
		l.places.wake(time.Now())
	}
	err := w.runAll(ctx)
	w.running.Wait()
	if last := w.failed.Load(); last != nil && !w.done.Load() {
		err = errors.Join(err, fmt.Errorf("all due work failed: %w", *last))
	}
	return err
}

// runAll passes over the lines until none has work. It passes over a line when the line is idle, and every second. So all news that are due
// together reach a mailbox before its e-mail is sent.
func (w *Worker) runAll(ctx context.Context) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for late := false; ctx.Err() == nil; late = w.await(ctx, tick) {
		finished := true
		var failed error
		for _, l := range w.Lines {
			idle := !l.places.isFull(Limit{l.all().Group, 1})
			finished = finished && idle
			if !idle && !late {
				continue
			}
			finishedLine, err := w.pass(ctx, l)
			finished = finished && (finishedLine || err != nil)
			failed = errors.Join(failed, err)
		}
		if finished {
			return failed
		}
	}
	return ctx.Err()
}

// NextDue returns the time from which on the first work is due, or the zero Time. It reads an index, which may lag by about a second.
func (w *Worker) NextDue(ctx context.Context) (next time.Time, err error) {
	for _, l := range w.Lines {
		for p, err := range w.payers(ctx, l, "") {
			if err != nil {
				return next, err
			}
			next = Earliest(next, p.due)
		}
	}
	return next, nil
}

// Earliest returns the earlier of two times. The zero Time means never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// lineOf returns the line of a record's work, or nil if the record has no due work.
func (w *Worker) lineOf(it store.Item) *Line {
	partition := it.Entry(record.ByWork).Partition
	for _, l := range w.Lines {
		if l.Partition == partition {
			return l
		}
	}
	return nil
}

// run does the work on one record for a pass. It gives the place back, makes the work rest, and wakes the worker.
func (w *Worker) run(ctx context.Context, l *Line, it store.Item, s Share) {
	err := w.do(ctx, l, it)
	if err == nil {
		w.done.Store(true)
	} else {
		w.failed.Store(&err)
	}
	l.places.rest(it, err) // before its place is free, so that no pass begins it again
	l.places.leave(s.Limits)
	w.wakeUp.Send()
}

// do does the work on one record. A panic becomes an error, which is logged.
func (w *Worker) do(ctx context.Context, l *Line, it store.Item) error {
	err := panics.Catch(func() error { return l.Do(ctx, it) })
	if err == nil {
		return nil
	}
	if ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "due work failed; it is tried again", "line", l.Name, "record", it.Partition, "error", err)
	}
	return fmt.Errorf("%s %s: the work stays due: %w", it.Partition, it.Sort, err)
}
