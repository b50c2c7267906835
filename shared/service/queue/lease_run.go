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

// leaseWaiting leases a run that was read. It returns nil if another process leased it first.
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
		if run, err = q.readWaiting(ctx, id); err != nil { // the conflict may only be about the places
			return nil, err
		}
		if run != nil && run.Queue != queue {
			return nil, nil
		}
	}
	return nil, nil
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

// takePlace adds a place for the run to the transaction: of its payer, or of the slow lane. If all places seem taken, it reads which of
// their runs are still leased. So neither the end of a lease nor the death of a process costs a write.
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
