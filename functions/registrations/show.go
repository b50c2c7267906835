package registrations

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/allowance"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// registration finds the registration that the path names, in the task that the path names.
func registration(ctx context.Context, c *api.Call) (*record.RegistrationItem, error) {
	return visibility.FindIn[record.RegistrationItem](ctx, &c.Viewer, c.Param("taskId"), c.Param("registrationId"), record.RegistrationKey)
}

// show returns the registration with the rest of its quota.
func show(ctx context.Context, c *api.Call, r *record.RegistrationItem) (_ *record.Registration, err error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return nil, err
	}
	if r.Left == nil {
		if err := readAllowance(ctx, c, r); err != nil {
			return nil, err
		}
	}
	v := r.For(roles)
	v.Quota = r.Left
	v.Exceptions = r.Granted
	v.ClosedAt = r.Closed
	return v, nil
}

// readAllowance sets the rest of the team's quota, its exceptions, and when the task closed for it in r. It sets nothing if the task was
// deleted meanwhile. Members of teams that were not accepted see no datasets of a private task.
func readAllowance(ctx context.Context, c *api.Call, r *record.RegistrationItem) error {
	var t *record.TaskItem
	var used *record.Allowance
	var serving *record.Serving
	err := records.Read(ctx, c.Store, c.Consistency, records.Into(&t, record.TaskKey(r.TaskID)),
		records.Into(&used, record.AllowanceKey(r.TaskID, r.ID)), records.Into(&serving, record.ServingKey()))
	if t == nil || err != nil {
		return err
	}
	if used == nil {
		if used, err = allowance.CarriedOver(ctx, c.Store, c.Consistency, r.Scope()); err != nil {
			return err
		}
	}
	used = cmp.Or(used, new(record.Allowance))
	all, err := records.Datasets(ctx, c.Store, t.ID)
	if err != nil {
		return err
	}
	slices.Reverse(all) // The quotas begin with the newest dataset, like the list of datasets.
	roles, err := c.Roles(ctx, t.Scope())
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(slices.Clone(all), func(d *record.DatasetItem) bool { return !access.Sees(roles, d.Scope().Audience) })
	left := used.Quota(t, seen, r.Participation(t), c.Now())
	left.NoteUnserved(t, seen, serving, c.Now())
	r.Left = &left
	r.Granted = used.Exceptions
	r.Closed = used.Closed(t, all, c.Now())
	return nil
}
