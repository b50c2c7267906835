package visibility

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
)

// The methods below return the partitions that hold the resources of a kind that the caller may see, and no others: a list
// reads nothing that its caller may not see. A resource may be in several partitions; records.List shows it once.

// AllPartitions returns the sources of all records of the kind, in all tasks, that the caller may see.
func (v *Viewer) AllPartitions(ctx context.Context, k record.Kind) ([]records.Source, error) {
	g, err := v.Grants(ctx)
	if err != nil {
		return nil, err
	}
	everywhere, err := v.Roles(ctx, access.Scope{})
	if err != nil {
		return nil, err
	}
	var all []records.Source
	for _, a := range record.AudiencesOf(k) {
		if access.Sees(everywhere, a) {
			for _, p := range record.KindPartitions(k, a) {
				all = append(all, records.Partition(record.ByKind, p))
			}
		}
	}
	if v.Caller.Admin || v.Caller.Anonymous() {
		return all, nil
	}
	all = append(all, ownSources(k, v.Caller.ID)...)
	return append(all, granted(g, k, record.AudiencesOf(k)[1:])...), nil
}

// granted returns the sources that grants open to a user: those of the user's organizers with the audiences, and of private tasks.
func granted(g record.Grants, k record.Kind, audiences []access.Audience) []records.Source {
	var all []records.Source
	for _, o := range g.Memberships {
		for _, a := range audiences {
			all = append(all, records.Partition(record.ByOrganizer, record.OrganizerPartition(o, k, a)))
		}
	}
	for _, id := range g.PrivateTasks() {
		all = append(all, records.Partition(record.ByTask, record.TaskPartition(id, k, access.Registrants)))
	}
	return all
}

// VisibleOfTask returns the sources of the kind's records in one task, which has the scope, that the caller may see.
func (v *Viewer) VisibleOfTask(ctx context.Context, k record.Kind, task access.Scope) ([]records.Source, error) {
	return v.visibleUnder(ctx, k, task, func(a access.Audience) records.Source {
		return records.Partition(record.ByTask, record.TaskPartition(task.TaskID, k, a))
	})
}

// VisibleOfDataset returns the sources of the kind's records on one dataset, which has the scope, that the caller may see. The
// caller's own records come from all datasets.
func (v *Viewer) VisibleOfDataset(ctx context.Context, k record.Kind, datasetID string, dataset access.Scope) ([]records.Source, error) {
	return v.visibleUnder(ctx, k, dataset, func(a access.Audience) records.Source {
		return records.Partition(record.ByDataset, record.DatasetPartition(datasetID, k, a))
	})
}

// visibleUnder adds the source of all records that the caller owns, of which the list keeps those of the parent.
func (v *Viewer) visibleUnder(ctx context.Context, k record.Kind, parent access.Scope,
	part func(access.Audience) records.Source) ([]records.Source, error) {
	roles, err := v.Roles(ctx, parent)
	if err != nil {
		return nil, err
	}
	var all []records.Source
	for _, a := range record.AudiencesOf(k) {
		if access.Sees(roles&^access.Owner, a) {
			all = append(all, part(a))
		}
	}
	if roles&access.User != 0 && roles&(access.Organizer|access.Admin) == 0 {
		all = append(all, ownSources(k, v.Caller.ID)...)
	}
	return all, nil
}

// VisibleOfUser returns the sources of the kind's records that a user made under the user's own name; for the user and for admins
// also those made under an alias, and for admins those that are blinded.
func (v *Viewer) VisibleOfUser(k record.Kind, userID string) []records.Source {
	all := []records.Source{records.Partition(record.ByUser, record.UserListPartition(userID, k, access.Everyone))}
	if v.Caller.Admin || v.Caller.ID == userID {
		all = append(all, ownSources(k, userID)...)
	}
	if v.Caller.Admin && slices.Contains(record.AudiencesOf(k), access.Organizers) {
		all = append(all, records.Partition(record.ByUser, record.UserListPartition(userID, k, access.Organizers)))
	}
	return all
}

// ownSources returns the sources of records that a user made and not everyone sees. Nobody owns a dataset.
func ownSources(k record.Kind, userID string) []records.Source {
	if k == record.KindDataset {
		return nil
	}
	return []records.Source{records.Partition(record.ByUser, record.UserListPartition(userID, k, access.Owners))}
}

// Filter has the ids of datasets, tasks or users to whose resources a list is restricted; empty members restrict nothing.
type Filter struct{ DatasetIDs, TaskIDs, UserIDs []string }

// PartitionsFor returns the partitions that hold all resources of the kind that the caller may see and that pass the filter,
// by the member that restricts most. They also hold others, which the list filters. For a dataset or task that the caller does
// not see they are the same as for one that is missing.
func (v *Viewer) PartitionsFor(ctx context.Context, k record.Kind, f Filter) ([]records.Source, error) {
	var all []records.Source
	add := func(more ...records.Source) {
		for _, s := range more {
			same := func(o records.Source) bool { return o.Index == s.Index && o.Partition == s.Partition }
			if !slices.ContainsFunc(all, same) {
				all = append(all, s)
			}
		}
	}
	unseen := func() {
		if !v.Caller.Anonymous() {
			add(ownSources(k, v.Caller.ID)...)
		}
	}
	switch {
	case len(f.DatasetIDs) > 0:
		err := eachVisible[record.DatasetItem](ctx, v, f.DatasetIDs, record.DatasetKey, unseen, func(d *record.DatasetItem) error {
			more, err := v.VisibleOfDataset(ctx, k, d.ID, d.Scope())
			add(more...)
			return err
		})
		return all, err
	case len(f.TaskIDs) > 0:
		err := eachVisible[record.TaskItem](ctx, v, f.TaskIDs, record.TaskKey, unseen, func(t *record.TaskItem) error {
			more, err := v.VisibleOfTask(ctx, k, t.Scope())
			add(more...)
			return err
		})
		return all, err
	case len(f.UserIDs) > 0:
		for _, u := range f.UserIDs {
			add(v.VisibleOfUser(k, u)...)
		}
		g, err := v.Grants(ctx)
		if err == nil && !v.Caller.Admin { // and what the caller was granted of others who are not named to everyone
			add(granted(g, k, record.AudiencesOf(k))...)
		}
		return all, err
	default:
		return v.AllPartitions(ctx, k)
	}
}
