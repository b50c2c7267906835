package runs

import (
	"context"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// states are the values of the filter.
var states = []string{
	string(record.AwaitingUpload), string(record.Queued), string(record.Running), string(record.Evaluating),
	string(record.Completed), string(record.Failed), string(record.Cancelled),
}

func list(ctx context.Context, c *api.Call, _ api.Open) (p page.Page[record.Run], err error) {
	sources, err := sources(ctx, c)
	if err != nil {
		return p, err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	roles := func(r *record.RunItem) access.Role { return access.Roles(c.Caller, g.Grants, r.Scope()) }
	var keep func(*record.RunItem) bool
	for _, name := range []string{"taskId", "datasetId", "userId", "submissionId", "state"} {
		if len(c.Page.Values(name)) > 0 {
			keep = func(r *record.RunItem) bool { return keeps(c, r, roles(r)) }
		}
	}
	found, next, err := table.List[record.RunItem](ctx, c.Store, table.Selection{Sources: sources, Cursor: c.Page.Cursor, Limit: c.Page.Limit}, keep)
	if err != nil {
		return p, err
	}
	p.Cursor = next
	for _, r := range found {
		p.Data = append(p.Data, r.For(roles(r)))
	}
	return p, nil
}

// keeps applies the filters to a run as one who has the roles sees it: nobody finds an anonymous team by its user.
func keeps(c *api.Call, r *record.RunItem, roles access.Role) bool {
	v := r.For(roles)
	return access.Sees(roles, r.Scope().Audience) &&
		c.Page.Keeps("taskId", v.TaskID) && c.Page.Keeps("datasetId", v.DatasetID) && c.Page.Keeps("userId", v.UserID) &&
		c.Page.Keeps("submissionId", v.SubmissionID) && c.Page.Keeps("state", string(v.State))
}

// sources names what the list is read from: the runs of submissions by their keys, or else the narrowest partitions.
func sources(ctx context.Context, c *api.Call) ([]table.Source, error) {
	ids := c.Page.Values("submissionId")
	if len(ids) == 0 {
		return c.Narrowest(ctx, record.KindRun)
	}
	keys := make([]store.Key, len(ids))
	for i, id := range ids {
		keys[i] = record.SubmissionKey(id)
	}
	submissions, err := table.GetAll[record.SubmissionItem](ctx, c.Store, c.ReadConsistency(), keys...)
	if err != nil {
		return nil, err
	}
	var from table.Source
	for _, s := range submissions {
		if s == nil {
			continue
		}
		sees, err := c.Sees(ctx, s.Scope())
		if err != nil {
			return nil, err
		}
		if sees {
			from.IDs = append(from.IDs, s.RunIDs...)
		}
	}
	slices.SortFunc(from.IDs, func(a, b string) int { return strings.Compare(b, a) })
	from.IDs = slices.Compact(from.IDs)
	for _, id := range from.IDs {
		from.Keys = append(from.Keys, record.RunKey(id))
	}
	return []table.Source{from}, nil
}
