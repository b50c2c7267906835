package record

import (
	"strings"
	"time"
)

// DuePrefix begins the partitions of ByWork that hold pending work. Each of them is a line of the background worker.
const DuePrefix = "DUE#"

// The partitions of pending work.
const (
	DueRuns     = DuePrefix + "runs"     // by time
	DueDatasets = DuePrefix + "datasets" // by the user who pays for the files, and then by time
	DueOthers   = DuePrefix + "others"   // of all other records, by time
)

// pending adds the entry in the partition for the work, unless w is nil.
func (x indexes) pending(partition string, w *PendingWork, id string) indexes {
	if w == nil {
		return x
	}
	return x.with(ByWork, partition, due(w.NotBefore, id))
}

// pendingOfPayer is pending for a partition whose sort keys begin with the payer.
func (x indexes) pendingOfPayer(partition, payer string, w *PendingWork, id string) indexes {
	if w == nil {
		return x
	}
	return x.with(ByWork, partition, dueOfPayer(payer, w.NotBefore, id))
}

// due returns the sort key of work in a partition that is ordered by time.
func due(at Instant, id string) string { return at.sortable() + "#" + id }

// dueOfPayer returns the sort key of work in a partition that is ordered by payer.
func dueOfPayer(payer string, at Instant, id string) string { return payer + "#" + due(at, id) }

// DueBy returns a sort key that is greater than those of work that is due at the instant or before, and less than all others.
func DueBy(at time.Time) string { return At(at).sortable() + "$" }

// DueAt returns the instant of a sort key that begins with the time.
func DueAt(sort string) (time.Time, error) {
	at, _, _ := strings.Cut(sort, "#")
	return time.Parse(instantLayout, at)
}

// DueOfPayer returns the payer and the instant of a sort key that begins with the payer.
func DueOfPayer(sort string) (payer string, at time.Time, err error) {
	payer, rest, _ := strings.Cut(sort, "#")
	at, err = DueAt(rest)
	return payer, at, err
}

// DueByOfPayer returns the range of the sort keys of the payer's work that is due at the instant or before.
func DueByOfPayer(payer string, at time.Time) (from, to string) {
	return payer + "#", payer + "#" + DueBy(at)
}

// DueAfter returns a key between a sort key and the next one, or between the sort keys of a payer and of the next payer.
func DueAfter(sortOrPayer string) string { return sortOrPayer + "$" }
