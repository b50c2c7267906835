package background

import (
	"context"
	"errors"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/service/propagation"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"

	"golang.org/x/sync/errgroup"
)

const (
	minProgressInterval = 100 * time.Millisecond // between two passes that count waiting runs
	maxProgressInterval = 10 * time.Minute
	maxConcurrentRuns   = 8 // changed at the same time
)

// reevaluate queues the runs of a dataset again for its truth, in passes, until a second pass finds nothing to do. While the truth is
// held, the passes continue until no run waits for it; then leaderboards show it, and the next passes update the listings. When it
// was released early, they continue to count the waiting runs.
//
// If the store does not lag, the next pass follows at once, unless runs have to be evaluated first. A lagging index may cause a pass before
// its time. Such a pass does not count, because it may miss records that the index still lacks.
func (w *Worker) reevaluate(ctx context.Context, datasetID string) error {
	for {
		if more, err := w.pass(ctx, datasetID); err != nil || !more {
			return err
		}
	}
}

// pass makes one pass, and reports whether the next pass follows at once.
func (w *Worker) pass(ctx context.Context, datasetID string) (more bool, err error) {
	d, err := records.Get[record.DatasetItem](ctx, w.Store, store.Strong, record.DatasetKey(datasetID))
	if err != nil || d == nil || !d.PendingWork.Is(record.Reevaluate) || d.PendingWork.TooEarly(w.Now()) {
		return false, err
	}
	began := d.PendingWork
	truth, err := records.Get[record.TruthVersion](ctx, w.Store, store.Strong, record.TruthKey(datasetID))
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
		more = false
		if !d.PendingWork.Same(began) || truth != nil && d.TruthVersion != truth.Number {
			return false, nil // another process made a pass, or the truth changed, which starts the passes again
		}
		var err error
		more, err = w.recordPass(ctx, tx, d, truth, found)
		return err == nil, err
	})
	return more, err
}

// recordPass writes the result of a pass into the dataset, and schedules the next pass. It reports whether the next pass follows at once.
func (w *Worker) recordPass(ctx context.Context, tx *records.Tx, d *record.DatasetItem, truth *record.TruthVersion,
	found reevaluationCount) (more bool, err error) {
	quiet := found.changed == 0 && d.PendingWork.State == record.ConfirmingPass
	held := truth != nil && truth.Held
	wait := w.Store.Lag()
	switch {
	case quiet && held && found.all.Waiting == 0:
		shown := *truth
		if err := propagation.Show(ctx, w.Store, tx, d, &shown, w.Now()); err != nil {
			return false, err
		}
		tx.Replace(&shown)
		d.PendingWork = record.NewPendingWork(record.Reevaluate, w.Now())
		record.Touch(d, w.Now())
		return true, nil
	case quiet && !held && found.all.Waiting == 0:
		d.PendingWork = nil
		if d.Reevaluation != nil {
			d.Reevaluation, d.PublishedProgress = nil, record.Progress{}
			record.Touch(d, w.Now())
		}
		return false, nil
	case (held || quiet) && found.all.Waiting > 0:
		took := w.Now().Sub(d.Reevaluation.StartedAt.Time)
		wait = min(max(wait, minProgressInterval, took/8), maxProgressInterval)
	}
	if r := d.Reevaluation; r != nil && (r.Progress == nil || *r.Progress != found.all || d.PublishedProgress != found.published) {
		d.Reevaluation = &record.Reevaluation{StartedAt: r.StartedAt, Progress: &found.all}
		d.PublishedProgress = found.published
		record.Touch(d, w.Now())
	}
	d.PendingWork = record.NewConfirmingPass(record.Reevaluate, w.Now().Add(wait))
	return wait == 0, nil
}

// reevaluationCount counts the runs that a pass found.
type reevaluationCount struct {
	changed        int // runs that were queued again or whose listing changed
	all, published record.Progress
}

// add counts a run, and whether others than its team and the organizers see values of it.
func (c *reevaluationCount) add(waits, shown bool) {
	count := func(p *record.Progress) {
		p.Runs++
		if waits {
			p.Waiting++
		}
	}
	count(&c.all)
	if shown {
		count(&c.published)
	}
}

// requeueAll queues the runs of the dataset that were not evaluated against the truth or wait in another queue. Unless the truth is held,
// it updates their listings. It counts the runs that were evaluated before.
func (w *Worker) requeueAll(ctx context.Context, d *record.DatasetItem, truth *record.TruthVersion) (found reevaluationCount, err error) {
	rules, err := (&visibility.Viewer{Store: w.Store}).RulesOf(ctx, d)
	if err != nil {
		return found, err
	}
	var mu sync.Mutex // guards found and failed
	var failed error
	var all errgroup.Group
	all.SetLimit(maxConcurrentRuns)
	err = records.Each(ctx, w.Store, batch, records.Of(record.KindDataset, truth.ID, record.KindRun), func(run *record.RunItem) error {
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
				found.add(requeued || !run.State.Ended(), rules.ShowsOthers(&run.Access, w.Now()))
			}
			return nil // an error would stop the others; failed collects every error
		})
		return nil
	})
	_ = all.Wait()
	return found, errors.Join(err, failed)
}
