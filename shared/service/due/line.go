package due

import (
	"context"
	"errors"
	"iter"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/panics"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

const (
	pageSize     = 100    // entries of a query
	maxPages     = 10     // pages that one pass reads of a line that is ordered by time, besides resting work
	maxPositions = 10_000 // payers of whom a line remembers where the last pass stopped
)

// Line is the due work of one partition of record.ByWork. Callers set the exported fields before they use it.
type Line struct {
	Name      string // in the log
	Partition string
	Places    int // the greatest number of works that are done at the same time
	// PerPayer is the greatest number of works of one payer that are done at the same time. The sort keys of the partition then begin with
	// the payer (record.DueOfPayer), and payers take turns. 0: The sort keys begin with the time (record.DueAt).
	PerPayer int
	// Shares returns the shares of the records of a page, in their order. Nil: only Places and PerPayer limit the work.
	Shares func(context.Context, []store.Item) ([]Share, error)
	// Do does the work on a record. It gets the record from an index, which may lag, so it reads the record again before a change.
	Do func(context.Context, store.Item) error

	places places

	// Only a pass uses these fields, and only one pass runs at a time.
	positions map[string]string // by payer, the sort key of the last entry that a pass looked at, unless that was the end
	payer     string            // the payer whose work began last
}

// Share limits the work on one record.
type Share struct {
	Limits []Limit
	Slow   bool // HandleChange leaves the work to RunDue, because it may take long
}

// payer is a payer with work in a line. The first of the work is due from the time due on.
type payer struct {
	id  string
	due time.Time
}

// first returns the payer of an entry, and the time from which on its work is due. In a line that is ordered by time, the payer has no id.
func (l *Line) first(it store.Item) (p payer, err error) {
	sort := it.Entry(record.ByWork).Sort
	if l.PerPayer == 0 {
		p.due, err = record.DueAt(sort)
	} else {
		p.id, p.due, err = record.DueOfPayer(sort)
	}
	return p, err
}

// all returns the limit of all work of the line.
func (l *Line) all() Limit { return Limit{"", l.Places} }

// limits returns the limits of all work of the payer in the line.
func (l *Line) limits(payer string) []Limit {
	if l.PerPayer == 0 {
		return []Limit{l.all()}
	}
	return []Limit{l.all(), {"payer " + payer, l.PerPayer}}
}

// shares returns the shares of records of the payer, with all limits. One of them allows only one work on a record at the same time.
func (l *Line) shares(ctx context.Context, payer string, items []store.Item) (shares []Share, err error) {
	shares = make([]Share, len(items))
	if l.Shares != nil && len(items) > 0 {
		if shares, err = l.Shares(ctx, items); err != nil {
			return nil, err
		}
	}
	for i, it := range items {
		own := Limit{"record " + it.Partition + " " + it.Sort, 1}
		shares[i].Limits = append(append(shares[i].Limits, own), l.limits(payer)...)
	}
	return shares, nil
}

// stopAt makes the next pass over the payer's work continue after the item.
func (l *Line) stopAt(payer string, it store.Item) {
	if l.positions == nil || len(l.positions) == maxPositions {
		l.positions = map[string]string{}
	}
	l.positions[payer] = it.Entry(record.ByWork).Sort
}

// pass begins due work that has a place, and leaves other work in the table. It reads a bounded number of entries, and the next pass
// continues there. Payers take turns: the first is the payer after the one whose work began last. pass reports whether it has read all due
// work and all of it rests.
func (w *Worker) pass(ctx context.Context, l *Line) (finished bool, failed error) {
	finished = true
	for p, err := range w.payers(ctx, l, l.payer) {
		switch {
		case err != nil:
			return false, errors.Join(failed, err)
		case l.places.isFull(l.all()):
			return false, failed
		case p.due.After(w.Now()):
			continue
		}
		finishedPayer := false
		err = panics.Catch(func() (err error) {
			finishedPayer, err = w.begin(ctx, l, p.id)
			return err
		})
		finished = finished && finishedPayer
		failed = errors.Join(failed, err)
	}
	return finished, failed
}

// begin begins work of the payer from where the last pass stopped. It stops where no place is left, or after a bounded number of entries.
// If it reaches the end, it wakes the worker for the entries before the start. It first reads only as many entries as there are places, and
// whole pages only if those entries rest or find no place.
func (w *Worker) begin(ctx context.Context, l *Line, payer string) (finished bool, err error) {
	q := store.Query{Index: record.ByWork, Partition: l.Partition, To: record.DueBy(w.Now()), Limit: min(l.Places, pageSize)}
	most := maxPages * pageSize
	if l.PerPayer > 0 {
		q.From, q.To = record.DueByOfPayer(payer, w.Now())
		most = pageSize
	}
	last, resumed := l.positions[payer]
	resumed = resumed && last < q.To // unless the clock was set back
	if resumed {
		q.From = record.DueAfter(last)
	}
	finished = !resumed
	for read := 0; read < most && !l.places.isFull(l.limits(payer)...); {
		items, err := w.Store.Query(ctx, q)
		if err != nil {
			return false, records.Failed(err)
		}
		shares, err := l.shares(ctx, payer, items)
		if err != nil {
			return false, err
		}
		for i, it := range items {
			if l.places.isFull(l.limits(payer)...) {
				return false, nil
			}
			l.stopAt(payer, it)
			if l.places.rests(it) {
				continue
			}
			finished = false
			read++
			if l.places.take(shares[i].Limits) {
				l.payer = payer
				w.running.Go(func() { w.run(ctx, l, it, shares[i]) })
			}
		}
		if q.IsLastPage(items) {
			delete(l.positions, payer)
			if resumed {
				w.wakeUp.Send()
			}
			return finished, nil
		}
		q.After = &items[len(items)-1]
		q.Limit = pageSize
	}
	return false, nil
}

// payers yields the payers with work in the line, from the one after the given payer on. In a line that is ordered by time, it yields one
// payer without an id for all work.
func (w *Worker) payers(ctx context.Context, l *Line, after string) iter.Seq2[payer, error] {
	return func(yield func(payer, error) bool) {
		rest := store.Query{Index: record.ByWork, Partition: l.Partition, Limit: 1}
		ranges := []store.Query{rest}
		if after != "" {
			upTo := rest
			rest.From = record.DueAfter(after)
			upTo.To = rest.From
			ranges = []store.Query{rest, upTo}
		}
		for _, q := range ranges {
			for {
				items, err := w.Store.Query(ctx, q)
				if err != nil {
					yield(payer{}, records.Failed(err))
					return
				}
				if len(items) == 0 {
					break
				}
				p, err := l.first(items[0])
				if !yield(p, err) || l.PerPayer == 0 {
					return
				}
				q.From = record.DueAfter(p.id)
			}
		}
	}
}
