package records

import (
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/lists"
	"assay/shared/record"
	"assay/shared/store"
)

// Source is one run of items in descending order of their sort key, which is the id.
type Source struct {
	Index     store.Index
	Partition string
	From, To  string // bounds in the table itself, which an id is appended to; empty in an index
	// Instead of a partition: the ids of records, in descending order, and their keys.
	IDs []string
	Key func(id string) store.Key
	// Instead of a partition to read: its items, in the order of the list.
	Items []store.Item
}

// ByIDs returns the source of the records with the ids, each once.
func ByIDs(ids []string, key func(id string) store.Key) Source {
	newestFirst := func(a, b string) int { return strings.Compare(b, a) }
	return Source{IDs: slices.Compact(slices.SortedFunc(slices.Values(ids), newestFirst)), Key: key}
}

// Partition is the source of one partition of an index.
func Partition(i store.Index, partition string) Source { return Source{Index: i, Partition: partition} }

// Of are the sources of all resources of the kind that belong to the one with the id, whose kind is of (record.List).
func Of(of record.Kind, id string, k record.Kind) []Source {
	audiences := record.AudiencesOf(k)
	if of == record.KindTeam {
		audiences = audiences[1:] // what everyone sees is in the lists of users
	}
	return OfAudiences(of, id, k, audiences...)
}

// OfAudiences is Of for the resources with the audiences alone.
func OfAudiences(of record.Kind, id string, k record.Kind, audiences ...access.Audience) []Source {
	all := lists.Map(audiences, func(a access.Audience) Source { return Partition(record.List(of, id, k, a)) })
	return slices.CompactFunc(all, func(x, y Source) bool { return x.Partition == y.Partition })
}

// OfKind are the sources of all resources of the kind with the audiences.
func OfKind(k record.Kind, audiences ...access.Audience) (sources []Source) {
	for _, a := range audiences {
		for _, partition := range record.KindPartitions(k, a) {
			sources = append(sources, Partition(record.ByKind, partition))
		}
	}
	return sources
}

// Registrations is the source of a task's registrations, which are in the table itself.
func Registrations(taskID string) Source {
	return Source{Partition: record.TaskKey(taskID).Partition, From: record.RegistrationPrefix, To: record.RegistrationEnd}
}

// AuditEntries is the source of the audit entries of an organizer and its tasks.
func AuditEntries(organizerID string) Source {
	return Source{Partition: record.AuditPartition(organizerID)}
}
