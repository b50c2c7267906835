package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/shared/measure"
	"assay/shared/store"
)

// QueuePartition returns the partition of ByWork with the runs that wait for work from the queue.
func QueuePartition(queue string) string { return "QUEUE#" + queue }

// Subqueue is the part of a queue with the runs that the same evaluators or workers can take up. Its runs are in the order of
// their turns, then of the instants at which they were queued. So the runs of a payer, of a task of the payer and of a turn are ranges of
// sort keys.
type Subqueue struct{ queue, prefix string }

// BuiltinSubqueue is the subqueue of the built-in evaluators.
func BuiltinSubqueue() Subqueue { return Subqueue{queue: QueueBuiltin} }

// SlowSubqueue is the subqueue of the slow lane of the built-in evaluators.
func SlowSubqueue() Subqueue { return Subqueue{queue: QueueSlow} }

// WorkerSubqueue is the subqueue of the workers of a pool, for a kind of work.
func WorkerSubqueue(pool string, w Work) Subqueue {
	return Subqueue{QueueWorkers, cmp.Or(pool, DefaultPool) + "#" + string(w) + "#"}
}

// Partition is the one of ByWork that has the subqueue.
func (q Subqueue) Partition() string { return QueuePartition(q.queue) }

// sortKey is the sort key of a run that waits.
func (q Subqueue) sortKey(r *RunItem) string {
	return q.prefix + r.Turn().key() + "#" + due(*r.QueuedAt, r.ID)
}

// Turn names whose turn it is when a run is leased: the payer of the task, the task, the user who submitted to it, and the team that
// the user submitted for. Each name is the end of an id, so that keys, of which each index has a copy, stay short.
type Turn struct{ Payer, Task, Submitter, Team string }

// nameLength is how many characters of an id a name in a Turn has. They are random in a ULID and in the id of a user. Should two names be
// equal all the same, their runs share a turn.
const nameLength = 10

func turnName(id string) string { return id[max(0, len(id)-nameLength):] }

// NewTurn returns the turn of ids.
func NewTurn(payer, task, submitter, team string) Turn {
	return Turn{Payer: turnName(payer), Task: turnName(task), Submitter: turnName(submitter), Team: turnName(team)}
}

// turnParts is how many parts a sort key has behind the prefix of its subqueue: four of the turn, the instant and the id.
const turnParts = 6

// turnOf returns the turn of a sort key behind its prefix; the zero Turn for a key with fewer parts.
func turnOf(key string) Turn {
	parts := strings.SplitN(key, "#", turnParts)
	if len(parts) < turnParts {
		return Turn{}
	}
	return Turn{Payer: parts[0], Task: parts[1], Submitter: parts[2], Team: parts[3]}
}

// key is what the sort keys of the turn have in common.
func (t Turn) key() string {
	return t.Payer + "#" + t.Task + "#" + t.Submitter + "#" + t.Team
}

// Levels names whose use of the evaluators counts for the turn: the payer, the submitter for that payer, the task, and the team.
func (t Turn) Levels() [4]string {
	submitter := t.Payer + "#" + t.Submitter
	task := submitter + "#" + t.Task
	return [4]string{t.Payer, submitter, task, task + "#" + t.Team}
}

// KeyRange is a range of sort keys of ByWork, with both its bounds; an empty one is none.
type KeyRange struct{ From, To string }

// rangeOf has the sort key and all that continue it with a further part. Its end is no sort key.
func rangeOf(key string) KeyRange { return KeyRange{key, key + "$"} }

// Turn returns the turn of a sort key of the subqueue.
func (q Subqueue) Turn(sort string) Turn { return turnOf(strings.TrimPrefix(sort, q.prefix)) }

// All has all runs of the subqueue.
func (q Subqueue) All() KeyRange {
	if q.prefix == "" {
		return KeyRange{}
	}
	return rangeOf(strings.TrimSuffix(q.prefix, "#"))
}

// OfPayer has the runs of the payer of a turn.
func (q Subqueue) OfPayer(t Turn) KeyRange { return rangeOf(q.prefix + t.Payer) }

// OfTask has the runs of a task.
func (q Subqueue) OfTask(t *TaskItem) KeyRange {
	return rangeOf(q.prefix + turnName(t.PayerID()) + "#" + turnName(t.ID))
}

// OfTurn has the runs of a turn.
func (q Subqueue) OfTurn(t Turn) KeyRange { return rangeOf(q.prefix + t.key()) }

// QueuedSince returns since when the run waits that has the sort key in a queue: it stands before the id.
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

// WorkerPool returns the pool and the kind of work of a run that has the sort key in the queue of workers, and what is behind all runs of
// both.
func WorkerPool(sort string) (pool string, w Work, behind string, err error) {
	q, err := WorkerSubqueueOf(sort)
	if err != nil {
		return "", "", "", err
	}
	pool, work, _ := strings.Cut(strings.TrimSuffix(q.prefix, "#"), "#")
	return pool, Work(work), q.All().To, nil
}

// Serving is when workers were last seen, by pool and kind of work. It is one item, which is read when something that waits
// for a worker is shown, and for GET /info.
type Serving struct {
	Meta
	Seen map[string]Instant // by the prefix of the subqueue that such a worker serves
}

const (
	servingNoted = 20 * time.Second // for which a worker that is seen again is not noted again
	servingKnown = time.Minute      // for which a subqueue counts as served after a worker of it was seen
	builderKnown = time.Hour        // for which a pool counts as one with builders
	maxServed    = 2000             // subqueues that are noted: an item of the table has 400 KB
)

// builders ends the prefix of what stands for the workers of a pool that build repositories, which not all that execute them do.
const builders = "#builds#"

// BuilderSubqueue stands for the workers of a pool that build repositories. No run waits there.
func BuilderSubqueue(pool string) Subqueue { return Subqueue{QueueWorkers, pool + builders} }

// Key implements Record.
func (*Serving) Key() store.Key { return ServingKey() }

// ServingKey is the key of the Serving.
func ServingKey() store.Key { return store.Key{Partition: "WORKERS", Sort: "SERVING"} }

// Note notes that a worker of the subqueues was seen at now, forgets those of which none was for long and, when they are too many, those
// of the organizer that has the most, and reports whether anything is new.
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

// mostCrowded returns, of the organizer that has the most subqueues, the one that was seen the longest ago. The platform's own are never
// of too many: members of organizers cannot add to them.
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

// Serves reports whether a worker of the subqueue was seen within the last minute. Nobody serves a nil Serving.
func (s *Serving) Serves(q Subqueue, now time.Time) bool {
	return s != nil && now.Sub(s.Seen[q.prefix].Time) < servingKnown
}

// Builders are the pools in which repositories are built at now, in order.
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

// Workers says when one was last seen of the workers of a pool that do a kind of work.
type Workers struct {
	Pool   string
	Work   Work
	SeenAt Instant
}

// Workers lists those that were seen within the hour before now. A nil Serving has none.
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

// workDescriptions says what workers do that do a kind of work.
var workDescriptions = map[Work]string{ExecuteImage: "executes images", ExecuteRepository: "builds and executes repositories",
	Evaluate: "runs the evaluators of organizers"}

// Unserved is the diagnostic, as answers have it, of what waits for workers of a pool of which none was seen for a minute.
func Unserved(pool string, w Work) measure.Diagnostic {
	return measure.Diagnostic{Severity: measure.Warning, Message: fmt.Sprintf(
		"No worker of the pool %q that %s has been seen for a minute. Runs wait in the queue until one comes, for %d days at most: organizers "+
			"start one, or name a pool that is served.",
		cmp.Or(pool, DefaultPool), workDescriptions[w], int(QueueTime/Day))}
}
