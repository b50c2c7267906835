package visibility

import (
	"context"
	"slices"

	"assay/shared/record"
	"assay/shared/records"
)

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
			add(own(k, v.Caller.ID)...)
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
		more, err := v.visibleByGrants(ctx, k)
		add(more...)
		return all, err
	default:
		return v.AllPartitions(ctx, k)
	}
}

// visibleByGrants is what the caller may see, by what the caller was granted, of others who are not named to everyone.
func (v *Viewer) visibleByGrants(ctx context.Context, k record.Kind) ([]records.Source, error) {
	g, err := v.Grants(ctx)
	if err != nil || v.Caller.Admin {
		return nil, err
	}
	return granted(g, k, record.AudiencesOf(k)), nil
}
