package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// ErrNoPlace means that the payer of the run, or the slow lane, has no free place. The run still waits, unchanged.
var ErrNoPlace = errors.New("queue: no place is left")

// LeaseRun leases the run if it waits for a built-in evaluator. It returns nil if the run does not wait, or another process leased it.
// It returns ErrNoPlace if the payer has no free place.
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

// readWaiting reads a run. It returns nil unless the run waits in its queue.
func (q Queue) readWaiting(ctx context.Context, runID string) (*record.RunItem, error) {
	run, err := records.Get[record.RunItem](ctx, q.Store, store.Strong, record.RunKey(runID))
	if err != nil || run == nil || !run.Waits() || run.NotBefore != nil {
		return nil, err
	}
	return run, nil
}

// leaseWaiting leases a run that was read. It returns nil if another process leased it first. A conflict may also be about the places, of
// which another run has taken one meanwhile; then the run still waits, and leaseWaiting tries again.
func (q Queue) leaseWaiting(ctx context.Context, run *record.RunItem, lease record.Lease, d time.Duration) (*record.RunItem, error) {
	waited := run.Queue
	for {
		runID := run.ID
		err := q.lease(ctx, run, lease, d)
		switch {
		case err == nil:
			return run, nil
		case !records.IsConflict(err):
			return nil, err
		case q.Places == nil:
			return nil, nil
		}
		run, err = q.readWaiting(ctx, runID)
		if err != nil || run == nil || run.Queue != waited {
			return nil, err
		}
	}
}

// lease changes the state of a run to leased, and takes a place if places are counted. It returns a conflict if another process was
// faster.
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

// Places limits how many runs are evaluated at the same time, over all processes that count them.
type Places struct {
	Payer int // for each payer
	Slow  int // for the slow lane
}

// takePlace adds a place for the run to the transaction: of its payer, or of the slow lane. It returns ErrNoPlace if all places are taken.
func (q Queue) takePlace(ctx context.Context, tx *records.Tx, run *record.RunItem, now time.Time) error {
	holder, most := run.Turn().Payer, q.Places.Payer
	if run.Queue == record.QueueSlow {
		holder, most = record.SlowPlaces, q.Places.Slow
	}
	places, err := records.Get[record.Places](ctx, q.Store, store.Strong, record.PlacesKey(holder))
	if err != nil {
		return err
	}
	if places == nil {
		places = &record.Places{Meta: record.MetaOf(holder, now)}
	}
	places.Runs = slices.DeleteFunc(places.Runs, func(runID string) bool { return runID == run.ID })
	if len(places.Runs) >= most {
		if places.Runs, err = q.stillLeased(ctx, places.Runs, run.Queue, now); err != nil {
			return err
		}
	}
	if len(places.Runs) >= most {
		return ErrNoPlace
	}
	places.Runs = append(places.Runs, run.ID)
	tx.Save(places, now)
	return nil
}

// stillLeased returns the runs that are still leased from the queue. Reading them when all places seem taken is cheaper than giving places
// back: neither the end of a lease nor the death of a process costs a write.
func (q Queue) stillLeased(ctx context.Context, runIDs []string, queue string, now time.Time) (leased []string, err error) {
	runs, err := records.GetExisting[record.RunItem](ctx, q.Store, store.Strong, runIDs, record.RunKey)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if run.Queue == queue && run.Lease != nil && run.Lease.Until.After(now) {
			leased = append(leased, run.ID)
		}
	}
	return leased, nil
}
