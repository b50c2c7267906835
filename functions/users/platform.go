package users

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/api"
	"assay/shared/metrics"
	"assay/shared/page"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Queue is what waits for the workers of a pool that do a kind of work, and when one of them was seen.
type Queue struct {
	Pool         string          `json:"pool" doc:"(builtin) for the evaluators of the server"`
	Work         record.Work     `json:"work" enum:"image,repository,evaluation" doc:"images or repositories are executed, or runs are evaluated"`
	Runs         int             `json:"runs" doc:"how many wait; at most 200 of each are counted"`
	WaitingSince *record.Instant `json:"waitingSince,omitempty" doc:"when the one of those was queued that waits longest"`
	WorkerSeenAt *record.Instant `json:"workerSeenAt,omitempty" doc:"when a worker last asked for such runs, to 20 seconds; absent when none did for an hour, and for (builtin)"`
}

func (q Queue) name() string { return q.Pool + "#" + string(q.Work) }

// MaxCounted is how many runs of a queue are counted: each is read.
const MaxCounted = 200

// listQueues lists the queue of the built-in evaluators, and those that have runs or were served within the hour.
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
		if all = append(all, q); len(all) > metrics.MaxPools {
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

// Storage is what all users together have taken of the quotas of the platform.
type Storage struct {
	Taken  record.Taken       `json:"taken" doc:"by all users together; counted approximately, some seconds late, and of announced files those too that have arrived"`
	Files  *record.FileCount  `json:"files,omitempty" doc:"the files themselves; absent until they were counted"`
	Limits record.UsageLimits `json:"limits" doc:"what they may take; what is 0 or absent is not limited"`
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
