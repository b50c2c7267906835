package access_test

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

const (
	organizerID = "ORGANIZER"
	taskID      = "TASK"
	ownerID     = "OWNER"
)

var (
	audiences = []access.Audience{access.Nobody, access.Organizers, access.Owners, access.Registrants, access.Everyone}
	everyRole = []access.Role{access.Anyone, access.User, access.Registrant, access.Owner, access.Organizer, access.Worker, access.Admin,
		access.Applicant, access.OrganizerOwner}
	allRoles = access.OrganizerOwner<<1 - 1
)

// callerWithGrants is a caller with grants.
type callerWithGrants struct {
	caller access.Caller
	grants access.Grants
}

var (
	anonymous  = callerWithGrants{}
	unrelated  = callerWithGrants{caller: access.Caller{ID: "UNRELATED"}}
	registrant = callerWithGrants{
		access.Caller{ID: "REGISTRANT"}, access.Grants{Registrations: []access.Registration{{ID: "R", TaskID: taskID, Accepted: true}}}}
	applicant = callerWithGrants{
		access.Caller{ID: "APPLICANT"}, access.Grants{Registrations: []access.Registration{{ID: "R3", TaskID: taskID, PrivateTask: true}}}}
	owner          = callerWithGrants{caller: access.Caller{ID: ownerID}}
	organizer      = callerWithGrants{access.Caller{ID: "MEMBER"}, access.Grants{Memberships: editor("OTHER", organizerID)}}
	otherOrganizer = callerWithGrants{access.Caller{ID: "OTHER_ORGANIZER"}, access.Grants{
		Memberships: editor("OTHER"), Registrations: []access.Registration{{ID: "R2", TaskID: "OTHER", Accepted: true}},
	}}
	organizerOwner = callerWithGrants{access.Caller{ID: "LEADER"}, access.Grants{
		Memberships: []access.Membership{{OrganizerID: organizerID, Owner: true}}}}
	worker = callerWithGrants{caller: access.Caller{ID: "WORKER", Worker: true}}
	admin  = callerWithGrants{caller: access.Caller{ID: "ADMIN", Admin: true}}
)

// editor returns memberships of the organizers with the role of editor.
func editor(organizerIDs ...string) (all []access.Membership) {
	for _, id := range organizerIDs {
		all = append(all, access.Membership{OrganizerID: id})
	}
	return all
}

// TestSees_EachCaller checks which audiences each caller belongs to.
func TestSees_EachCaller(t *testing.T) {
	for name, c := range map[string]struct {
		callerWithGrants
		sees []access.Audience
	}{
		"anonymous":                         {anonymous, audiences[4:]},
		"unrelated":                         {unrelated, audiences[4:]},
		"organizer of something else":       {otherOrganizer, audiences[4:]},
		"worker":                            {worker, audiences[4:]},
		"registrant who is not accepted":    {applicant, audiences[4:]},
		"registrant":                        {registrant, audiences[3:]},
		"owner, registered or not":          {owner, audiences[2:]},
		"organizer":                         {organizer, audiences[1:]},
		"owner of the organizer":            {organizerOwner, audiences[1:]},
		"admin":                             {admin, audiences},
		"member of an organizer without id": {callerWithGrants{unrelated.caller, access.Grants{Memberships: editor("")}}, audiences[4:]},
	} {
		roles := access.Roles(c.caller, c.grants, access.Scope{OrganizerID: organizerID, TaskID: taskID, OwnerID: ownerID})
		for _, a := range audiences {
			want := slices.Contains(c.sees, a)
			if got := access.Sees(roles, a); got != want {
				t.Errorf("%s sees audience %d: %v, want %v", name, a, got, want)
			}
		}
	}
}

func TestDecide_EachCaller(t *testing.T) {
	scope := access.Scope{OrganizerID: organizerID, TaskID: taskID, OwnerID: ownerID}
	ownerOrOrganizer := access.Owner | access.Organizer
	for _, c := range []struct {
		what     string
		who      callerWithGrants
		may      access.Role
		audience access.Audience
		want     access.Decision
	}{
		{"everyone reads what is public", anonymous, access.Anyone, access.Everyone, access.Allow},
		{"nobody reads what is hidden", anonymous, access.Anyone, access.Registrants, access.Hide},
		{"a login could help", anonymous, ownerOrOrganizer, access.Everyone, access.Login},
		{"nothing says that a login could help with what is hidden", anonymous, ownerOrOrganizer, access.Owners, access.Hide},
		{"a login does not help", unrelated, ownerOrOrganizer, access.Everyone, access.Forbid},
		{"hidden from one who is logged in", unrelated, access.User, access.Registrants, access.Hide},
		{"an owner may", owner, ownerOrOrganizer, access.Owners, access.Allow},
		{"an organizer may", organizer, ownerOrOrganizer, access.Owners, access.Allow},
		{"an editor may not what owners of the organizer may", organizer, access.OrganizerOwner, access.Everyone, access.Forbid},
		{"an owner of the organizer may", organizerOwner, access.OrganizerOwner, access.Everyone, access.Allow},
		{"an owner of the organizer may what editors may", organizerOwner, access.Organizer, access.Organizers, access.Allow},
		{"an admin may what an owner of the organizer may", admin, access.OrganizerOwner, access.Everyone, access.Allow},
		{"an owner of the organizer does not own what is in it", organizerOwner, access.Owner, access.Everyone, access.Forbid},
		{"an organizer of something else may not", otherOrganizer, ownerOrOrganizer, access.Everyone, access.Forbid},
		{"an admin may what an organizer may", admin, ownerOrOrganizer, access.Organizers, access.Allow},
		{"an admin is not everybody", admin, access.Registrant, access.Everyone, access.Forbid},
		{"an organizer is no admin", organizer, access.Admin, access.Everyone, access.Forbid},
		{"an owner does not see what is blinded", owner, access.Anyone, access.Organizers, access.Hide},
		{"a worker is a worker", worker, access.Worker, access.Everyone, access.Allow},
		{"a worker is no organizer", worker, access.Organizer, access.Everyone, access.Forbid},
		{"a rule that was forgotten denies", admin, 0, access.Everyone, access.Forbid},
		{"and promises nothing", anonymous, 0, access.Everyone, access.Forbid},
		{"an applicant may not, and knows that there is something", applicant, access.Anyone, access.Registrants, access.Forbid},
		{"an applicant reads what is public", applicant, access.Anyone, access.Everyone, access.Allow},
	} {
		scope.Audience, scope.KnownTo = c.audience, access.Applicant
		if got := access.Decide(c.may, access.Roles(c.who.caller, c.who.grants, scope), scope); got != c.want {
			t.Errorf("%s: decision %d, want %d", c.what, got, c.want)
		}
	}
}

// TestDecide_IsMonotonic checks that operations never open or reveal resources that their caller does not see, and that operations
// without roles are denied. Further roles of a caller or an operation, and wider audiences, never reduce access.
func TestDecide_IsMonotonic(t *testing.T) {
	set := rapid.Map(rapid.Uint16Range(0, uint16(allRoles)), func(drawn uint16) access.Role { return access.Role(drawn) & allRoles })
	nightlytest.Check(t, func(t *rapid.T) {
		may := set.Draw(t, "may")
		roles := set.Draw(t, "roles")
		a := rapid.SampledFrom(audiences).Draw(t, "audience")
		more := rapid.SampledFrom(everyRole).Draw(t, "more")
		wider := rapid.SampledFrom(audiences[a:]).Draw(t, "wider")
		before := access.Decide(may, roles, access.Scope{Audience: a})
		if seen := access.Sees(roles, a); seen == (before == access.Hide) {
			t.Fatalf("seen: %v, decision %d", seen, before)
		}
		if got := access.Decide(0, roles, access.Scope{Audience: a}); got == access.Allow || got == access.Login {
			t.Fatalf("without roles: decision %d", got)
		}
		for what, after := range map[string]access.Decision{
			"a role":           access.Decide(may, roles|more, access.Scope{Audience: a}),
			"a rule":           access.Decide(may|more, roles, access.Scope{Audience: a}),
			"a wider audience": access.Decide(may, roles, access.Scope{Audience: wider}),
		} {
			if before == access.Allow && after != access.Allow || before != access.Hide && after == access.Hide {
				t.Fatalf("%s: %d became %d", what, before, after)
			}
		}
	})
}

// TestRoles_HaveTheirReasons checks that each role follows from caller, grants and scope.
func TestRoles_HaveTheirReasons(t *testing.T) {
	ids := []string{"", organizerID, taskID, ownerID, "OTHER"}
	nightlytest.Check(t, func(t *rapid.T) {
		id := func(label string) string { return rapid.SampledFrom(ids).Draw(t, label) }
		c := access.Caller{ID: id("caller"), Admin: rapid.Bool().Draw(t, "admin"), Worker: rapid.Bool().Draw(t, "worker")}
		membership := access.Membership{OrganizerID: id("membership"), Owner: rapid.Bool().Draw(t, "owns")}
		g := access.Grants{Memberships: []access.Membership{membership}, Registrations: []access.Registration{
			{TaskID: id("registration"), Accepted: rapid.Bool().Draw(t, "accepted")}}}
		s := access.Scope{OrganizerID: id("organizer"), TaskID: id("task"), OwnerID: id("owner")}
		known := c.ID != ""
		want := access.Anyone
		for role, earned := range map[access.Role]bool{
			access.User: true, access.Admin: c.Admin, access.Worker: c.Worker,
			access.Owner:          c.ID == s.OwnerID,
			access.Organizer:      s.OrganizerID != "" && membership.OrganizerID == s.OrganizerID,
			access.OrganizerOwner: s.OrganizerID != "" && membership.OrganizerID == s.OrganizerID && membership.Owner,
			access.Registrant:     s.TaskID != "" && g.Registrations[0].TaskID == s.TaskID && g.Registrations[0].Accepted,
			access.Applicant:      s.TaskID != "" && g.Registrations[0].TaskID == s.TaskID && !g.Registrations[0].Accepted,
		} {
			if known && earned {
				want |= role
			}
		}
		if got := access.Roles(c, g, s); got != want {
			t.Fatalf("roles %s, want %s", got, want)
		}
	})
}

func TestRole_EachReadsAsText(t *testing.T) {
	for _, r := range everyRole {
		if bits.OnesCount16(uint16(r)) != 1 || strings.Contains(r.String(), "nobody") {
			t.Errorf("role %d reads as %q", r, r)
		}
	}
}

// TestRefusals_AreThoseOfAnyCaller compares with the decisions about all callers and all scopes that are not wider.
func TestRefusals_AreThoseOfAnyCaller(t *testing.T) {
	for may := access.Role(0); may <= allRoles; may++ {
		for _, widest := range []access.Scope{{Audience: access.Everyone, KnownTo: access.Applicant}, {Audience: access.Everyone},
			{Audience: access.Owners}} {
			got, want := access.Refusals(may, widest), map[access.Decision]bool{}
			for roles := access.Role(0); roles <= allRoles; roles++ {
				for a := access.Nobody; a <= widest.Audience; a++ {
					who := roles | access.Anyone
					if roles > access.Anyone {
						who |= access.User
					}
					want[access.Decide(may, who, access.Scope{Audience: a, KnownTo: widest.KnownTo})] = true
				}
			}
			for _, d := range []access.Decision{access.Login, access.Forbid} {
				if slices.Contains(got, d) != want[d] {
					t.Fatalf("may %s, widest %+v: %v, want %v", may, widest, got, want)
				}
			}
		}
	}
}

func TestGrants_PrivateTasksAreThoseOfAcceptedRegistrations(t *testing.T) {
	g := access.Grants{Registrations: []access.Registration{
		{TaskID: "accepted", PrivateTask: true, Accepted: true}, {TaskID: "pending", PrivateTask: true}, {TaskID: "public", Accepted: true},
	}}
	if got := g.PrivateTasks(); !slices.Equal(got, []string{"accepted"}) {
		t.Errorf("%v", got)
	}
}

func TestPublic_KeepsOnlyTheTask(t *testing.T) {
	for roles, want := range map[access.Role]access.Role{
		access.Anyone | access.User | access.Owner: access.Anyone, access.User | access.Organizer: access.Anyone | access.Registrant,
		access.Admin: access.Anyone | access.Registrant, access.Anyone | access.Registrant: access.Anyone | access.Registrant,
	} {
		if got := access.Public(roles); got != want {
			t.Errorf("of %v everyone has %v, want %v", roles, got, want)
		}
	}
}
