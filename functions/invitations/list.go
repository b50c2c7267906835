package invitations

import (
	"context"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// to returns a new invitation to the target, of the target's current epoch.
func to(target api.Target) *record.InvitationItem {
	s, i := target.Scope(), new(record.InvitationItem)
	i.OrganizerID = s.OrganizerID
	i.TaskID = s.TaskID
	i.RegistrationID = s.RegistrationID
	switch parent := target.(type) {
	case *record.Organizer:
		i.Epoch = parent.InvitationEpoch
	case *record.RegistrationItem:
		i.Epoch = parent.InvitationEpoch
	}
	return i
}

// stored reads the invitations to the target, the newest first: open invitations, and invitations that expired or whose sender may no
// longer invite.
func stored(ctx context.Context, c *api.Call, target api.Target) (open, ended []*record.InvitationItem, err error) {
	i := to(target)
	all, err := records.Query[record.InvitationItem](ctx, c.Store, store.Query{
		Partition: record.InvitationPartition(i.To()), Limit: 2 * record.MaxInvitations, Consistency: store.Strong})
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	o, err := records.Get[record.Organizer](ctx, c.Store, store.Strong, record.OrganizerKey(i.OrganizerID))
	if err != nil || o == nil {
		return nil, nil, err
	}
	r, _ := target.(*record.RegistrationItem)
	slices.SortFunc(all, func(a, b *record.InvitationItem) int { return strings.Compare(b.ID, a.ID) })
	for _, found := range all {
		if works(found, o, r) && found.ExpiresAt.After(c.Now()) {
			open = append(open, found)
		} else {
			ended = append(ended, found)
		}
	}
	return open, ended, nil
}

// works reports whether the sender of an invitation may still invite by it: to the organizer o and its tasks, or to the team r.
//
//   - To an organizer, if no member was removed and no owner lost that role since the invitation was made.
//   - To a task, if the sender is a member of the organizer or an administrator.
//   - To a team, if no member was removed and the owner is the same since then, and the sender is in the team or may invite to the task.
func works(i *record.InvitationItem, o *record.Organizer, r *record.RegistrationItem) bool {
	switch {
	case i.TaskID == "":
		return o.InvitationEpoch == i.Epoch
	case i.RegistrationID != "" && r.InvitationEpoch != i.Epoch:
		return false
	case i.RegistrationID != "" && slices.Contains(r.Members, i.InvitedBy):
		return true
	}
	return byOrganizer(i, o)
}

// byOrganizer reports whether the sender of the invitation is a member of the organizer or an administrator.
func byOrganizer(i *record.InvitationItem, o *record.Organizer) bool {
	return i.ByAdmin || slices.Contains(o.Members, i.InvitedBy)
}

func list[T api.Target](ctx context.Context, c *api.Call, t T) (p page.Page[record.Invitation], err error) {
	open, _, err := stored(ctx, c, t)
	if err != nil {
		return p, err
	}
	shown := lists.Map(open, func(i *record.InvitationItem) record.Invitation { return i.Invitation })
	return page.Of(c.Page, shown, func(i record.Invitation) string { return i.ID })
}

// loadTeam finds the team that the path names, and refuses members of the team except its owner.
func loadTeam(ctx context.Context, c *api.Call) (*record.RegistrationItem, error) {
	r, err := visibility.FindIn[record.RegistrationItem](ctx, &c.Viewer, c.Param("taskId"), c.Param("registrationId"),
		record.RegistrationKey)
	if err != nil {
		return nil, err
	}
	roles, err := c.Roles(ctx, r.Scope())
	if err == nil && roles&(access.Organizer|access.Admin) == 0 && roles&access.Owner != 0 && r.UserID != c.Caller.ID {
		err = problem.Forbidden.New("Only the owner of the team and the organizers can invite.")
	}
	return r, err
}
