package visibility

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
)

// InputRoles returns the caller's roles for the inputs of a dataset that the caller sees. If only the role of a registrant gives
// access, and the caller's team has not accepted the present terms of the task, it removes that role and returns the reason. If the
// inputs are for anyone, it reads no terms. Otherwise it reads those of each task once.
func (v *Viewer) InputRoles(ctx context.Context, d *record.DatasetItem) (roles access.Role, unaccepted, err error) {
	roles, err = v.Roles(ctx, d.Scope())
	others := roles &^ access.Registrant
	if err != nil || d.ReadsInputs(others) || !d.ReadsInputs(roles) {
		return roles, nil, err
	}
	unaccepted, err = v.unacceptedTerms(ctx, d.TaskID)
	if err != nil || unaccepted != nil {
		roles = others
	}
	return roles, unaccepted, err
}

// errUnregistered is the reason of a user whose registration was deleted after its grant was read.
var errUnregistered error = problem.Forbidden.New("You are no longer registered for the task.")

// unacceptedTerms returns the reason why the caller, who is registered for the task, gets none of its inputs for registrants: the caller's
// team has not accepted the present terms, or the registration was deleted meanwhile. It returns nil if there is no reason.
func (v *Viewer) unacceptedTerms(ctx context.Context, taskID string) (reason, err error) {
	if reason, known := v.terms[taskID]; known {
		return reason, nil
	}
	g, err := v.Grants(ctx)
	if err != nil {
		return nil, err
	}
	grant, _ := g.ForTask(taskID)
	var t *record.TaskItem
	var r *record.RegistrationItem
	err = records.Read(ctx, v.Store, v.Consistency, records.Into(&t, record.TaskKey(taskID)),
		records.Into(&r, record.RegistrationKey(taskID, grant.ID)))
	if err != nil {
		return nil, err
	}
	reason = errUnregistered
	if t != nil && r != nil {
		reason = r.CheckTerms(t)
	}
	if v.terms == nil {
		v.terms = map[string]error{}
	}
	v.terms[taskID] = reason
	return reason, nil
}
