package records

import (
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
)

// Source is a sequence of items in descending order of their IDs. Its members say where the items are:
//
//	Index, Partition      in a partition of an index, whose sort keys are the IDs
//	Partition, From, To   in the table, with sort keys between From and To that consist of From and the ID
//	IDs, Key              under the keys that Key returns for the IDs, which are in descending order
//	Items                 in memory, in the order of the list
type Source struct {
	Index     store.Index
	Partition string
	From, To  string
	IDs       []string
	Key       func(id string) store.Key
	Items     []store.Item
}

// ByIDs returns the source of the records with the IDs, without duplicates.
func ByIDs(ids []string, key func(id string) store.Key) Source {
	newestFirst := func(a, b string) int { return strings.Compare(b, a) }
	return Source{IDs: slices.Compact(slices.SortedFunc(slices.Values(ids), newestFirst)), Key: key}
}

// Partition returns the source for one partition of an index.
func Partition(i store.Index, partition string) Source { return Source{Index: i, Partition: partition} }

// Of returns the sources for all resources of kind k that belong to the owner, a resource with its kind and ID (see record.List).
func Of(owner record.Kind, ownerID string, k record.Kind) []Source {
	audiences := record.AudiencesOf(k)
	if owner == record.KindTeam {
		audiences = audiences[1:] // lists of users have the resources that everyone sees
	}
	return OfAudiences(owner, ownerID, k, audiences...)
}

// OfAudiences is like Of, for resources with the given audiences only.
func OfAudiences(owner record.Kind, ownerID string, k record.Kind, audiences ...access.Audience) []Source {
	all := lists.Map(audiences, func(a access.Audience) Source { return Partition(record.List(owner, ownerID, k, a)) })
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
