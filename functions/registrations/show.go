package registrations

import (
	"cmp"
	"context"

	"assay/shared/access"
	"assay/shared/api"
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
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&t, record.TaskKey(r.TaskID)),
		records.Into(&used, record.AllowanceKey(r.TaskID, r.UserID)))
	if t == nil || err != nil {
		return nil, err
	}
	return new(cmp.Or(used, new(record.Allowance)).Quota(t.Submissions, c.Now())), nil
}
