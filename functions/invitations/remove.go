package invitations

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/visibility"
)

// found is the target of a request about an invitation.
type found[T api.Target] struct {
	*record.InvitationItem
	to T
}

// Scope implements api.Target.
func (f found[T]) Scope() access.Scope { return f.to.Scope() }

// WidestScope returns the widest scope of a T.
func (found[T]) WidestScope() access.Scope { return api.WidestScope[T]() }

// find finds the invitation that the path names. It requires the right to all invitations of the target first, so that other callers do not
// learn which invitations exist.
func (p parent[T]) find(ctx context.Context, c *api.Call) (f found[T], err error) {
	if f.to, err = p.load(ctx, c); err != nil {
		return f, err
	}
	if err := c.Require(ctx, p.may, f.to.Scope()); err != nil {
		return f, err
	}
	open, _, err := stored(ctx, c, f.to)
	if err != nil {
		return f, err
	}
	i := slices.IndexFunc(open, func(i *record.InvitationItem) bool { return i.ID == c.Param("invitationId") })
	if i < 0 {
		return f, visibility.Missing
	}
	f.InvitationItem = open[i]
	return f, nil
}

func remove[T api.Target](ctx context.Context, c *api.Call, f found[T]) error {
	c.Tx.Delete(f)
	return c.Audit(ctx, f.InvitationItem.Scope(), record.InvitationWithdrawn, f.Path(), audited{f.Role, f.Uses}, nil)
}
