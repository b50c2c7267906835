package registrations

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// remove withdraws a registration under which nothing that was submitted is left. What was used of the quota stays known,
// so that registering again gives nothing back; nor is it a way around having been rejected, unless an organizer made the
// registration: users can always leave a task that others added them to.
func remove(ctx context.Context, c *api.Call, r *record.RegistrationItem) error {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return err
	}
	organizes := roles&(access.Organizer|access.Admin) != 0
	if r.State == record.Rejected && !organizes && !r.Added {
		return problem.Forbidden.New("The organizers rejected your registration, so only they can delete it. Ask them about it.")
	}
	c.Tx.Delete(r).DeleteKey(record.RegisteredKey(r.UserID, r.TaskID))
	if name, reserved := r.ReservedName(); reserved {
		c.Tx.DeleteKey(name)
	}
	used, err := records.Get[record.Allowance](ctx, c.Store, store.Strong, record.AllowanceKey(r.TaskID, r.UserID))
	switch {
	case err != nil:
		return err
	case used == nil:
		c.Tx.CheckAbsent(record.AllowanceKey(r.TaskID, r.UserID))
	case used.Submissions > 0:
		return problem.Conflict.New("There are submissions under this registration. Delete them first.")
	default:
		c.Tx.Check(used)
	}
	return c.AuditFree(ctx, r.Scope(), record.RegistrationDeleted, path(r), decided{r.State}, nil)
}
