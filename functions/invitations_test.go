package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions/invitations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/auth"
)

// inviting serves an organizer with a private task. olga is its owner and eddy an editor.
type inviting struct {
	*servertest.Server
	organizer, task string // paths
}

func newInviting(t *testing.T) *inviting {
	s := newServer(t)
	f := &inviting{Server: s, organizer: s.Create("olga", "/v1/organizers", map[string]any{"name": "Lake Lab"})}
	f.task = s.Create("olga", "/v1/tasks", map[string]any{"organizerId": servertest.ID(f.organizer), "name": "Birds", "visibility": "private"})
	s.Join("eddy", s.Invite("olga", f.organizer, nil), nil)
	return f
}

// refuse requires that the user cannot join by the secret. It returns the body of the answer.
func (f *inviting) refuse(status int, user, secret string) string {
	return string(f.Want(status, nil, user, http.MethodPost, "/v1/user/memberships",
		map[string]any{"secret": secret, "registration": map[string]any{"team": user}}).Body)
}

func (f *inviting) leave(user string) {
	f.Want(http.StatusNoContent, nil, user, http.MethodDelete, f.organizer+"/members/"+recordtest.UserID(user), nil)
}

func TestCreateInvitation_ShowsTheSecretOnce(t *testing.T) {
	f := newInviting(t)
	draft := map[string]any{"uses": 2, "role": "owner"}
	a := f.Want(http.StatusCreated, nil, "olga", http.MethodPost, f.organizer+"/invitations", draft, "Idempotency-Key", `"one"`)
	var made invitations.NewInvitation
	if err := json.Unmarshal(a.Body, &made); err != nil {
		t.Fatal(err)
	}
	again := f.Want(http.StatusCreated, nil, "olga", http.MethodPost, f.organizer+"/invitations", draft, "Idempotency-Key", `"one"`)
	listed := f.Want(http.StatusOK, nil, "olga", http.MethodGet, f.organizer+"/invitations", nil)
	random := made.Secret[len(made.Secret)-33:]
	if strings.Contains(string(again.Body), random) || strings.Contains(string(listed.Body), random) ||
		!strings.Contains(string(listed.Body), made.ID) {
		t.Errorf("the secret is shown again: %s\n%s", again.Body, listed.Body)
	}
	id, digest, ok := auth.ParseInvitation(made.Secret)
	stored := recordtest.Get[record.InvitationItem](t, f.Store, record.InvitationKey(id, digest))
	if !ok || stored == nil || id != servertest.ID(f.organizer) {
		t.Fatalf("%s is not stored under its digest", made.Secret)
	}
	if data, _ := json.Marshal(stored); strings.Contains(string(data), random) {
		t.Errorf("the store has the secret: %s", data)
	}
	if got := made.ExpiresAt.Sub(f.Now()).Round(time.Hour); got != 14*record.Day {
		t.Errorf("it works for %s", got)
	}
}

func TestCreateInvitation_NamesFaults(t *testing.T) {
	f := newInviting(t)
	for pointer, body := range map[string]map[string]any{
		"/uses":      {"uses": 501},
		"/expiresAt": {"expiresAt": f.Now().Add(90*record.Day + time.Minute)},
		"/email":     {"email": "Tom <tom@example.org>"},
		"/role":      {"role": "admin"},
	} {
		if a := f.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, f.organizer+"/invitations", body); !strings.Contains(
			string(a.Body), `"pointer":"`+pointer+`"`) {
			t.Errorf("%v: %s", body, a.Body)
		}
	}
	f.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, f.organizer+"/invitations", map[string]any{"expiresAt": f.Now()})
	f.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, f.task+"/invitations", map[string]any{"role": "owner"})
	f.Want(http.StatusForbidden, nil, "eddy", http.MethodPost, f.organizer+"/invitations", map[string]any{}) // an editor
	f.Want(http.StatusForbidden, nil, "eddy", http.MethodGet, f.organizer+"/invitations", nil)
	f.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, f.organizer+"/invitations",
		map[string]any{"email": "tom@example.org", "uses": 2})
}

func TestInvitations_AreBounded(t *testing.T) {
	f := newInviting(t)
	for range record.MaxInvitations {
		f.Invite("olga", f.organizer, nil)
	}
	f.Want(http.StatusConflict, nil, "olga", http.MethodPost, f.organizer+"/invitations", map[string]any{})
	one := f.IDs("olga", f.organizer+"/invitations")[0]
	f.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, f.organizer+"/invitations/"+one, nil)
	f.Invite("olga", f.organizer, nil)
}

func TestInvitations_ToAddressesOfADayAreBounded(t *testing.T) {
	f := newInviting(t)
	now := f.Now()
	f.Now = func() time.Time { return now }
	f.Records().User("tom")
	team := f.Join("uma", f.Invite("eddy", f.task, nil), map[string]any{"team": "U"})
	address := func(status int, user, path, name string) {
		t.Helper()
		f.Want(status, nil, user, http.MethodPost, path+"/invitations", map[string]any{"email": name + "@example.org"})
	}
	for i := range record.MaxAddressesPerDay - 2 {
		address(http.StatusCreated, "olga", f.organizer, fmt.Sprint(i))
	}
	address(http.StatusCreated, "olga", f.organizer, "tom") // tom has an account; the answer does not show it
	address(http.StatusCreated, "eddy", f.task, "x")
	for i := range record.MaxAddressesPerDay { // uma's own limit
		address(http.StatusCreated, "uma", team, fmt.Sprint(i))
	}
	for _, name := range []string{"z", "tom"} {
		address(http.StatusTooManyRequests, "olga", f.organizer, name)
		address(http.StatusTooManyRequests, "eddy", f.task, name)
		address(http.StatusTooManyRequests, "uma", team, name)
	}
	f.Invite("olga", f.organizer, nil)
	now = now.Add(record.Day + time.Second)
	address(http.StatusCreated, "eddy", f.task, "z")
}

// Lists have no invitation of a sender who left the organizer.
func TestListInvitations_EndsWithTheRightToInvite(t *testing.T) {
	f := newInviting(t)
	team := f.Join("uma", f.Invite("olga", f.task, nil), map[string]any{"team": "U"})
	for _, parent := range []string{f.task, team} {
		f.Invite("eddy", parent, nil)
		f.Invite("olga", parent, nil)
	}
	f.Invite("uma", team, nil)
	f.leave("eddy")
	for parent, want := range map[string]int{f.task: 1, team: 2} {
		if open := f.IDs("olga", parent+"/invitations"); len(open) != want {
			t.Errorf("%s: %d invitations are listed, want %d", parent, len(open), want)
		}
	}
}
