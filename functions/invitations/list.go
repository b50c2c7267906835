package invitations

import (
	"context"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// to returns an invitation to the target.
func to(target api.Target) (i record.Invitation) {
	s := target.Scope()
	i.OrganizerID, i.TaskID, i.RegistrationID = s.OrganizerID, s.TaskID, s.RegistrationID
	return i
}

// openTo reads the invitations to the target that still work, the newest first.
func openTo(ctx context.Context, c *api.Call, target api.Target) ([]*record.InvitationItem, error) {
	i := to(target)
	all, err := records.Query[record.InvitationItem](ctx, c.Store, store.Query{
		Partition: record.InvitationPartition(i.To()), Limit: 2 * record.MaxInvitations, Consistency: store.Strong})
	all = slices.DeleteFunc(all, func(i *record.InvitationItem) bool { return !i.ExpiresAt.After(c.Now()) })
	slices.SortFunc(all, func(a, b *record.InvitationItem) int { return strings.Compare(b.ID, a.ID) })
	return all, err
}

func list[T api.Target](ctx context.Context, c *api.Call, t T) (p page.Page[record.Invitation], err error) {
	all, err := openTo(ctx, c, t)
	if err != nil {
		return p, err
	}
	shown := lists.Map(all, func(i *record.InvitationItem) record.Invitation { return i.Invitation })
	return page.Of(c.Page, shown, func(i record.Invitation) string { return i.ID })
}

// ownedTeam is a team as the target of its owner.
type ownedTeam struct{ *record.RegistrationItem }

// WidestScope returns the scope of any registration.
func (ownedTeam) WidestScope() access.Scope { return new(record.RegistrationItem).Scope() }

// ownTeam finds the team that the path names, and refuses members who are not its owner.
func ownTeam(ctx context.Context, c *api.Call) (t ownedTeam, err error) {
	key := func(id string) store.Key { return record.RegistrationKey(c.Param("taskId"), id) }
	if !record.IsID(c.Param("taskId")) {
		return t, visibility.Missing
	}
	t.RegistrationItem, err = visibility.Find[record.RegistrationItem](ctx, &c.Viewer, c.Param("registrationId"), key)
	if err == nil {
		err = c.Require(ctx, access.Owner, t.Scope())
	}
	if err == nil && t.UserID != c.Caller.ID {
		err = problem.Forbidden.New("Only the owner of the team can invite.")
	}
	return t, err
}
