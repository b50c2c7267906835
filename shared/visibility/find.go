package visibility

import (
	"context"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// scoped is a record with a place in the order of rights.
type scoped[R any] interface {
	records.Pointer[R]
	Scope() access.Scope
}

// Find reads the record with the id, or returns Missing. Whether the caller may see it is still to be decided.
func Find[R any, P records.Pointer[R]](ctx context.Context, v *Viewer, id string, key func(id string) store.Key) (P, error) {
	if !record.IsID(id) {
		return nil, Missing
	}
	r, err := records.Get[R, P](ctx, v.Store, v.Consistency, key(id))
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, Missing
	}
	return r, nil
}

// Get reads the record with the id, and what the caller is to it; Missing also when the caller may not see it. It always
// reads the grants, so that the time it takes does not tell what is missing from what is hidden.
func Get[R any, P scoped[R]](ctx context.Context, v *Viewer, id string, key func(id string) store.Key) (P, access.Role, error) {
	r, err := Find[R, P](ctx, v, id, key)
	if err != nil && !problem.NotFound.Is(err) {
		return nil, 0, err
	}
	rolesOf, grantsErr := v.RolesOf(ctx)
	if grantsErr != nil {
		return nil, 0, grantsErr
	}
	if err != nil {
		return nil, 0, Missing
	}
	s := r.Scope()
	roles := rolesOf(s)
	if !access.Sees(roles, s.Audience) {
		return nil, 0, Missing
	}
	return r, roles, nil
}

// eachVisible calls do with each of the records that the caller sees, and unseen for each that is hidden or missing. It costs
// one call of the store and the caller's grants.
func eachVisible[R any, P scoped[R]](ctx context.Context, v *Viewer, ids []string, key func(string) store.Key, unseen func(),
	do func(P) error) error {
	found, err := records.GetAll[R, P](ctx, v.Store, v.Consistency, records.Keys(ids, key)...)
	if err != nil {
		return err
	}
	rolesOf, err := v.RolesOf(ctx)
	if err != nil {
		return err
	}
	for _, r := range found {
		if r == nil || !access.Sees(rolesOf(r.Scope()), r.Scope().Audience) {
			unseen()
			continue
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}
