package records

import (
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
)

// Source is a sequence of items in descending order of their sort keys. The sort key is the ID.
type Source struct {
	Index     store.Index
	Partition string
	From, To  string // bounds of sort keys in the table; From precedes the ID in them; empty in an index
	// IDs are, instead of a partition, the IDs of records in descending order. Key returns their keys.
	IDs []string
	Key func(id string) store.Key
	// Items are, instead of a partition, items in the order of the list.
	Items []store.Item
}

// ByIDs returns the source of the records with the IDs, without duplicates.
func ByIDs(ids []string, key func(id string) store.Key) Source {
	newestFirst := func(a, b string) int { return strings.Compare(b, a) }
	return Source{IDs: slices.Compact(slices.SortedFunc(slices.Values(ids), newestFirst)), Key: key}
}

// Partition returns the source for one partition of an index.
func Partition(i store.Index, partition string) Source { return Source{Index: i, Partition: partition} }

// Of returns the sources for all resources of kind k that belong to the resource of kind of with the ID (see record.List).
func Of(of record.Kind, id string, k record.Kind) []Source {
	audiences := record.AudiencesOf(k)
	if of == record.KindTeam {
		audiences = audiences[1:] // lists of users have the resources that everyone sees
	}
	return OfAudiences(of, id, k, audiences...)
}

// OfAudiences is like Of, for resources with the given audiences only.
func OfAudiences(of record.Kind, id string, k record.Kind, audiences ...access.Audience) []Source {
	all := lists.Map(audiences, func(a access.Audience) Source { return Partition(record.List(of, id, k, a)) })
	return slices.CompactFunc(all, func(x, y Source) bool { return x.Partition == y.Partition })
}

// OfKind returns the sources for all resources of the kind with the audiences.
func OfKind(k record.Kind, audiences ...access.Audience) (sources []Source) {
	for _, a := range audiences {
		for _, partition := range record.KindPartitions(k, a) {
			sources = append(sources, Partition(record.ByKind, partition))
		}
	}
	return sources
}

// Registrations returns the source for a task's registrations, which it reads from the table.
func Registrations(taskID string) Source {
	return Source{Partition: record.TaskKey(taskID).Partition, From: record.RegistrationPrefix, To: record.RegistrationEnd}
}

// AuditEntries returns the source for the audit entries of an organizer and its tasks.
func AuditEntries(organizerID string) Source {
	return Source{Partition: record.AuditPartition(organizerID)}
}
