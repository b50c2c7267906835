package evaluator

import (
	"context"
	"errors"
	"sync"
	"time"

	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"

	"golang.org/x/sync/errgroup"
)

const (
	settled     = 2 * time.Second  // after which every index has what was written before
	longestWait = 10 * time.Minute // between two passes over the runs
	runsAtOnce  = 8                // changed at the same time
)

// reevaluate queues the runs of a dataset again for its truth, until a second pass finds none that is not. When the truth is
// held, the passes go on until no run waits for it; then leaderboards show it, and the passes that follow have lists show
// the evaluations against it. When it was released early, they go on to count the runs that wait.
//
// The passes are counted from the record as it was read before a pass, and one that comes before its time, called by an
// index that lags, is none: it would prove nothing of what the index did not have yet.
func (w *Worker) reevaluate(ctx context.Context, datasetID string) error {
	for {
		if released, err := w.pass(ctx, datasetID); err != nil || !released {
			return err
		}
	}
}

// pass makes one pass, and reports whether it was the one after which leaderboards show the truth.
func (w *Worker) pass(ctx context.Context, datasetID string) (released bool, err error) {
	d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(datasetID))
	if err != nil || d == nil || !d.PendingWork.Is(record.Reevaluate) || d.PendingWork.TooEarly(w.Now()) {
		return false, err
	}
	began := d.PendingWork
	truth, err := records.Get[record.Truth](ctx, w.Store, store.Strong, record.TruthKey(datasetID))
	if err != nil {
		return false, err
	}
	var found reevaluationCount
	if truth != nil {
		if found, err = w.requeueAll(ctx, d, truth); err != nil {
			return false, err
		}
	}
	_, err = records.Update(ctx, w.Store, record.DatasetKey(datasetID), func(d *record.DatasetItem, tx *records.Tx) (bool, error) {
		if released = false; !d.PendingWork.Same(began) || truth != nil && d.TruthVersion != truth.Number {
			return false, nil // another process counted a pass, or the truth changed and the passes begin again
		}
		released = w.count(tx, d, truth, found)
		return true, nil
	})
	return released, err
}

// count has the dataset carry what a pass found, and says when the next one is due.
func (w *Worker) count(tx *records.Tx, d *record.DatasetItem, truth *record.Truth, found reevaluationCount) (released bool) {
	quiet := found.changed == 0 && d.PendingWork.State == record.ConfirmingPass
	held := truth != nil && truth.Held
	wait := settled
	switch {
	case quiet && held && found.all.Waiting == 0:
		shown := *truth
		d.Show(&shown)
		tx.Replace(&shown)
		d.PendingWork, released = record.NewPendingWork(record.Reevaluate, w.Now()), true
		record.Touch(d, w.Now())
		return released
	case quiet && !held && found.all.Waiting == 0:
		d.PendingWork = nil
		if d.Reevaluation != nil {
			d.Reevaluation, d.PublishedProgress = nil, record.Progress{}
			record.Touch(d, w.Now())
		}
		return false
	case held || quiet:
		wait = min(max(settled, w.Now().Sub(d.Reevaluation.StartedAt.Time)/8), longestWait)
	}
	if r := d.Reevaluation; r != nil && (r.Progress == nil || *r.Progress != found.all || d.PublishedProgress != found.published) {
		d.Reevaluation, d.PublishedProgress = &record.Reevaluation{StartedAt: r.StartedAt, Progress: &found.all}, found.published
		record.Touch(d, w.Now())
	}
	d.PendingWork = &record.PendingWork{Kind: record.Reevaluate, NotBefore: record.At(w.Now().Add(wait)), State: record.ConfirmingPass}
	return false
}

// reevaluationCount is what a pass found.
type reevaluationCount struct {
	changed        int // runs that were queued again, or whose evaluation lists show from now on
	all, published record.Progress
}

func (c *reevaluationCount) add(run *record.RunItem, waits bool) {
	count := func(p *record.Progress) {
		p.Runs++
		if waits {
			p.Waiting++
		}
	}
	if count(&c.all); run.Access.Shown() {
		count(&c.published)
	}
}

// requeueAll queues every run of the dataset for the truth that was not evaluated against it or waits elsewhere, and, unless
// the truth is held, has lists show the evaluations against it. It counts the runs that were evaluated before.
func (w *Worker) requeueAll(ctx context.Context, d *record.DatasetItem, truth *record.Truth) (found reevaluationCount, err error) {
	var mu sync.Mutex // guards found and failed
	var failed error
	var all errgroup.Group
	all.SetLimit(runsAtOnce)
	err = records.Each(ctx, w.Store, batch, records.DatasetSources(truth.ID, record.KindRun), func(run *record.RunItem) error {
		all.Go(func() error {
			requeued, listed := false, false
			var err, listErr error
			if queue.NeedsReevaluation(run, truth) {
				requeued, err = w.queue().Reevaluate(ctx, run.ID, truth)
			}
			if queue.ListingOutdated(run, truth) {
				listed, listErr = w.queue().UpdateListing(ctx, run.ID, truth)
			}
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err, listErr)
			if requeued || listed {
				found.changed++
			}
			if run.TruthVersion > 0 && d.Reevaluation != nil && !run.CreatedAt.After(d.Reevaluation.StartedAt.Time) {
				found.add(run, requeued || !run.State.Ended())
			}
			return nil // the rest goes on, and failed has every error
		})
		return nil
	})
	_ = all.Wait()
	return found, errors.Join(err, failed)
}
