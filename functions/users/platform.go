package users

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/metrics"
	"assay/shared/service/queue"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Queue describes the queued runs of a pool for one kind of work, and its workers.
type Queue struct {
	Pool         string          `json:"pool" doc:"name of the pool; (builtin) for the evaluators of the server"`
	Work         record.Work     `json:"work" enum:"image,repository,evaluation" doc:"executing images, executing repositories, or evaluating runs"`
	Runs         int             `json:"runs" doc:"number of queued runs, at most 200"`
	WaitingSince *record.Instant `json:"waitingSince,omitempty" doc:"when the oldest of these runs was queued"`
	WorkerSeenAt *record.Instant `json:"workerSeenAt,omitempty" doc:"when a worker last asked for such runs, within 20 seconds; absent after an hour without a request, and for (builtin)"`
}

func (q Queue) name() string { return q.Pool + "#" + string(q.Work) }

// MaxCounted is the largest number of runs of a queue that are counted. Counting reads each run.
const MaxCounted = 200

// listQueues lists the queue of the built-in evaluators, queues with runs, and queues that a worker served within the last hour.
func listQueues(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[Queue], err error) {
	serving, err := records.Get[record.Serving](ctx, c.Store, c.Consistency, record.ServingKey())
	if err != nil {
		return p, err
	}
	var all []Queue
	seen := serving.Workers(c.Now())
	for w, err := range (queue.Queue{Store: c.Store, Now: c.Now}).Backlog(ctx, MaxCounted) {
		if err != nil {
			return p, err
		}
		q := Queue{Pool: w.Pool, Work: w.Work, Runs: w.Runs}
		if w.Runs > 0 {
			q.WaitingSince = new(record.At(w.Since))
		}
		all = append(all, q)
		if len(all) > metrics.MaxPools {
			break
		}
	}
	for _, w := range seen {
		i := slices.IndexFunc(all, func(q Queue) bool { return q.Pool == w.Pool && q.Work == w.Work })
		if i < 0 {
			i, all = len(all), append(all, Queue{Pool: w.Pool, Work: w.Work})
		}
		all[i].WorkerSeenAt = &w.SeenAt
	}
	slices.SortFunc(all, func(a, b Queue) int { return cmp.Compare(a.name(), b.name()) })
	return page.Of(c.Page, all, Queue.name)
}

// Storage is the usage of all users together.
type Storage struct {
	Taken  record.Taken       `json:"taken" doc:"usage of all users together; approximate, some seconds late; announced files still count after they have arrived"`
	Files  *record.FileCount  `json:"files,omitempty" doc:"count of the stored files; absent until they were counted for the first time"`
	Limits record.UsageLimits `json:"limits" doc:"limits of the usage; 0 or absent means no limit"`
}

func showStorage(ctx context.Context, c *api.Call, _ api.PublicTarget) (s Storage, err error) {
	shards, err := records.Query[record.ServerUsage](ctx, c.Store, store.Query{Partition: record.ServerPartition, Limit: record.ServerShards})
	var all record.ServerUsage
	for _, shard := range shards {
		all.Merge(shard.Counts)
	}
	s = Storage{Taken: all.Taken(c.Now()), Limits: c.Quotas.Quotas.Server}
	if err != nil {
		return s, err
	}
	counted, err := records.Get[record.StoredFiles](ctx, c.Store, c.Consistency, record.StoredFilesKey())
	if counted != nil {
		s.Files = counted.Counted
	}
	return s, err
}
