package visibility

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// The methods below return partitions with resources of a kind that the caller may see. No other partitions are read, so a list
// reads only resources that its caller may see. A resource may be in several partitions; records.List shows it once.

// AllPartitions returns the sources of all records of the kind that the caller may see, in all tasks.
func (v *Viewer) AllPartitions(ctx context.Context, k record.Kind) ([]records.Source, error) {
	g, err := v.Grants(ctx)
	if err != nil {
		return nil, err
	}
	everywhere, err := v.Roles(ctx, access.Scope{})
	if err != nil {
		return nil, err
	}
	all := records.OfKind(k, access.Seen(everywhere, record.AudiencesOf(k))...)
	if v.Caller.Admin || v.Caller.Anonymous() {
		return all, nil
	}
	all = append(all, sourcesOwned(k, v.Caller.ID, g, "", access.Owners)...)
	return append(all, granted(g, k, record.AudiencesOf(k)[1:])...), nil
}

// granted returns the sources that the grants give access to: records of the user's organizers with the audiences, and records of
// private tasks.
func granted(g record.Grants, k record.Kind, audiences []access.Audience) []records.Source {
	var all []records.Source
	for _, m := range g.Memberships {
		all = append(all, records.OfAudiences(record.KindOrganizer, m.OrganizerID, k, audiences...)...)
	}
	for _, id := range g.PrivateTasks() {
		all = append(all, records.OfAudiences(record.KindTask, id, k, access.Registrants)...)
	}
	return all
}

// VisibleIn returns the sources of records of kind k that the caller may see in the task or dataset with the ID. of is its kind, and
// scope its scope. For a dataset, the caller's own records come from all datasets of the task, so the list must filter them.
func (v *Viewer) VisibleIn(ctx context.Context, k, of record.Kind, id string, scope access.Scope) ([]records.Source, error) {
	roles, err := v.Roles(ctx, scope)
	if err != nil {
		return nil, err
	}
	all := records.OfAudiences(of, id, k, access.Seen(roles&^access.Owner, record.AudiencesOf(k))...)
	if roles&access.User == 0 || roles&(access.Organizer|access.Admin) != 0 {
		return all, nil
	}
	own, err := v.Own(ctx, k, scope.TaskID)
	return append(all, own...), err
}

// VisibleOfUser returns the sources of the kind's records that the user made under the user's own name. For the user and for admins it
// adds records of the user's teams that not everyone sees by name. For admins it also adds blinded records.
func (v *Viewer) VisibleOfUser(ctx context.Context, k record.Kind, userID string) (all []records.Source, err error) {
	all = records.OfAudiences(record.KindUser, userID, k, access.Everyone)
	switch {
	case v.Caller.ID == userID && !v.Caller.Admin:
		own, err := v.Own(ctx, k, "")
		return append(all, own...), err
	case !v.Caller.Admin:
		return all, nil
	}
	g, err := GrantsOf(ctx, v.Store, v.Consistency, userID)
	for _, a := range record.AudiencesOf(k) {
		if a == access.Owners || a == access.Organizers {
			all = append(all, sourcesOwned(k, userID, g, "", a)...)
		}
	}
	return all, err
}

// Own returns the sources of the kind's records that the caller owns and that not everyone sees: records of the caller's team in the
// task, and records without a team. An empty taskID means the caller's teams in all tasks.
func (v *Viewer) Own(ctx context.Context, k record.Kind, taskID string) ([]records.Source, error) {
	g, err := v.Grants(ctx)
	return sourcesOwned(k, v.Caller.ID, g, taskID, access.Owners), err
}

// sourcesOwned is like Own, for the records with the audience of a user with the grants. Datasets have no owner, and anonymous callers
// own nothing.
func sourcesOwned(k record.Kind, userID string, g record.Grants, taskID string, a access.Audience) []records.Source {
	if k == record.KindDataset || userID == "" {
		return nil
	}
	all := records.OfAudiences(record.KindUser, userID, k, a)
	for _, r := range g.Registered {
		if taskID == "" || r.TaskID == taskID {
			all = append(all, records.OfAudiences(record.KindTeam, r.ID, k, a)...)
		}
	}
	return all
}

// Filter restricts a list to resources of the datasets, tasks or users with the IDs. Empty members restrict nothing.
type Filter struct{ DatasetIDs, TaskIDs, UserIDs []string }

// PartitionsFor returns partitions with all resources of the kind that the caller may see and that pass the filter. It uses the member
// of the filter that restricts most. The partitions also hold other resources, which the list must filter. They do not reveal whether a
// dataset or task that the caller does not see exists.
func (v *Viewer) PartitionsFor(ctx context.Context, k record.Kind, f Filter) (all []records.Source, err error) {
	switch {
	case len(f.DatasetIDs) > 0:
		all, err = sourcesUnder(ctx, v, k, f.DatasetIDs, record.DatasetKey, func(d *record.DatasetItem) ([]records.Source, error) {
			return v.VisibleIn(ctx, k, record.KindDataset, d.ID, d.Scope())
		})
	case len(f.TaskIDs) > 0:
		all, err = sourcesUnder(ctx, v, k, f.TaskIDs, record.TaskKey, func(t *record.TaskItem) ([]records.Source, error) {
			return v.VisibleIn(ctx, k, record.KindTask, t.ID, t.Scope())
		})
	case len(f.UserIDs) > 0:
		for _, u := range f.UserIDs {
			more, err := v.VisibleOfUser(ctx, k, u)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		var g record.Grants
		if g, err = v.Grants(ctx); err == nil && !v.Caller.Admin { // also records of others whose names only the caller's grants show
			all = append(all, granted(g, k, record.AudiencesOf(k))...)
		}
	default:
		return v.AllPartitions(ctx, k)
	}
	var distinct []records.Source
	for _, s := range all {
		same := func(o records.Source) bool { return o.Index == s.Index && o.Partition == s.Partition }
		if !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, s)
		}
	}
	return distinct, err
}

// sourcesUnder returns the sources that under returns for each record that the caller sees. For hidden and missing records it returns
// the caller's own sources. It costs one call of the store and the caller's grants.
func sourcesUnder[R any, P scoped[R]](ctx context.Context, v *Viewer, k record.Kind, ids []string, key func(string) store.Key,
	under func(P) ([]records.Source, error)) (all []records.Source, err error) {
	found, err := records.GetAll[R, P](ctx, v.Store, v.Consistency, records.Keys(ids, key)...)
	if err != nil {
		return nil, err
	}
	rolesOf, err := v.RolesOf(ctx)
	if err != nil {
		return nil, err
	}
	own, err := v.Own(ctx, k, "")
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		sources := own
		if r != nil && access.Sees(rolesOf(r.Scope()), r.Scope().Audience) {
			if sources, err = under(r); err != nil {
				return nil, err
			}
		}
		all = append(all, sources...)
	}
	return all, nil
}
