package tasks

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[record.Task], err error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return p, err
	}
	// The private tasks of a registrant are read by their keys, and include tasks that the registrant may not see any more.
	keep := func(t *record.TaskItem) bool {
		return access.Sees(access.Roles(c.Caller, g.Grants, t.Scope()), t.Scope().Audience) && c.Page.MatchesText("name", t.Name) &&
			c.Page.Matches("organizerId", t.OrganizerID) && c.Page.Matches("visibility", string(t.Visibility))
	}
	return api.PageOf(ctx, c, visible(c, g), keep, func(t *record.TaskItem) record.Task { return t.Task })
}

// visible returns the sources of the tasks that the caller may see: public tasks, tasks of the caller's organizers, and private tasks for
// which the caller is registered. With a filter by organizers, it returns the tasks of these organizers and the private tasks.
func visible(c *api.Call, g record.Grants) []records.Source {
	all := registered(g)
	if named := c.Page.Values("organizerId"); len(named) > 0 {
		for _, o := range named {
			roles := access.Roles(c.Caller, g.Grants, access.Scope{OrganizerID: o})
			all = append(all, records.OfAudiences(record.KindOrganizer, o, record.KindTask, access.Seen(roles, taskAudiences)...)...)
		}
		return all
	}
	roles := access.Roles(c.Caller, access.Grants{}, access.Scope{})
	all = append(all, records.OfKind(record.KindTask, access.Seen(roles, taskAudiences)...)...)
	for _, m := range g.Memberships {
		all = append(all, records.Partition(record.List(record.KindOrganizer, m.OrganizerID, record.KindTask, access.Registrants)))
	}
	return all
}

// taskAudiences are the audiences that a task in a list can have.
var taskAudiences = []access.Audience{access.Everyone, access.Registrants}

// registered returns the source of the private tasks for which the caller is registered.
func registered(g record.Grants) []records.Source {
	ids := g.PrivateTasks()
	if len(ids) == 0 {
		return nil
	}
	return []records.Source{records.ByIDs(ids, record.TaskKey)}
}
