package organizers

import (
	"context"
	"fmt"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func change(ctx context.Context, c *api.Call, o *record.Organizer, d record.OrganizerDraft) (*record.Organizer, error) {
	changed := *o
	changed.OrganizerDraft = d
	// A patch of members can remove an owner without a patch of owners. Then the owner is removed from the owners, too.
	changed.Owners = slices.DeleteFunc(slices.Clone(d.Owners), func(id string) bool {
		return slices.Contains(o.Owners, id) && !slices.Contains(d.Members, id)
	})
	if err := checkMembers(c, o, &changed); err != nil {
		return nil, err
	}
	return &changed, save(ctx, c, o, &changed)
}

// checkMembers refuses a change of members or owners that adds users who did not join, leaves no owner, or exceeds the caller's rights.
func checkMembers(c *api.Call, o, changed *record.Organizer) error {
	invite := problem.CreateOrganizerInvitation.With(o.ID)
	fields := slices.Concat(outsiders("/members", invite, changed.Members, o.Members),
		outsiders("/owners", invite, changed.Owners, changed.Members))
	if c.TargetRoles&(access.OrganizerOwner|access.Admin) == 0 {
		const theirs = "is for owners of the organizer to change"
		fields.AddIf(!slices.Equal(changed.Members, o.Members), "/members", theirs)
		fields.AddIf(!slices.Equal(changed.Owners, o.Owners), "/owners", theirs)
	}
	fields.AddIf(len(changed.Owners) == 0, "/owners", "must keep one: the last owner can neither be removed nor become an editor. Make "+
		"another member an owner first, or delete the organizer")
	return problem.Check(fields)
}

// outsiders returns a fault for each id that is not among the members. invite is the operation by which others join.
func outsiders(pointer string, invite problem.Part, ids, members []string) (fields problem.Fields) {
	for i, id := range ids {
		fields.AddIf(!slices.Contains(members, id), fmt.Sprintf("%s/%d", pointer, i), "%s is no member. Users join by themselves: send them the "+
			"link in the answer to %s", problem.Resource("user", id), invite)
	}
	return fields
}

// save adds the changed organizer to c.Tx. For a change of members and owners it also adds:
//   - the grants of members who leave or change roles, and audit entries;
//   - the unchanged profile of each new owner, so that the change conflicts with the deletion of that user;
//   - a new epoch of invitations if others remove a member or an owner stops being owner, so that invitations that they know stop working.
func save(ctx context.Context, c *api.Call, o, changed *record.Organizer) error {
	removed := lists.Without(o.Members, changed.Members...)
	promoted := lists.Without(changed.Owners, o.Owners...)
	notOwners := lists.Without(o.Owners, changed.Owners...)
	demoted := lists.Without(notOwners, removed...)
	if len(notOwners)+len(lists.Without(removed, c.Caller.ID)) > 0 {
		changed.InvitationEpoch = o.InvitationEpoch + 1
	}
	c.Tx.Save(changed, c.Now())
	if n := len(removed) + len(promoted) + len(demoted); n > record.MaxMemberChanges {
		return problem.InvalidMember("/members", "can change for at most %d users in one request: change it in several", record.MaxMemberChanges)
	} else if n == 0 {
		return c.UpsertProfile(ctx)
	}
	keys := o.MembershipKeys(slices.Concat(promoted, demoted))
	grants, err := records.GetAll[record.Reservation](ctx, c.Store, store.Strong, keys...)
	if err != nil {
		return err
	}
	profiles, err := c.Profiles(ctx, promoted)
	if err != nil {
		return err
	}
	for i, p := range profiles {
		if p == nil || grants[i] == nil {
			return problem.InvalidMember(fmt.Sprintf("/owners/%d", slices.Index(changed.Owners, promoted[i])),
				"%s is being deleted, or has never done anything here", problem.Resource("user", promoted[i]))
		}
		c.Tx.Replace(p)
	}
	for i, g := range grants {
		if g != nil {
			g.At, g.Editor = keys[i], i >= len(promoted)
			c.Tx.Replace(g)
		}
	}
	c.Tx.DeleteKeys(o.MembershipKeys(removed)...)
	path := "/v1/organizers/" + o.ID
	if len(removed) > 0 {
		if err := c.Audit(ctx, o.Scope(), record.MembersChanged, path, removed, []string{}, removed...); err != nil {
			return err
		}
	}
	if users := slices.Concat(demoted, promoted); len(users) > 0 {
		if err := c.Audit(ctx, o.Scope(), record.OwnersChanged, path, demoted, promoted, users...); err != nil {
			return err
		}
	}
	return c.UpsertProfile(ctx)
}
