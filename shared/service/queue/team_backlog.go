package queue

import (
	"context"
	"iter"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// TeamBacklog holds one team's runs that wait for workers, for one task, pool and kind of work.
type TeamBacklog struct {
	Oldest store.Item      // the run that has waited longest
	Since  time.Time       // when Oldest was queued
	Runs   record.KeyRange // all waiting runs
}

// TeamBacklogs yields the backlogs of all teams with runs that wait for workers. Each costs one small read.
func (q Queue) TeamBacklogs(ctx context.Context) iter.Seq2[TeamBacklog, error] {
	return func(yield func(TeamBacklog, error) bool) {
		query := store.Query{Index: record.ByWork, Partition: record.QueuePartition(record.QueueWorkers), Limit: 1}
		for {
			found, err := q.Store.Query(ctx, query)
			if err != nil {
				yield(TeamBacklog{}, records.Failed(err))
				return
			}
			if len(found) == 0 {
				return
			}
			backlog, err := backlogOf(found[0])
			if !yield(backlog, err) || err != nil {
				return
			}
			query.From = backlog.Runs.To
		}
	}
}

// backlogOf returns the backlog whose oldest run is given.
func backlogOf(oldest store.Item) (TeamBacklog, error) {
	sort := oldest.Entry(record.ByWork).Sort
	subqueue, err := record.WorkerSubqueueOf(sort)
	if err != nil {
		return TeamBacklog{}, err
	}
	since, err := record.QueuedSince(sort)
	if err != nil {
		return TeamBacklog{}, err
	}
	return TeamBacklog{Oldest: oldest, Since: since, Runs: subqueue.OfTurn(subqueue.Turn(sort))}, nil
}

// Unserved returns a diagnostic for each kind of work for which runs of the dataset's task wait in its pool, while no worker for it has
// been seen for a minute. It costs one read for each unserved kind.
func (q Queue) Unserved(ctx context.Context, d *record.DatasetItem, of *record.DatasetConditions) ([]measure.Diagnostic, error) {
	if of.Task == nil {
		return nil, nil
	}
	var diagnostics []measure.Diagnostic
	for _, work := range []record.Work{record.ExecuteImage, record.ExecuteRepository, record.Evaluate} {
		subqueue := record.WorkerSubqueue(d.Pool, work)
		if of.Serving.Serves(subqueue, q.Now()) {
			continue
		}
		waits, err := q.hasRuns(ctx, subqueue, of.Task)
		if err != nil {
			return nil, err
		}
		if waits {
			diagnostics = append(diagnostics, record.Unserved(d.Pool, work))
		}
	}
	return diagnostics, nil
}

// hasRuns reports whether runs of the task wait in the subqueue.
func (q Queue) hasRuns(ctx context.Context, subqueue record.Subqueue, task *record.TaskItem) (bool, error) {
	keys := subqueue.OfTask(task)
	query := store.Query{Index: record.ByWork, Partition: subqueue.Partition(), From: keys.From, To: keys.To, Limit: 1}
	found, err := q.Store.Query(ctx, query)
	if err != nil {
		return false, records.Failed(err)
	}
	return len(found) > 0, nil
}
