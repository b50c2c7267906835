package registrations

import (
	"cmp"
	"context"
	"strconv"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// registration finds the one that the path names, which must be of the task that the path names.
func registration(ctx context.Context, c *api.Call) (*record.RegistrationItem, error) {
	key := func(id string) store.Key { return record.RegistrationKey(c.Param("taskId"), id) }
	if !record.IsID(c.Param("taskId")) {
		return nil, visibility.Missing
	}
	return visibility.Find[record.RegistrationItem](ctx, &c.Viewer, c.Param("registrationId"), key)
}

// show returns the registration with what is left of the task's quota.
func show(ctx context.Context, c *api.Call, r *record.RegistrationItem) (_ *record.Registration, err error) {
	roles := access.Owner
	if c.Caller.ID != r.UserID {
		if roles, err = c.Roles(ctx, r.Scope()); err != nil {
			return nil, err
		}
	}
	if r.Left == nil {
		if r.Left, err = quota(ctx, c, r); err != nil {
			return nil, err
		}
	}
	v := r.For(roles)
	v.Quota = r.Left
	return v, nil
}

// quota reads what is left to the registered user; nil when the task was deleted meanwhile.
func quota(ctx context.Context, c *api.Call, r *record.RegistrationItem) (*record.Quota, error) {
	var t *record.TaskItem
	var used *record.Allowance
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&t, record.TaskKey(r.TaskID)), records.Into(&used, record.AllowanceKey(r.TaskID, r.UserID)))
	if t == nil || err != nil {
		return nil, err
	}
	return new(cmp.Or(used, new(record.Allowance)).Quota(t.Submissions, c.Now())), nil
}

func list(ctx context.Context, c *api.Call, t *record.TaskItem) (p page.Page[*record.Registration], err error) {
	roles, err := c.Roles(ctx, t.Scope())
	if err != nil {
		return p, err
	}
	sources := []records.Source{records.Registrations(t.ID)}
	if roles&(access.Organizer|access.Admin) == 0 {
		if sources, err = own(ctx, c, t.ID); err != nil {
			return p, err
		}
	}
	keep := func(r *record.RegistrationItem) bool { return c.Page.Keeps("state", string(r.State)) }
	return api.PageOf(ctx, c, sources, keep, func(r *record.RegistrationItem) *record.Registration { return r.For(roles) })
}

// own is the source of the caller's own registration.
func own(ctx context.Context, c *api.Call, taskID string) ([]records.Source, error) {
	g, err := c.Grants(ctx)
	if err != nil {
		return nil, err
	}
	mine, ok := g.ForTask(taskID)
	if !ok {
		return nil, nil
	}
	return []records.Source{{Keys: []store.Key{record.RegistrationKey(taskID, mine.ID)}, IDs: []string{mine.ID}}}, nil
}

// rows is a list as a table of text.
func rows(all []*record.Registration) [][]string {
	table := [][]string{{"id", "team", "alias", "anonymous", "state", "userId", "userName", "userEmail", "affiliation", "country", "contact", "createdAt"}}
	for _, r := range all {
		user := cmp.Or(r.User, new(record.Person))
		table = append(table, []string{r.ID, r.Team, r.Alias, strconv.FormatBool(r.Anonymous), string(r.State), r.UserID, user.Name, user.Email, r.Affiliation, r.Country, r.Contact, r.CreatedAt.String()})
	}
	return table
}
