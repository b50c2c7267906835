package functions_test

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/invitations"
	"assay/functions/organizers"
	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
)

func TestJoin_WorksWhileTheInvitationDoes(t *testing.T) {
	f := newInviting(t)
	now := f.Now()
	f.Now = func() time.Time { return now }
	path := f.Join("tom", f.Invite("olga", f.organizer, nil), nil)
	if path != f.organizer+"/members/"+recordtest.UserID("tom") {
		t.Errorf("it leads to %s", path)
	}
	member := servertest.Get[organizers.Member](f.Server, "tom", path)
	if member.Role != "editor" || member.Email != "tom@example.org" {
		t.Errorf("%+v", member)
	}
	unknown, _ := auth.NewInvitation(servertest.ID(f.organizer))
	gone := f.refuse(http.StatusUnprocessableEntity, "uma", unknown)
	same := func(what, secret string) {
		t.Helper()
		cut := func(s string) string {
			before, _, _ := strings.Cut(s, `"requestId"`)
			return before
		}
		if got := f.refuse(http.StatusUnprocessableEntity, "uma", secret); cut(got) != cut(gone) {
			t.Errorf("%s is told from one that never was: %s", what, got)
		}
	}
	used := f.Invite("olga", f.organizer, nil)
	f.Join("vic", used, nil)
	same("a used one", used)
	withdrawn := f.Invite("olga", f.organizer, nil)
	f.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, f.organizer+"/invitations/"+f.IDs("olga", f.organizer+"/invitations")[0], nil)
	same("a withdrawn one", withdrawn)
	expired := f.Invite("olga", f.organizer, map[string]any{"expiresAt": now.Add(time.Hour)})
	now = now.Add(time.Hour)
	same("an expired one", expired)
	if a := f.Want(http.StatusNoContent, nil, "olga", http.MethodGet, f.organizer+"/invitations", nil); len(a.Body) > 0 {
		t.Errorf("an expired one is listed: %s", a.Body)
	}
	twice := f.Invite("olga", f.organizer, map[string]any{"uses": 2})
	f.refuse(http.StatusUnprocessableEntity, "tom", twice) // with a registration, although the parent is an organizer
	f.Want(http.StatusConflict, nil, "tom", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": twice})
	f.Join("wil", twice, nil)
	f.Join("xia", twice, nil) // the refused requests did not count as uses
}

// An invitation works only while its maker has the right to invite. A removed member cannot come back by an own invitation.
func TestJoin_EndsWithTheRightToInvite(t *testing.T) {
	f := newInviting(t)
	f.Join("otto", f.Invite("olga", f.organizer, map[string]any{"role": "owner"}), nil)
	own, toTask := f.Invite("otto", f.organizer, nil), f.Invite("eddy", f.task, nil)
	f.leave("otto")
	f.leave("eddy")
	for _, secret := range []string{own, toTask} {
		f.refuse(http.StatusUnprocessableEntity, "otto", secret)
	}
	f.Join("otto", f.Invite("root", f.organizer, nil), nil)
	team := f.Join("uma", f.Invite("olga", f.task, nil), map[string]any{"team": "U"})
	toTeam := f.Invite("uma", team, map[string]any{"uses": 2})
	f.Join("vic", toTeam, nil)
	again := f.Want(http.StatusConflict, nil, "vic", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": toTeam})
	if !strings.Contains(string(again.Body), "You are in this team already.") {
		t.Errorf("a member joins the own team: %s", again.Body)
	}
	f.Want(http.StatusOK, nil, "uma", http.MethodPatch, team, map[string]any{"userId": recordtest.UserID("vic")})
	f.refuse(http.StatusUnprocessableEntity, "wil", toTeam)
	f.Want(http.StatusForbidden, nil, "uma", http.MethodPost, team+"/invitations", map[string]any{})
	f.Want(http.StatusOK, nil, "vic", http.MethodPatch, team, map[string]any{"userId": recordtest.UserID("uma")})
	if a := f.refuse(http.StatusUnprocessableEntity, "wil", toTeam); !strings.Contains(a, "This invitation no longer works.") {
		t.Errorf("after a hand-over and back: %s", a)
	}
}

// After a removal, the removed user and others can no longer join by links from before. If a member leaves, links still work.
func TestJoin_EndsWithARemoval(t *testing.T) {
	f := newInviting(t)
	many := map[string]any{"uses": 500}
	toOrganizer := f.Invite("olga", f.organizer, many)
	team := f.Join("uma", f.Invite("olga", f.task, nil), map[string]any{"team": "U"})
	toTeam := f.Invite("uma", team, many)
	remove := func(by, parent, user string) {
		t.Helper()
		f.Want(http.StatusNoContent, nil, by, http.MethodDelete, parent+"/members/"+recordtest.UserID(user), nil)
	}
	join := func(status int, user, secret string) {
		t.Helper()
		f.Want(status, nil, user, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": secret})
	}
	for _, c := range []struct{ owner, parent, secret string }{{"olga", f.organizer, toOrganizer}, {"uma", team, toTeam}} {
		join(http.StatusCreated, "tom", c.secret)
		remove("tom", c.parent, "tom")
		join(http.StatusCreated, "tom", c.secret)
		for range record.MaxInvitations - 1 {
			f.Invite(c.owner, c.parent, nil)
		}
		remove(c.owner, c.parent, "tom")
		for _, user := range []string{"tom", "vic"} {
			join(http.StatusUnprocessableEntity, user, c.secret)
		}
		f.Want(http.StatusNoContent, nil, c.owner, http.MethodGet, c.parent+"/invitations", nil)
		join(http.StatusCreated, "tom", f.Invite(c.owner, c.parent, nil)) // replaces the invitations that ended
	}
	last := f.Invite("olga", f.organizer, many)
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.organizer, map[string]any{"members": []string{recordtest.UserID("olga")}})
	join(http.StatusUnprocessableEntity, "tom", last)
}

// Nobody joins a rejected team. Invitations from before the rejection are refused, and no new ones can be made.
func TestJoin_OfARejectedTeam(t *testing.T) {
	f := newInviting(t)
	team := f.Join("uma", f.Invite("olga", f.task, nil), map[string]any{"team": "U"})
	secret := f.Invite("uma", team, nil)
	state := func(state string) {
		f.Want(http.StatusOK, nil, "olga", http.MethodPatch, team, map[string]any{"state": state})
	}
	state("rejected")
	refused := func(user, path string, body map[string]any, says string) {
		t.Helper()
		var p problem.Document
		f.Want(http.StatusConflict, &p, user, http.MethodPost, path, body)
		if p.Detail != says {
			t.Errorf("%s is told %q, want %q", user, p.Detail, says)
		}
	}
	const toOthers = "The organizers rejected this team's registration, so nobody can join it. Ask them about it."
	refused("vic", "/v1/user/memberships", map[string]any{"secret": secret}, toOthers)
	other := f.Invite("olga", f.Join("xia", f.Invite("olga", f.task, nil), map[string]any{"team": "X"}), nil)
	var p problem.Document
	f.Want(http.StatusConflict, &p, "uma", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": other})
	for _, says := range []string{"You are in a team of this task already", "deletes the team's submissions and withdraws", "ask them"} {
		if !strings.Contains(p.Detail, says) {
			t.Errorf("a member of a rejected team is told %q", p.Detail)
		}
	}
	refused("uma", team+"/invitations", map[string]any{}, toOthers)
	refused("olga", team+"/invitations", map[string]any{}, "This team's registration is rejected, so nobody can join it. Accept it first: "+
		"PATCH "+team+` with {"state":"accepted"}.`)
	state("accepted")
	f.Join("vic", secret, nil)
}

// A team takes part once it is accepted. Until then, the answers to its owner and to invited users say that it is pending.
func TestJoin_TellsTheStateOfTheTeam(t *testing.T) {
	f := newInviting(t)
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task,
		map[string]any{"visibility": "public", "registration": map[string]any{"mode": "approval"}})
	team := f.Create("tom", f.task+"/registrations", map[string]any{"team": "T"})
	for _, state := range []record.RegistrationState{record.Pending, record.Accepted} {
		f.Want(http.StatusOK, nil, "olga", http.MethodPatch, team, map[string]any{"state": state})
		var made invitations.NewInvitation
		f.Want(http.StatusCreated, &made, "tom", http.MethodPost, team+"/invitations", map[string]any{})
		var m, joined invitations.Membership
		shown := struct{ Resource any }{&m}
		body := map[string]any{"secret": made.Secret}
		f.Want(http.StatusOK, &shown, "uma-"+string(state), http.MethodPost, "/v1/user/memberships?preview=true", body)
		f.Want(http.StatusCreated, &joined, "uma-"+string(state), http.MethodPost, "/v1/user/memberships", body)
		if made.State != state || m.State != state || joined.State != state {
			t.Errorf("the states %q, %q and %q are told, want %q", made.State, m.State, joined.State, state)
		}
	}
}

// If registration is closed, only organizers add members to teams, also by invitations.
func TestJoin_OfATeamWhereRegistrationIsClosed(t *testing.T) {
	f := newInviting(t)
	team := f.Join("uma", f.Invite("olga", f.task, nil), map[string]any{"team": "U"})
	ofOwner := f.Invite("uma", team, nil)
	ofOrganizer := f.Invite("eddy", team, map[string]any{"uses": 3})
	mode := func(mode string) {
		f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task, map[string]any{"registration": map[string]any{"mode": mode}})
	}
	mode("closed")
	a := f.Want(http.StatusForbidden, nil, "vic", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": ofOwner})
	if !strings.Contains(string(a.Body), "Ask them for an invitation to the team") {
		t.Errorf("%s", a.Body)
	}
	f.Want(http.StatusForbidden, nil, "uma", http.MethodPost, team+"/invitations", map[string]any{})
	f.Invite("eddy", team, nil)
	f.Join("vic", ofOrganizer, nil)
	f.leave("eddy")
	f.Want(http.StatusUnprocessableEntity, nil, "wil", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": ofOrganizer})
	mode("approval")
	f.Want(http.StatusUnprocessableEntity, nil, "eddy", http.MethodPost, "/v1/user/memberships", map[string]any{"secret": ofOrganizer})
	f.Join("wil", ofOwner, nil)
	r := servertest.Get[record.Registration](f.Server, "wil", team)
	if r.State != record.Accepted || len(r.Members) != 3 {
		t.Errorf("%+v", r)
	}
	entries := servertest.List[record.AuditEntry](f.Server, "olga", f.task+"/audit-entries?filter[action]=members.changed")
	if newest := entries[0]; newest.ActorID != recordtest.UserID("wil") || newest.Subject != team {
		t.Errorf("%+v", newest)
	}
}

// The invitation to a task or a team says that the task has closed, unless the team has a later close.
func TestJoin_SaysThatTheTaskHasClosed(t *testing.T) {
	f := newInviting(t)
	team := f.Join("tom", f.Invite("olga", f.task, nil), map[string]any{"team": "T"})
	past := record.At(time.Now().Add(-time.Hour))
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task, map[string]any{"submissions": map[string]any{"closesAt": past}})
	closed := func(secret string) *record.Instant {
		t.Helper()
		var m invitations.Membership
		shown := struct{ Resource any }{&m}
		f.Want(http.StatusOK, &shown, "uma", http.MethodPost, "/v1/user/memberships?preview=true", map[string]any{"secret": secret})
		return m.ClosedAt
	}
	joining := func(what string, want *record.Instant) {
		t.Helper()
		var made invitations.NewInvitation
		f.Want(http.StatusCreated, &made, "tom", http.MethodPost, team+"/invitations", map[string]any{})
		var r record.Registration
		f.Want(http.StatusOK, &r, "tom", http.MethodGet, team, nil)
		if !reflect.DeepEqual(made.ClosedAt, want) || !reflect.DeepEqual(r.ClosedAt, want) {
			t.Errorf("%s: joining closed at %v and %v, want %v", what, made.ClosedAt, r.ClosedAt, want)
		}
		status := http.StatusOK
		if want != nil {
			status = http.StatusForbidden
		}
		a := f.Want(status, nil, "uma", http.MethodPost, "/v1/user/memberships?preview=true", map[string]any{"secret": made.Secret})
		if want != nil && !strings.Contains(string(a.Body), "Submission by this team, and joining it, closed at "+want.String()) {
			t.Errorf("%s: joining is refused with %s", what, a.Body)
		}
	}
	joining("after the close", &past)
	var made invitations.NewInvitation
	f.Want(http.StatusCreated, &made, "olga", http.MethodPost, f.task+"/invitations", map[string]any{})
	if made.ClosedAt == nil || *made.ClosedAt != past {
		t.Errorf("the organizers are told %v, want %v", made.ClosedAt, past)
	}
	toTask, toTeam := made.Secret, f.Invite("tom", team, nil)
	body := newDatasetBody(servertest.ID(f.task))
	body["submissions"] = map[string]any{"closesAt": record.At(time.Now().Add(time.Hour))}
	dataset := f.Create("olga", "/v1/datasets", body)
	joining("while one dataset is open", nil)
	if at := closed(toTask); at != nil {
		t.Errorf("the task with an open dataset closed at %v", at)
	}
	earlier := record.At(past.Add(-time.Hour))
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task, map[string]any{"submissions": map[string]any{"closesAt": nil}})
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, dataset, map[string]any{"submissions": map[string]any{"closesAt": earlier}})
	joining("after the close of the only dataset", &earlier)
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, dataset, map[string]any{"submissions": map[string]any{"closesAt": past}})
	if at := closed(toTask); at == nil || *at != past {
		t.Errorf("the task closed at %v, want %v", at, past)
	}
	f.Want(http.StatusCreated, nil, "olga", http.MethodPost, team+"/exceptions",
		map[string]any{"closesAt": record.At(time.Now().Add(time.Hour)), "reason": "Late."})
	joining("with a later close", nil)
	if at := closed(toTask); at == nil {
		t.Error("a new team has the later close of another")
	}
	if at := closed(toTeam); at != nil {
		t.Errorf("the team with a later close reads %v", at)
	}
}

// A user who joins by an invitation accepts the task's terms. The invitation shows them before, and names what the user would
// join.
func TestJoin_ShowsWhatItIsToAndItsTerms(t *testing.T) {
	f := newInviting(t)
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task, map[string]any{"terms": map[string]any{"text": "Be *kind*."}})
	secret := f.Invite("olga", f.task, nil)
	preview := func(user, secret string) (m invitations.Membership) {
		t.Helper()
		shown := struct{ Resource any }{&m}
		f.Want(http.StatusOK, &shown, user, http.MethodPost, "/v1/user/memberships?preview=true", map[string]any{"secret": secret})
		return m
	}
	m := preview("tom", secret)
	if m.TaskName != "Birds" || m.OrganizerName != "Lake Lab" || m.Terms == nil || m.Terms.Text != "Be *kind*." || m.Terms.Version != 1 {
		t.Errorf("%+v", m)
	}
	if a := f.refuse(http.StatusUnprocessableEntity, "tom", secret); !strings.Contains(a, `"/registration/acceptedTerms"`) {
		t.Errorf("%s", a)
	}
	team := f.Join("tom", secret, map[string]any{"team": "T", "acceptedTerms": m.Terms.Version})
	if r := servertest.Get[record.Registration](f.Server, "tom", team); r.AcceptedTerms != 1 || r.TermsAcceptedAt == nil {
		t.Errorf("%+v", r)
	}
	if m.ClosedAt != nil {
		t.Errorf("a task without a close has closed at %s", m.ClosedAt)
	}
	m = preview("uma", f.Invite("tom", team, nil))
	if m.TaskName != "Birds" || m.RegistrationTeam != "T" || m.Terms == nil || m.URL != team {
		t.Errorf("%+v", m)
	}
	m = preview("uma", f.Invite("olga", f.organizer, map[string]any{"role": "owner"}))
	if m.OrganizerName != "Lake Lab" || m.Role != "owner" {
		t.Errorf("%+v", m)
	}
	if o := servertest.Get[record.Organizer](f.Server, "", f.organizer); len(o.Members) != 2 {
		t.Errorf("a preview changed the members: %v", o.Members)
	}
}

// Resources that are hidden from an invited user stay hidden until the user has joined.
func TestJoin_OpensAPrivateTask(t *testing.T) {
	f := newInviting(t)
	secret := f.Invite("eddy", f.task, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, f.task, nil)
	f.Want(http.StatusNotFound, nil, "tom", http.MethodGet, f.task+"/invitations", nil)
	for _, refused := range []map[string]any{{"secret": secret}, {"secret": secret + "A"}, {"secret": "x"},
		{"secret": secret, "registration": map[string]any{"team": "T", "userId": recordtest.UserID("uma")}},
		{"secret": secret, "registration": map[string]any{"team": " "}}} {
		a := f.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPost, "/v1/user/memberships", refused)
		if strings.Contains(string(a.Body), "Birds") {
			t.Errorf("the refusal says what the invitation is to: %s", a.Body)
		}
	}
	f.Want(http.StatusOK, nil, "olga", http.MethodPatch, f.task, map[string]any{"registration": map[string]any{"mode": "closed"}})
	path := f.Join("tom", secret, map[string]any{"team": "T", "anonymous": true})
	r := servertest.Get[record.Registration](f.Server, "tom", path)
	if r.State != record.Accepted || r.UserID != recordtest.UserID("tom") || !r.Anonymous {
		t.Errorf("%+v", r)
	}
	f.Want(http.StatusOK, nil, "tom", http.MethodGet, f.task, nil)
	again := f.Invite("eddy", f.task, nil)
	f.refuse(http.StatusConflict, "tom", again)
	toTeam := f.Invite("eddy", path, nil)
	f.refuse(http.StatusUnprocessableEntity, "uma", toTeam) // with a registration
	f.Join("uma", toTeam, nil)
	r = servertest.Get[record.Registration](f.Server, "uma", path)
	if !slices.Equal(r.Members, []string{recordtest.UserID("tom"),
		recordtest.UserID("uma")}) {
		t.Errorf("%+v", r)
	}
	f.Want(http.StatusForbidden, nil, "uma", http.MethodGet, path+"/invitations", nil)
}

func TestJoin_TakesTheScopeOfWhatIsJoined(t *testing.T) {
	f := newInviting(t)
	for scope, want := range map[string][2]int{
		"read":     {http.StatusForbidden, http.StatusForbidden},
		"submit":   {http.StatusForbidden, http.StatusCreated},
		"organize": {http.StatusCreated, http.StatusForbidden},
	} {
		var made users.NewToken
		f.Want(http.StatusCreated, &made, "user-"+scope, http.MethodPost, "/v1/user/tokens",
			map[string]any{"name": "a token", "scopes": []string{scope}})
		f.Want(want[0], nil, made.Secret, http.MethodPost, "/v1/user/memberships", map[string]any{"secret": f.Invite("olga", f.organizer, nil)})
		f.Want(want[1], nil, made.Secret, http.MethodPost, "/v1/user/memberships",
			map[string]any{"secret": f.Invite("olga", f.task, nil), "registration": map[string]any{"team": scope}})
	}
}

func TestJoin_BoundsSecretsThatAUserMakesUp(t *testing.T) {
	f := newInviting(t)
	f.Rates = ratelimit.New(ratelimit.Rates{Token: ratelimit.Policy{PerSecond: 1, Burst: 3}}, "")
	now := f.Now()
	f.Now = func() time.Time { return now }
	for range 3 {
		secret, _ := auth.NewInvitation(servertest.ID(f.organizer))
		f.refuse(http.StatusUnprocessableEntity, "tom", secret)
	}
	whole := f.Invite("olga", f.organizer, nil)
	f.refuse(http.StatusTooManyRequests, "tom", whole)
	f.Join("uma", whole, nil)
}

func TestJoin_MembershipsAreBounded(t *testing.T) {
	f := newInviting(t)
	b := f.Records()
	b.Batch(func() {
		for range record.MembershipGrants.Max {
			b.Put(&record.Reservation{Meta: record.NewMeta(f.Now()), At: record.MembershipKey(recordtest.UserID("tom"), record.NewID(f.Now()))})
		}
	})
	a := f.Want(http.StatusConflict, nil, "tom", http.MethodPost, "/v1/user/memberships",
		map[string]any{"secret": f.Invite("olga", f.organizer, nil)})
	if !strings.Contains(string(a.Body), "DELETE /v1/organizers/{organizerId}/members/{userId}") {
		t.Errorf("%s", a.Body)
	}
}
