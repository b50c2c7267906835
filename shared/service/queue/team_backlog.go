package queue

import (
	"context"
	"errors"
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
			sort := found[0].Entry(record.ByWork).Sort
			sub, err := record.WorkerSubqueueOf(sort)
			since, sinceErr := record.QueuedSince(sort)
			runs := sub.OfTurn(sub.Turn(sort))
			if err = errors.Join(err, sinceErr); !yield(TeamBacklog{found[0], since, runs}, err) || err != nil {
				return
			}
			query.From = runs.To
		}
	}
}

// Unserved returns a diagnostic for each kind of work for which runs of the dataset's task wait in its pool, while no worker for it has
// been seen for a minute. It costs one read if all kinds are served. Otherwise it costs one more for the task, and one for each
// unserved kind.
func (q Queue) Unserved(ctx context.Context, d *record.DatasetItem) ([]measure.Diagnostic, error) {
	now := q.Now()
	serving, err := records.Get[record.Serving](ctx, q.Store, store.Eventual, record.ServingKey())
	if err != nil {
		return nil, err
	}
	var task *record.TaskItem
	var found []measure.Diagnostic
	for _, w := range []record.Work{record.ExecuteImage, record.ExecuteRepository, record.Evaluate} {
		sub := record.WorkerSubqueue(d.Pool, w)
		if serving.Serves(sub, now) {
			continue
		}
		if task == nil {
			if task, err = records.Get[record.TaskItem](ctx, q.Store, store.Eventual, record.TaskKey(d.TaskID)); err != nil || task == nil {
				return nil, err
			}
		}
		r := sub.OfTask(task)
		waiting, err := q.Store.Query(ctx, store.Query{Index: record.ByWork, Partition: sub.Partition(), From: r.From, To: r.To, Limit: 1})
		if err != nil {
			return nil, records.Failed(err)
		}
		if len(waiting) > 0 {
			found = append(found, record.Unserved(d.Pool, w))
		}
	}
	return found, nil
}
