package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// QueuePartition returns the partition of ByWork with the runs that wait for work from the queue.
func QueuePartition(queue string) string { return "QUEUE#" + queue }

// Subqueue is the part of a queue with the runs that the same evaluators or workers can take up. Its runs are in the order of
// their tasks, then of their teams, then of the instants at which they were queued, so that the runs of a task, and those of
// a team in it, are a range of sort keys.
type Subqueue struct{ queue, prefix string }

// BuiltinSubqueue is the subqueue of the built-in evaluators.
func BuiltinSubqueue() Subqueue { return Subqueue{queue: QueueBuiltin} }

// WorkerSubqueue is the subqueue of the workers of a pool, for a kind of work.
func WorkerSubqueue(pool string, w Work) Subqueue {
	return Subqueue{QueueWorkers, cmp.Or(pool, DefaultPool) + "#" + string(w) + "#"}
}

// Partition is the one of ByWork that has the subqueue.
func (q Subqueue) Partition() string { return QueuePartition(q.queue) }

// sortKey is the sort key of a run that waits.
func (q Subqueue) sortKey(r *RunItem) string {
	return q.prefix + r.TaskID + "#" + r.UserID + "#" + due(*r.QueuedAt, r.ID)
}

// KeyRange is a range of sort keys of ByWork, with both its bounds; an empty one is none.
type KeyRange struct{ From, To string }

// TasksAfter returns the ranges with the runs of the tasks behind the given one, and then of those up to it; when that is empty,
// the one range with all.
func (q Subqueue) TasksAfter(behind string) []KeyRange { return rangesAfter(q.prefix, behind) }

// TeamsAfter is TasksAfter for the teams of a task.
func (q Subqueue) TeamsAfter(task, behind string) []KeyRange {
	return rangesAfter(q.prefix+task+"#", behind)
}

func rangesAfter(prefix, behind string) []KeyRange {
	all := KeyRange{From: prefix}
	if prefix != "" {
		all.To = afterPrefix(prefix)
	}
	if behind == "" {
		return []KeyRange{all}
	}
	cut := afterPrefix(prefix + behind + "#")
	return []KeyRange{{cut, all.To}, {all.From, cut}}
}

// afterPrefix returns what is greater than all that begins with the prefix, which ends in #, and not than what follows them.
func afterPrefix(prefix string) string { return prefix[:len(prefix)-1] + "$" }

// TaskAndTeam returns the task and the team that a sort key of the subqueue names.
func (q Subqueue) TaskAndTeam(sort string) (task, team string) {
	task, rest, _ := strings.Cut(strings.TrimPrefix(sort, q.prefix), "#")
	team, _, _ = strings.Cut(rest, "#")
	return task, team
}

// QueuedSince returns since when the run waits that has the sort key in a queue: it stands before the id.
func QueuedSince(sort string) (time.Time, error) {
	parts := strings.Split(sort, "#")
	if len(parts) < 2 {
		return time.Time{}, fmt.Errorf("record: %q is no key of a queue", sort)
	}
	return DueAt(parts[len(parts)-2])
}

// WorkerTeamPrefix returns what the sort keys of a team begin with that has the given one in the queue of workers, in one
// subqueue and one task, and what is behind all of them.
func WorkerTeamPrefix(sort string) (prefix, behind string, err error) {
	parts := strings.SplitN(sort, "#", 5)
	if len(parts) < 5 {
		return "", "", fmt.Errorf("record: %q is no key of the queue of workers", sort)
	}
	prefix = strings.Join(parts[:4], "#") + "#"
	return prefix, afterPrefix(prefix), nil
}
