package functions_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

func (s *registrationScene) id() string { return strings.TrimPrefix(s.task, "/v1/tasks/") }

// alter changes the task behind the API's back.
func (s *registrationScene) alter(t *testing.T, change func(*record.TaskItem)) {
	t.Helper()
	task, err := records.Get[record.TaskItem](t.Context(), s.Store, store.Strong, record.TaskKey(s.id()))
	if err != nil {
		t.Fatal(err)
	}
	change(task)
	if err := new(records.Tx).Replace(task).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
}

func TestRegister_OneOfManyRequestsOfAUserSucceeds(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	var created, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			switch a := s.Do("tom", http.MethodPost, s.registrations(), map[string]any{"team": fmt.Sprint("Team ", i)}); a.Status {
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
	if created.Load() != 1 || refused.Load() != 49 {
		t.Errorf("%d created, %d refused", created.Load(), refused.Load())
	}
	var list struct{ Data []record.Registration }
	s.Want(http.StatusOK, &list, "olivia", http.MethodGet, s.registrations(), nil)
	if len(list.Data) != 1 {
		t.Fatalf("%d registrations", len(list.Data))
	}
	for i := range 50 { // the names of those refused are free
		if team := fmt.Sprint("Team ", i); team != list.Data[0].Team {
			s.Create(fmt.Sprint("user", i), s.registrations(), map[string]any{"team": team})
		}
	}
}

func TestUpdateRegistration_KeepsTeamNamesUniqueInARace(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	paths := map[string]string{"tom": "", "uma": ""}
	for user := range paths {
		paths[user] = s.Create(user, s.registrations(), map[string]any{"team": user})
	}
	var all sync.WaitGroup
	for i := range 20 {
		for user, path := range paths {
			all.Go(func() {
				a := s.Do(user, http.MethodPatch, path, map[string]any{"team": fmt.Sprint("Name ", i%3)})
				if a.Status != http.StatusOK && a.Status != http.StatusConflict {
					t.Errorf("status %d: %s", a.Status, a.Body)
				}
			})
		}
	}
	all.Wait()
	teams := map[string]bool{}
	for user, path := range paths {
		var r record.Registration
		s.Want(http.StatusOK, &r, user, http.MethodGet, path, nil)
		teams[r.Team] = true
	}
	items, err := s.Store.Query(t.Context(), store.Query{Partition: record.TaskKey(s.id()).Partition, From: "TEAM#", To: "TEAM$", Limit: 10, Consistency: store.Strong})
	if err != nil || len(items) != 2 || len(teams) != 2 {
		t.Errorf("teams %v, and %d names reserved: %v", teams, len(items), err)
	}
}

func TestRegistration_StaysRejected(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	path := s.Create("tom", s.registrations(), map[string]any{"team": "T"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, path, map[string]any{"state": "rejected"})
	s.Want(http.StatusForbidden, nil, "tom", http.MethodDelete, path, nil)
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPatch, path, map[string]any{"state": "pending"})
	s.Want(http.StatusConflict, nil, "tom", http.MethodPost, s.registrations(), map[string]any{"team": "U"})
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, s.task+"/submissions", map[string]any{
		"type": "image", "image": "registry.example.org/t:1", "datasetIds": []string{record.NewID(time.Now())},
	})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, map[string]any{"visibility": "private"})
	s.Want(http.StatusForbidden, nil, "tom", http.MethodGet, s.task, nil) // and not found missing: the own registration is below it
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, path, nil)
	s.Want(http.StatusNotFound, nil, "tom", http.MethodGet, s.task, nil)
	var entries struct{ Data []record.AuditEntry }
	s.Want(http.StatusOK, &entries, "olivia", http.MethodGet, s.task+"/audit-entries", nil)
	var actions []string
	for _, e := range entries.Data {
		actions = append(actions, e.Action)
	}
	if got := strings.Join(actions, " "); got != "registration.deleted task.rules-changed registration.decided registration.created task.created organizer.created" {
		t.Errorf("the audit entries tell %s", got)
	}
}

func TestDeletingTask_IsSeenByOrganizersAlone(t *testing.T) {
	for _, visibility := range []string{"public", "private"} {
		s := newRegistrationScene(t, map[string]any{"visibility": visibility})
		s.Know("tom")
		path := s.Create("olivia", s.registrations(), map[string]any{"team": "T", "userId": servertest.UserID("tom")})
		s.alter(t, func(task *record.TaskItem) {
			task.PendingWork = record.NewPendingWork(record.DeleteTask, time.Now())
		})
		s.Want(http.StatusConflict, nil, "olivia", http.MethodPost, s.registrations(), map[string]any{"team": "O"})
		s.Want(http.StatusNotFound, nil, "uma", http.MethodPost, s.registrations(), map[string]any{"team": "U"})
		s.Want(http.StatusConflict, nil, "olivia", http.MethodPatch, s.task, map[string]any{"name": "Renamed"})
		for _, user := range []string{"", "uma", "tom"} {
			s.Want(http.StatusNotFound, nil, user, http.MethodGet, s.task, nil)
			s.Want(http.StatusNoContent, nil, user, http.MethodGet, "/v1/tasks", nil)
		}
		s.Want(http.StatusOK, nil, "olivia", http.MethodGet, s.task, nil)
		s.Want(http.StatusOK, nil, "tom", http.MethodGet, path, nil)
		s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.task, nil) // which goes on with it
		s.Want(http.StatusNotFound, nil, "olivia", http.MethodGet, s.task, nil)
	}
}

func TestRegister_OrganizersAtAnyTime(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{"visibility": "private", "registration": map[string]any{"mode": "closed", "closesAt": time.Now().Add(-time.Hour)}})
	var r record.Registration
	s.Want(http.StatusCreated, &r, "olivia", http.MethodPost, s.registrations(), map[string]any{"team": "O", "userId": servertest.UserID("olivia")})
	if r.UserID != servertest.UserID("olivia") || r.State != record.Accepted {
		t.Errorf("%+v", r)
	}
	s.Want(http.StatusConflict, nil, "olivia", http.MethodPost, s.registrations(), map[string]any{"team": "P"})
	s.Know("uma")
	s.Want(http.StatusCreated, &r, "root", http.MethodPost, s.registrations(), map[string]any{"team": "P", "userId": servertest.UserID("uma")})
	if r.UserID != servertest.UserID("uma") {
		t.Errorf("%+v", r)
	}
	open := newRegistrationScene(t, map[string]any{})
	open.Want(http.StatusCreated, &r, "tom", http.MethodPost, open.registrations(), map[string]any{"team": "T", "userId": servertest.UserID("tom")})
	if r.State != record.Accepted {
		t.Errorf("%+v", r)
	}
	var p problem.Document
	open.Want(http.StatusUnprocessableEntity, &p, "olivia", http.MethodPost, open.registrations(), map[string]any{"team": " ", "userId": servertest.UserID("tom"), "country": "a\nb"})
	var pointers []string
	for _, f := range p.Errors {
		pointers = append(pointers, f.Pointer)
	}
	if got := strings.Join(pointers, " "); got != "/team /country" {
		t.Errorf("faults at %s", got)
	}
}

// What is hidden is answered as what is missing, whoever asks for what.
func TestRegistration_HiddenIsAsMissing(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	path := s.Create("tom", s.registrations(), map[string]any{"team": "T", "contact": "tom@example.org"})
	id := path[strings.LastIndex(path, "/")+1:]
	other := record.NewID(time.Now())
	for _, user := range []string{"", "uma"} {
		for method, body := range map[string]any{http.MethodGet: nil, http.MethodDelete: nil, http.MethodPatch: map[string]any{"team": "U"}} {
			hidden := s.Want(http.StatusNotFound, nil, user, method, path, body, "X-Request-Id", "same")
			missing := s.Want(http.StatusNotFound, nil, user, method, strings.Replace(path, id, other, 1), body, "X-Request-Id", "same")
			if got := strings.ReplaceAll(string(hidden.Body), id, other); got != string(missing.Body) {
				t.Errorf("%s as %q: %s and %s", method, user, got, missing.Body)
			}
		}
	}
	second := newRegistrationScene(t, map[string]any{})
	s.Want(http.StatusNotFound, nil, "tom", http.MethodGet, second.task+"/registrations/"+id, nil)
}

func TestListRegistrations_SelectsMembersAndPages(t *testing.T) {
	s := newRegistrationScene(t, map[string]any{})
	s.Create("tom", s.registrations(), map[string]any{"team": "T", "contact": "tom@example.org"})
	s.Create("uma", s.registrations(), map[string]any{"team": "U"})
	a := s.Want(http.StatusOK, nil, "olivia", http.MethodGet, s.registrations()+"?fields=team,contact&limit=1", nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"U"}]`) {
		t.Errorf("%s", a.Body)
	}
	next := strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), `>; rel="next"`)
	a = s.Want(http.StatusOK, nil, "olivia", http.MethodGet, next, nil)
	if !strings.Contains(string(a.Body), `"data":[{"team":"T","contact":"tom@example.org"}]`) || a.Header.Get("Link") != "" {
		t.Errorf("%s", a.Body)
	}
	s.Want(http.StatusOK, nil, "tom", http.MethodGet, next, nil)
	s.Want(http.StatusBadRequest, nil, "uma", http.MethodGet, next, nil) // it goes on at tom's, which uma does not see
	s.Want(http.StatusBadRequest, nil, "olivia", http.MethodGet, s.registrations()+"?fields=secret", nil)
}
