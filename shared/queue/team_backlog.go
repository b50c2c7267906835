package queue

import (
	"context"
	"errors"
	"iter"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// TeamBacklog is the runs of one team that wait for workers, for one task, one pool and one kind of work.
type TeamBacklog struct {
	Oldest store.Item      // the run that waits longest
	Since  time.Time       // since when
	Runs   record.KeyRange // all that wait
}

// TeamBacklogs yields the backlogs of all teams that wait for workers. Each costs one small read.
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

// Unserved has a diagnostic for each kind of work that runs of the dataset's task wait for in its pool while no worker that does
// it has been seen for a minute. Where all are served it costs one read, otherwise one more for the task and one for each kind that is not.
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
