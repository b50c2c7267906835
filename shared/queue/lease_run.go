package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// ErrNoPlace means that the payer of the run, or the slow lane, has no place left: the run waits, and was not changed.
var ErrNoPlace = errors.New("queue: no place is left")

// LeaseRun leases one certain run, if it waits for a built-in evaluator; nil when it does not, or another process took it. It fails with
// ErrNoPlace when the payer has no place left.
func (q Queue) LeaseRun(ctx context.Context, o *FairOrder, runID string, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	run, err := q.readWaiting(ctx, runID)
	if err != nil || run == nil || run.Queue != record.QueueBuiltin {
		return nil, err
	}
	if run, err = q.leaseWaiting(ctx, run, lease, d); run != nil && err == nil {
		o.Charge(run.Turn(), leaseSteps, q.Now())
	}
	return run, err
}

// readWaiting reads a run; nil unless it waits in its queue.
func (q Queue) readWaiting(ctx context.Context, runID string) (*record.RunItem, error) {
	run, err := records.Get[record.RunItem](ctx, q.Store, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || !run.Waits() || run.NotBefore != nil {
		return nil, err
	}
	return run, nil
}

// leaseWaiting leases a run that was read; nil when another process was faster.
func (q Queue) leaseWaiting(ctx context.Context, run *record.RunItem, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	for run != nil {
		id, queue := run.ID, run.Queue
		err := q.lease(ctx, run, lease, d)
		if !records.IsConflict(err) {
			return run, err
		}
		if q.Places == nil {
			return nil, nil
		}
		if run, err = q.readWaiting(ctx, id); err != nil { // perhaps only the places have changed
			return nil, err
		}
		if run != nil && run.Queue != queue {
			return nil, nil
		}
	}
	return nil, nil
}

// lease makes the transition of a run that is leased, which takes a place where places are counted. It fails with a conflict when another
// process was faster.
func (q Queue) lease(ctx context.Context, run *record.RunItem, lease record.Lease, d time.Duration) error {
	tx, now := new(records.Tx), q.Now()
	if q.Places != nil && run.Queue != record.QueueWorkers {
		if err := q.takePlace(ctx, tx, run, now); err != nil {
			return err
		}
	}
	next := record.Evaluating
	if run.Work() != record.Evaluate {
		next = record.Running
	}
	if err := changeState(run, next, now); err != nil {
		return err
	}
	run.Attempts++
	run.StartedAt = new(record.At(now))
	lease.ID, lease.Until = record.NewID(now), record.At(now.Add(d))
	run.Lease = &lease
	return tx.Replace(run).Commit(ctx, q.Store)
}

// Places is how many runs are evaluated at the same time over all processes that count them.
type Places struct {
	Payer int // of one payer
	Slow  int // in the slow lane
}

// takePlace adds to the transaction that the run takes a place of its payer, or of the slow lane. Only if all seem taken, it reads which of
// their runs are still leased, so that ending a lease, or a process that dies, costs no write.
func (q Queue) takePlace(ctx context.Context, tx *records.Tx, run *record.RunItem, now time.Time) error {
	id, most := run.Turn().Payer, q.Places.Payer
	if run.Queue == record.QueueSlow {
		id, most = record.SlowPlaces, q.Places.Slow
	}
	places, err := records.Get[record.Places](ctx, q.Store, store.Strong, record.PlacesKey(id))
	if err != nil {
		return err
	}
	if places == nil {
		places = &record.Places{Meta: record.MetaOf(id, now)}
	}
	places.Runs = slices.DeleteFunc(places.Runs, func(id string) bool { return id == run.ID })
	if len(places.Runs) >= most {
		taken, err := records.GetExisting[record.RunItem](ctx, q.Store, store.Strong, places.Runs, record.RunKey)
		if err != nil {
			return err
		}
		places.Runs = nil
		for _, other := range taken {
			if other.Queue == run.Queue && other.Lease != nil && other.Lease.Until.After(now) {
				places.Runs = append(places.Runs, other.ID)
			}
		}
		if len(places.Runs) >= most {
			return ErrNoPlace
		}
	}
	places.Runs = append(places.Runs, run.ID)
	tx.Save(places, now)
	return nil
}
