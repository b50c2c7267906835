package functions_test

import (
	"assay/functions"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

// registrationScene is a server with a task of the organizer olivia.
type registrationScene struct {
	*servertest.Server
	task string
}

func newRegistrationScene(t *testing.T, task map[string]any) *registrationScene {
	t.Helper()
	s := &registrationScene{Server: servertest.New(t, functions.Operations()...)}
	lab := s.Create("olivia", "/v1/organizers", map[string]any{"name": "Lab"})
	task["organizerId"], task["name"] = strings.TrimPrefix(lab, "/v1/organizers/"), "Lakes"
	s.task = s.Create("olivia", "/v1/tasks", task)
	return s
}

// organizer is the id of the task's organizer.
func (s *registrationScene) organizer() string {
	var task record.Task
	s.Want(http.StatusOK, &task, "olivia", http.MethodGet, s.task, nil)
	return task.OrganizerID
}

func (s *registrationScene) registrations() string { return s.task + "/registrations" }

func TestRegister_FollowsModeAndWindow(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		rules  map[string]any
		status int
		state  record.RegistrationState
	}{
		"open":        {map[string]any{"mode": "open"}, http.StatusCreated, record.Accepted},
		"approval":    {map[string]any{"mode": "approval"}, http.StatusCreated, record.Pending},
		"closed":      {map[string]any{"mode": "closed"}, http.StatusForbidden, ""},
		"not yet":     {map[string]any{"opensAt": future}, http.StatusForbidden, ""},
		"no more":     {map[string]any{"closesAt": past}, http.StatusForbidden, ""},
		"in a window": {map[string]any{"opensAt": past, "closesAt": future}, http.StatusCreated, record.Accepted},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRegistrationScene(t, map[string]any{"registration": c.rules})
			var r record.Registration
			s.Want(c.status, &r, "tom", http.MethodPost, s.registrations(), map[string]any{"team": "T"})
			if r.State != c.state {
				t.Errorf("state %q, want %q", r.State, c.state)
			}
			s.Know("uma")
			s.Want(http.StatusCreated, &r, "olivia", http.MethodPost, s.registrations(), map[string]any{"team": "U", "userId": servertest.UserID("uma")})
			if r.State != record.Accepted || r.UserID != servertest.UserID("uma") {
				t.Errorf("an organizer's own registration of a user is %+v", r)
			}
		})
	}
}

func TestRegister_OneOfManyTeamsGetsTheName(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	var created, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			switch a := s.Do(fmt.Sprintf("user%d", i), http.MethodPost, s.registrations(), map[string]any{"team": "The Name"}); a.Status {
			case http.StatusCreated:
				created.Add(1)
			case http.StatusConflict:
				refused.Add(1)
			default:
				t.Errorf("status %d: %s", a.Status, a.Body)
			}
		})
	}
	all.Wait()
	if created.Load() != 1 || refused.Load() != 29 {
		t.Errorf("%d created, %d refused", created.Load(), refused.Load())
	}
}

func TestRegister_OncePerUser(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	path := s.Create("tom", s.registrations(), map[string]any{"team": "One"})
	s.Want(http.StatusConflict, nil, "tom", http.MethodPost, s.registrations(), map[string]any{"team": "Two"})
	s.Want(http.StatusConflict, nil, "uma", http.MethodPost, s.registrations(), map[string]any{"team": " ONE "})
	s.Want(http.StatusForbidden, nil, "uma", http.MethodPost, s.registrations(), map[string]any{"team": "Two", "userId": servertest.UserID("vic")})
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	s.Create("uma", s.registrations(), map[string]any{"team": "one"})
	s.Create("tom", s.registrations(), map[string]any{"team": "Two"})
}

func TestUpdateRegistration_OrganizersDecideAndOwnersEdit(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{"registration": map[string]any{"mode": "approval"}})
	path := s.Create("tom", s.registrations(), map[string]any{"team": "T", "contact": "tom@example.org"})
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"state": "accepted"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, path, map[string]any{"state": "accepted"})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, path, map[string]any{"team": "Renamed", "anonymous": true})
	s.Create("uma", s.registrations(), map[string]any{"team": "T"})
	s.Want(http.StatusConflict, nil, "uma", http.MethodPost, s.registrations(), map[string]any{"team": "Renamed"})
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"userId": servertest.UserID("uma")})
	for user, status := range map[string]int{"": http.StatusNotFound, "uma": http.StatusNotFound, "tom": http.StatusOK, "olivia": http.StatusOK, "root": http.StatusOK} {
		s.Want(status, nil, user, http.MethodGet, path, nil)
	}
	var me struct {
		Registrations []struct{ Team, State string }
	}
	s.Want(http.StatusOK, &me, "tom", http.MethodGet, "/v1/user", nil)
	if len(me.Registrations) != 1 || me.Registrations[0].Team != "Renamed" || me.Registrations[0].State != "accepted" {
		t.Errorf("the grant does not follow: %+v", me)
	}
	var entries struct{ Data []record.AuditEntry }
	s.Want(http.StatusOK, &entries, "olivia", http.MethodGet, s.task+"/audit-entries?filter[action]=registration.decided", nil)
	if len(entries.Data) != 1 || entries.Data[0].Action != "registration.decided" || !strings.Contains(string(entries.Data[0].After), "accepted") {
		t.Errorf("%+v", entries.Data)
	}
}

func TestListRegistrations_HasThoseThatTheCallerMaySee(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	s.Create("tom", s.registrations(), map[string]any{"team": "=T"})
	s.Create("uma", s.registrations(), map[string]any{"team": "U"})
	for user, want := range map[string]int{"tom": 1, "uma": 1, "olivia": 2, "root": 2} {
		var list struct{ Data []record.Registration }
		s.Want(http.StatusOK, &list, user, http.MethodGet, s.registrations(), nil)
		if len(list.Data) != want {
			t.Errorf("%s sees %d registrations, want %d", user, len(list.Data), want)
		}
	}
	s.Want(http.StatusNoContent, nil, "vic", http.MethodGet, s.registrations(), nil)
	s.Want(http.StatusUnauthorized, nil, "", http.MethodGet, s.registrations(), nil)
	table := string(s.Want(http.StatusOK, nil, "olivia", http.MethodGet, s.registrations(), nil, "Accept", "text/csv").Body)
	if !strings.HasPrefix(table, "id,team,") || strings.Count(table, "\n") != 3 || !strings.Contains(table, ",'=T,") {
		t.Errorf("%s", table)
	}
}

func TestPrivateTask_IsSeenByRegistrants(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{"visibility": "private"})
	s.Want(http.StatusNotFound, nil, "tom", http.MethodGet, s.task, nil)
	s.Want(http.StatusNotFound, nil, "tom", http.MethodPost, s.registrations(), map[string]any{"team": "T"})
	s.Know("tom")
	s.Create("olivia", s.registrations(), map[string]any{"team": "T", "userId": servertest.UserID("tom")})
	s.Want(http.StatusOK, nil, "tom", http.MethodGet, s.task, nil)
	var list struct{ Data []record.Task }
	s.Want(http.StatusOK, &list, "tom", http.MethodGet, "/v1/tasks", nil)
	if len(list.Data) != 1 {
		t.Errorf("%d tasks in the list of one who is registered", len(list.Data))
	}
	s.Want(http.StatusNoContent, nil, "uma", http.MethodGet, "/v1/tasks", nil)
}

func TestDeleteRegistration_IsRefusedWithSubmissions(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	path := s.Create("tom", s.registrations(), map[string]any{"team": "T"})
	a := &record.Allowance{Meta: record.NewMeta(time.Now()), TaskID: strings.TrimPrefix(s.task, "/v1/tasks/"), Submissions: 1}
	a.ID = servertest.UserID("tom")
	s.Put(a)
	s.Want(http.StatusConflict, nil, "tom", http.MethodDelete, path, nil)
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, path, nil)
}

// Nobody is registered without being known, or beyond the bound, and who was registered by others can leave in any state.
func TestRegistration_OfAnotherUserTakesConsent(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{"visibility": "private", "registration": map[string]any{"mode": "closed"}})
	tom, body := servertest.UserID("tom"), map[string]any{"team": "T", "userId": servertest.UserID("tom")}
	a := s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPost, s.registrations(), body)
	if got := string(a.Body); !strings.Contains(got, `"pointer":"/userId"`) || !strings.Contains(got, `"detail":"`+tom+` is not the id of a known user"`) || !strings.Contains(got, "PATCH /v1/user") {
		t.Errorf("%s", got)
	}
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, "/v1/user", map[string]any{})
	for _, state := range []string{"accepted", "rejected", "pending"} {
		path := s.Create("olivia", s.registrations(), body)
		s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, path, map[string]any{"state": state})
		s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, path, nil)
	}
	for range record.RegistrationGrants.MaxAdded {
		s.Put(&record.Registered{Meta: record.NewMeta(s.Now()), UserID: tom, TaskID: record.NewID(s.Now()), State: record.Accepted})
	}
	a = s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPost, s.registrations(), body)
	if !strings.Contains(string(a.Body), "registrations for tasks") {
		t.Errorf("%s", a.Body)
	}
	open := s.Create("olivia", "/v1/tasks", map[string]any{"organizerId": s.organizer(), "name": "Open"})
	s.Create("tom", open+"/registrations", map[string]any{"team": "T"}) // by a decision of one's own
}
