package api

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// Narrowest names the partitions that hold all that the caller may see of the kind and that passes the request's filters
// datasetId, taskId and userId, from those of the filter that narrows most. What they hold besides, the list leaves out.
// For a dataset or task that the caller does not see they are the same as for one that is missing.
func (c *Call) Narrowest(ctx context.Context, k record.Kind) ([]table.Source, error) {
	var all []table.Source
	add := func(more ...table.Source) {
		for _, s := range more {
			same := func(o table.Source) bool { return o.Index == s.Index && o.Partition == s.Partition }
			if !slices.ContainsFunc(all, same) {
				all = append(all, s)
			}
		}
	}
	unseen := func() {
		if !c.Caller.Anonymous() {
			add(own(k, c.Caller.ID)...)
		}
	}
	datasets, tasks, users := c.Page.Values("datasetId"), c.Page.Values("taskId"), c.Page.Values("userId")
	switch {
	case len(datasets) > 0:
		err := eachSeen[record.DatasetItem](ctx, c, datasets, record.DatasetKey, unseen, func(d *record.DatasetItem) error {
			more, err := c.VisibleOfDataset(ctx, k, d.ID, d.Scope())
			add(more...)
			return err
		})
		return all, err
	case len(tasks) > 0:
		err := eachSeen[record.TaskItem](ctx, c, tasks, record.TaskKey, unseen, func(t *record.TaskItem) error {
			more, err := c.VisibleOfTask(ctx, k, t.Scope())
			add(more...)
			return err
		})
		return all, err
	case len(users) > 0:
		for _, u := range users {
			add(c.VisibleOfUser(k, u)...)
		}
		more, err := c.visibleUnnamed(ctx, k)
		add(more...)
		return all, err
	default:
		return c.VisibleEverywhere(ctx, k)
	}
}

// visibleUnnamed is what the caller may see, by what the caller was granted, of others who are not named to everyone.
func (c *Call) visibleUnnamed(ctx context.Context, k record.Kind) ([]table.Source, error) {
	g, err := c.Grants(ctx)
	if err != nil || c.Caller.Admin {
		return nil, err
	}
	var all []table.Source
	for _, o := range g.Memberships {
		for _, a := range record.AudiencesOf(k) {
			all = append(all, table.Partition(record.ByOrganizer, record.OfOrganizer(o, k, a)))
		}
	}
	for _, r := range g.Registrations {
		if r.PrivateTask {
			all = append(all, table.Partition(record.ByTask, record.OfTask(r.TaskID, k, access.Registrants)))
		}
	}
	return all, nil
}

// eachSeen calls do with each of the records that the caller sees, and unseen for each that is hidden or missing. It costs
// one call of the store and the caller's grants.
func eachSeen[R any, P interface {
	table.Pointer[R]
	Target
}](ctx context.Context, c *Call, ids []string, key func(string) store.Key, unseen func(), do func(P) error) error {
	keys := make([]store.Key, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	found, err := table.GetAll[R, P](ctx, c.Store, c.ReadConsistency(), keys...)
	if err != nil {
		return err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	for _, r := range found {
		if r == nil || !access.Sees(access.Roles(c.Caller, g.Grants, r.Scope()), r.Scope().Audience) {
			unseen()
			continue
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// Sees reports whether the caller may know of something in the scope.
func (c *Call) Sees(ctx context.Context, s access.Scope) (bool, error) {
	if access.Sees(access.Anyone, s.Audience) {
		return true, nil
	}
	roles, err := c.Roles(ctx, s)
	return access.Sees(roles, s.Audience), err
}

// Unchecked returns a parameter of the query before it was checked, so that a Loader can read in one call all that the
// request will need.
func (c *Call) Unchecked(param string) string { return c.request.URL.Query().Get(param) }
