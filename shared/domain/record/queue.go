package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/storage/store"
)

// QueuePartition returns the partition of ByWork with the runs that wait in the queue.
func QueuePartition(queue string) string { return "QUEUE#" + queue }

// Subqueue is the part of a queue whose runs the same evaluators or workers can lease. Its runs are ordered by turn, then by the time
// at which they were queued. So the runs of a payer, of one of its tasks, and of a turn are ranges of sort keys.
type Subqueue struct{ queue, prefix string }

// BuiltinSubqueue returns the subqueue of the built-in evaluators.
func BuiltinSubqueue() Subqueue { return Subqueue{queue: QueueBuiltin} }

// SlowSubqueue returns the subqueue of the slow lane of the built-in evaluators.
func SlowSubqueue() Subqueue { return Subqueue{queue: QueueSlow} }

// WorkerSubqueue returns the subqueue of a pool's workers for a kind of work.
func WorkerSubqueue(pool string, w Work) Subqueue {
	return Subqueue{QueueWorkers, cmp.Or(pool, DefaultPool) + "#" + string(w) + "#"}
}

// Partition returns the partition of ByWork that holds the subqueue.
func (q Subqueue) Partition() string { return QueuePartition(q.queue) }

// sortKey returns the sort key of a waiting run.
func (q Subqueue) sortKey(r *RunItem) string {
	return q.prefix + r.Turn().key() + "#" + due(*r.QueuedAt, r.ID)
}

// Turn identifies whose turn it is when a run is leased: the payer of the task, the task, the user who submitted the run, and the
// user's team. Each name is the end of an ID. Short names keep the keys short, of which each index has a copy.
type Turn struct{ Payer, Task, Submitter, Team string }

// nameLength is the length of a name in a Turn, in characters. The last characters of a ULID and of a user's ID are random. If two
// names are equal nevertheless, their runs share a turn.
const nameLength = 10

func turnName(id string) string { return id[max(0, len(id)-nameLength):] }

// NewTurn returns the turn for the IDs.
func NewTurn(payer, task, submitter, team string) Turn {
	return Turn{Payer: turnName(payer), Task: turnName(task), Submitter: turnName(submitter), Team: turnName(team)}
}

// turnParts is the number of parts of a sort key after the prefix of its subqueue: four of the turn, the instant and the ID.
const turnParts = 6

// turnOf returns the turn of a sort key without its prefix. It returns the zero Turn for a key with fewer parts.
func turnOf(key string) Turn {
	parts := strings.SplitN(key, "#", turnParts)
	if len(parts) < turnParts {
		return Turn{}
	}
	return Turn{Payer: parts[0], Task: parts[1], Submitter: parts[2], Team: parts[3]}
}

// key returns the common prefix of the sort keys of the turn.
func (t Turn) key() string {
	return t.Payer + "#" + t.Task + "#" + t.Submitter + "#" + t.Team
}

// Levels returns the names under which the turn's use of the evaluators is counted: those of the payer, the submitter for that payer,
// the task, and the team.
func (t Turn) Levels() [4]string {
	submitter := t.Payer + "#" + t.Submitter
	task := submitter + "#" + t.Task
	return [4]string{t.Payer, submitter, task, task + "#" + t.Team}
}

// KeyRange is a range of sort keys of ByWork that includes both bounds. The zero KeyRange means all sort keys.
type KeyRange struct{ From, To string }

// rangeOf returns the range of the sort key and all keys that continue it with a further part. Its upper bound is not a sort key.
func rangeOf(key string) KeyRange { return KeyRange{key, key + "$"} }

// Turn returns the turn of a sort key of the subqueue.
func (q Subqueue) Turn(sort string) Turn { return turnOf(strings.TrimPrefix(sort, q.prefix)) }

// All returns the range of all runs of the subqueue.
func (q Subqueue) All() KeyRange {
	if q.prefix == "" {
		return KeyRange{}
	}
	return rangeOf(strings.TrimSuffix(q.prefix, "#"))
}

// OfPayer returns the range of the runs of the turn's payer.
func (q Subqueue) OfPayer(t Turn) KeyRange { return rangeOf(q.prefix + t.Payer) }

// OfTask returns the range of the runs of the task.
func (q Subqueue) OfTask(t *TaskItem) KeyRange {
	return rangeOf(q.prefix + turnName(t.PayerID()) + "#" + turnName(t.ID))
}

// OfTurn returns the range of the runs of the turn.
func (q Subqueue) OfTurn(t Turn) KeyRange { return rangeOf(q.prefix + t.key()) }

// QueuedSince returns when the run with the sort key in a queue was queued. The instant precedes the ID.
func QueuedSince(sort string) (time.Time, error) {
	parts := strings.Split(sort, "#")
	if len(parts) < 2 {
		return time.Time{}, fmt.Errorf("record: %q is no key of a queue", sort)
	}
	return DueAt(parts[len(parts)-2])
}

// WorkerSubqueueOf returns the subqueue of a sort key in the queue of workers.
func WorkerSubqueueOf(sort string) (Subqueue, error) {
	parts := strings.SplitN(sort, "#", 3)
	if len(parts) < 3 {
		return Subqueue{}, fmt.Errorf("record: %q is no key of the queue of workers", sort)
	}
	return WorkerSubqueue(parts[0], Work(parts[1])), nil
}

// WorkerPool returns the pool and the kind of work of a sort key in the queue of workers, and a key after all runs with both.
func WorkerPool(sort string) (pool string, w Work, behind string, err error) {
	q, err := WorkerSubqueueOf(sort)
	if err != nil {
		return "", "", "", err
	}
	pool, work, _ := strings.Cut(strings.TrimSuffix(q.prefix, "#"), "#")
	return pool, Work(work), q.All().To, nil
}

// Serving records when workers were last seen, by pool and kind of work. It is one item. GET /info reads it, and so does every answer
// about something that waits for a worker.
type Serving struct {
	Meta
	Seen map[string]Instant // by the prefix of the worker's subqueue
}

const (
	servingNoted = 20 * time.Second // within which a worker that is seen again is not recorded again
	servingKnown = time.Minute      // within which a subqueue counts as served after one of its workers was seen
	builderKnown = time.Hour        // within which a pool counts as having builders after a builder was seen
	maxServed    = 2000             // subqueues in Seen: an item of the table has at most 400 KB
)

// builders ends the prefix that stands for the workers of a pool that build repositories. Some workers execute repositories without
// building them.
const builders = "#builds#"

// BuilderSubqueue returns a subqueue that stands for the workers of a pool that build repositories. No run waits there.
func BuilderSubqueue(pool string) Subqueue { return Subqueue{QueueWorkers, pool + builders} }

// Key implements Record.
func (*Serving) Key() store.Key { return ServingKey() }

// ServingKey returns the key of the Serving.
func ServingKey() store.Key { return store.Key{Partition: "WORKERS", Sort: "SERVING"} }

// Note records that a worker of the subqueues was seen at now, and reports whether s must be stored. It forgets subqueues whose workers
// have not been seen for an hour. If more than maxServed remain, it forgets subqueues of the organizer with the most.
func (s *Serving) Note(now time.Time, queues []Subqueue) bool {
	if !slices.ContainsFunc(queues, func(q Subqueue) bool { return now.Sub(s.Seen[q.prefix].Time) >= servingNoted }) {
		return false
	}
	maps.DeleteFunc(s.Seen, func(_ string, at Instant) bool { return now.Sub(at.Time) > builderKnown })
	if s.Seen == nil {
		s.Seen = map[string]Instant{}
	}
	for _, q := range queues {
		s.Seen[q.prefix] = At(now)
	}
	for len(s.Seen) > maxServed {
		delete(s.Seen, s.mostCrowded())
	}
	return true
}

// mostCrowded returns a subqueue of the organizer with the most subqueues: the one seen longest ago. The platform's own subqueues count
// as few, because members of organizers cannot add to them.
func (s *Serving) mostCrowded() string {
	owner := func(prefix string) string {
		pool, _, _ := strings.Cut(prefix, "#")
		return PoolOrganizer(pool)
	}
	count := map[string]int{}
	for prefix := range s.Seen {
		count[owner(prefix)]++
	}
	count[""] = 0
	return slices.MinFunc(slices.Collect(maps.Keys(s.Seen)), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[owner(b)], count[owner(a)]), s.Seen[a].Compare(s.Seen[b].Time))
	})
}

// Serves reports whether a worker of the subqueue was seen within the last minute. A nil Serving serves nothing.
func (s *Serving) Serves(q Subqueue, now time.Time) bool {
	return s != nil && now.Sub(s.Seen[q.prefix].Time) < servingKnown
}

// UnservedTypes returns the types of submissions that the dataset of the task takes and whose runs would wait now, because no worker of its
// pool that they need was seen within the last minute.
func (s *Serving) UnservedTypes(t *TaskItem, d *DatasetItem, now time.Time) (unserved []SubmissionType) {
	serves := func(w Work) bool { return s.Serves(WorkerSubqueue(d.Pool, w), now) }
	evaluates := d.Evaluator.Kind != EvaluatorWorker || serves(Evaluate)
	for _, of := range SubmissionTypes(t.Submissions.Types, d.Builds) {
		executes := of == UploadType || serves(Work(of))
		if !evaluates || !executes {
			unserved = append(unserved, of)
		}
	}
	return unserved
}

// Builders returns the pools with workers that build repositories at now, in order.
func (s *Serving) Builders(now time.Time) []string {
	pools := []string{}
	if s == nil {
		return pools
	}
	for _, prefix := range slices.Sorted(maps.Keys(s.Seen)) {
		if pool, builds := strings.CutSuffix(prefix, builders); builds && now.Sub(s.Seen[prefix].Time) <= builderKnown {
			pools = append(pools, pool)
		}
	}
	return pools
}

// Workers says when a worker of the pool was last seen for a kind of work.
type Workers struct {
	Pool   string
	Work   Work
	SeenAt Instant
}

// Workers lists the workers seen within the hour before now. A nil Serving has none.
func (s *Serving) Workers(now time.Time) (all []Workers) {
	if s == nil {
		return nil
	}
	for prefix, at := range s.Seen {
		pool, w, _, err := WorkerPool(prefix)
		if err == nil && workDescriptions[w] != "" && now.Sub(at.Time) <= builderKnown {
			all = append(all, Workers{pool, w, at})
		}
	}
	return all
}

// workDescriptions maps each kind of work to what workers do for it.
var workDescriptions = map[Work]string{ExecuteImage: "executes images", ExecuteRepository: "builds and executes repositories",
	Evaluate: "runs the evaluators of organizers"}

// Unserved returns the diagnostic for runs that wait for a pool's workers while none has been seen for a minute. It says who can start one.
func Unserved(pool string, w Work) measure.Diagnostic {
	pool = cmp.Or(pool, DefaultPool)
	advice := "The operator of this installation starts workers of this pool. Organizers can start a worker of a pool of their own, and " +
		"name that pool in the dataset."
	if PoolOrganizer(pool) != "" {
		advice = "Its organizers start one, or name another pool in the dataset that is served."
	}
	return measure.Diagnostic{Severity: measure.Warning, Message: fmt.Sprintf(
		"No worker of the pool %q that %s has been seen for a minute. Runs wait in the queue until one comes, for %d days at most. %s",
		pool, workDescriptions[w], int(QueueTime/Day), advice)}
}
