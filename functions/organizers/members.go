package organizers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/visibility"
)

// Member is a user's membership of an organizer.
type Member struct {
	record.Person
	OrganizerID string `json:"organizerId"`
	Version     int64  `json:"version" doc:"that of the organizer, which grows with each change of its members"`

	organizer *record.Organizer
	named     bool // with name and address
}

// Scope implements api.Target: the user owns the membership.
func (m *Member) Scope() access.Scope {
	s := m.organizer.Scope()
	s.OwnerID = m.ID
	return s
}

// WidestScope returns the scope of any organizer.
func (*Member) WidestScope() access.Scope { return new(record.Organizer).Scope() }

// Revision is the number that an entity tag of the membership begins with.
func (m *Member) Revision() int64 { return m.Version }

// People are those that the resource names: the user, to members of the organizer.
func (m *Member) People() []*record.Person {
	if !m.named {
		return nil
	}
	return []*record.Person{&m.Person}
}

func memberOf(c *api.Call, o *record.Organizer, userID string) *Member {
	return &Member{Person: *record.PersonIn(o.Scope(), userID), OrganizerID: o.ID, Version: o.Version, organizer: o,
		named: o.NamesMembersTo(c.Caller)}
}

// member finds the membership that the path names.
func member(ctx context.Context, c *api.Call) (*Member, error) {
	o, err := organizer(ctx, c)
	if err == nil && !slices.Contains(o.Members, c.Param("userId")) {
		err = visibility.Missing
	}
	if err != nil {
		return nil, err
	}
	return memberOf(c, o, c.Param("userId")), nil
}

func showMember(_ context.Context, _ *api.Call, m *Member) (*Member, error) { return m, nil }

func listMembers(_ context.Context, c *api.Call, o *record.Organizer) (page.Page[*Member], error) {
	all := lists.Map(o.Members, func(id string) *Member { return memberOf(c, o, id) })
	slices.SortFunc(all, func(a, b *Member) int { return strings.Compare(b.ID, a.ID) })
	return page.Of(c.Page, all, func(m *Member) string { return m.ID })
}

// removeMember ends a membership, which its user can do as well as the organizer's members.
func removeMember(ctx context.Context, c *api.Call, m *Member) error {
	changed := *m.organizer
	changed.Members = slices.DeleteFunc(slices.Clone(changed.Members), func(id string) bool { return id == m.ID })
	c.Tx.Save(&changed, c.Now())
	err := setMembers(ctx, c, changed.ID, m.organizer.Members, changed.Members)
	if errors.Is(err, errNobodyKnown) {
		return problem.Conflict.New("This is the last known member of the organizer. Add another member first, or delete the organizer.")
	}
	return err
}

var errNobodyKnown = errors.New("organizers: no known member would be left")

// setMembers adds to c.Tx what a change of an organizer's members takes: a grant for each who is added, none for each who is
// removed, an audit entry, and the caller's profile. Users who are added must be known. Members of older data who are not
// known stay as long as the change leaves one who is; otherwise the error is errNobodyKnown.
func setMembers(ctx context.Context, c *api.Call, organizerID string, before, after []string) error {
	added := slices.DeleteFunc(slices.Clone(after), func(m string) bool { return slices.Contains(before, m) })
	removed := slices.DeleteFunc(slices.Clone(before), func(m string) bool { return slices.Contains(after, m) })
	if len(added)+len(removed) > record.MaxMemberChanges {
		return problem.InvalidMember("/members", "can change by at most %d users in one request: change it in several", record.MaxMemberChanges)
	}
	for _, m := range added {
		c.Tx.Create(&record.Reservation{Meta: record.NewMeta(c.Now()), At: record.MembershipKey(m, organizerID), Added: m != c.Caller.ID})
	}
	for _, m := range removed {
		c.Tx.DeleteKey(record.MembershipKey(m, organizerID))
	}
	pointer := func(m string) string { return fmt.Sprintf("/members/%d", slices.Index(after, m)) }
	if err := c.AddUsers(ctx, record.MembershipGrants, added, pointer); err != nil {
		return err
	}
	if len(removed) > 0 && len(added) == 0 && !slices.Contains(after, c.Caller.ID) {
		left, err := c.Profiles(ctx, after[:min(len(after), store.MaxKeys)])
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(left, func(u *record.User) bool { return u != nil }) {
			return errNobodyKnown
		}
	}
	if before != nil && len(added)+len(removed) > 0 {
		scope, users := access.Scope{OrganizerID: organizerID}, slices.Concat(removed, added)
		if err := c.Audit(ctx, scope, record.MembersChanged, "/v1/organizers/"+organizerID, removed, added, users...); err != nil {
			return err
		}
	}
	return c.UpsertProfile(ctx)
}
