package visibility

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/records"
)

// InputRoles returns the caller's roles for the inputs of a dataset that the caller sees. If only the role of a registrant gives
// access, and the caller's team has not accepted the present terms of the task, it removes that role and returns the reason. If the
// inputs are for anyone, it reads no terms.
func (v *Viewer) InputRoles(ctx context.Context, d *record.DatasetItem) (roles access.Role, unaccepted, err error) {
	roles, err = v.Roles(ctx, d.Scope())
	others := roles &^ access.Registrant
	if err != nil || d.ReadsInputs(others) || !d.ReadsInputs(roles) {
		return roles, nil, err
	}
	g, err := v.Grants(ctx)
	if err != nil {
		return others, nil, err
	}
	grant, _ := g.ForTask(d.TaskID)
	var t *record.TaskItem
	var r *record.RegistrationItem
	err = records.Read(ctx, v.Store, v.Consistency, records.Into(&t, record.TaskKey(d.TaskID)),
		records.Into(&r, record.RegistrationKey(d.TaskID, grant.ID)))
	if err != nil || t == nil || r == nil {
		return others, nil, err
	}
	unaccepted = r.CheckTerms(t)
	if unaccepted != nil {
		roles = others
	}
	return roles, unaccepted, nil
}
