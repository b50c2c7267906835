package organizers

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
	"assay/shared/service/visibility"
)

// Member is a user's membership of an organizer.
type Member struct {
	record.Person
	OrganizerID string `json:"organizerId"`
	Role        string `json:"role" enum:"owner,editor" doc:"owners decide on members, invite, and can delete the organizer"`
	Version     int64  `json:"version" doc:"version of the organizer, which grows with each change of its members"`

	organizer *record.Organizer
	named     bool // the answer has the user's name and address
}

// Scope implements api.Target: the user owns the membership.
func (m *Member) Scope() access.Scope {
	s := m.organizer.Scope()
	s.OwnerID = m.ID
	return s
}

// WidestScope returns the scope of any organizer.
func (*Member) WidestScope() access.Scope { return new(record.Organizer).Scope() }

// Revision returns the number at the start of the entity tag.
func (m *Member) Revision() int64 { return m.Version }

// People returns the user, if the answer names the user.
func (m *Member) People() []*record.Person {
	if !m.named {
		return nil
	}
	return []*record.Person{&m.Person}
}

func memberOf(c *api.Call, o *record.Organizer, userID string) *Member {
	return &Member{Person: *record.PersonIn(o.Scope(), userID), OrganizerID: o.ID, Version: o.Version, organizer: o,
		Role: record.RoleName(slices.Contains(o.Owners, userID)), named: o.NamesMembersTo(c.Caller)}
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

// removeMember ends a membership. Users end their own memberships, and owners of the organizer end all memberships.
func removeMember(ctx context.Context, c *api.Call, m *Member) error {
	changed := *m.organizer
	changed.Remove(m.ID)
	if len(changed.Owners) == 0 {
		return problem.Conflict.New("This is the last owner of the organizer. Make another member an owner first, or delete the organizer.")
	}
	return save(ctx, c, m.organizer, &changed)
}
