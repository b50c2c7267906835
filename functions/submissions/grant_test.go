package submissions_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/store"
)

// meddler is a store in which somebody else is faster once: do happens right before the next write.
type meddler struct {
	store.Store
	once sync.Once
	do   func()
}

func (m *meddler) Write(ctx context.Context, writes ...store.Write) error {
	m.once.Do(m.do)
	return m.Store.Write(ctx, writes...)
}

// What a submission takes over from its task and registration is what they are when it is made, however close the race.
func TestCreate_RacesWithChangesOfTheRegistration(t *testing.T) {
	for name, tt := range map[string]struct {
		meddle func(*scene, *record.Registered)
		status int
		taken  func(team string, st record.AccessAttributes) bool
	}{
		"rejected": {func(_ *scene, g *record.Registered) { g.State = record.Rejected }, http.StatusForbidden, nil},
		"renamed": {func(_ *scene, g *record.Registered) { g.Team = "new" }, http.StatusCreated,
			func(team string, _ record.AccessAttributes) bool { return team == "new" }},
		"anonymous": {func(_ *scene, g *record.Registered) { g.Anonymous = true }, http.StatusCreated,
			func(_ string, st record.AccessAttributes) bool { return st.Anonymous && st.Alias == "alias" }},
		"private": {func(s *scene, g *record.Registered) {
			s.task.Visibility, g.PrivateTask = record.Private, true
			s.replace(s.task)
		}, http.StatusCreated, func(_ string, st record.AccessAttributes) bool { return st.PrivateTask }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			body := upload(inline(s.dataset(), "run.txt", ranked))
			undisturbed := s.Store
			s.Store = &meddler{Store: undisturbed, do: func() {
				s.Store = undisturbed
				g := get[record.Registered](s, record.RegisteredKey(servertest.UserID("ada"), s.task.ID))
				tt.meddle(s, g)
				s.replace(g)
			}}
			a := s.Want(tt.status, nil, "ada", http.MethodPost, s.path, body)
			if tt.status != http.StatusCreated {
				s.nothing("ada")
				return
			}
			location := a.Header.Get("Location")
			made := get[record.SubmissionItem](s, record.SubmissionKey(location[strings.LastIndex(location, "/")+1:]))
			if r := s.run(made.RunIDs[0]); !tt.taken(made.Team, made.Access) || !tt.taken(r.Team, r.Access) {
				t.Errorf("made %+v\nwith the run %+v", made, r)
			}
			if a := s.allowance(); a.Total != 1 || len(s.stored()) != 1 {
				t.Errorf("%+v, %d files", a, len(s.stored()))
			}
		})
	}
}

// eavesdropper is a store in which somebody else is faster once: do happens right before the grants are read.
type eavesdropper struct {
	store.Store
	once sync.Once
	do   func()
}

func (e *eavesdropper) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if q.Partition == record.UserPartition(servertest.UserID("ada")) {
		e.once.Do(e.do)
	}
	return e.Store.Query(ctx, q)
}

// Whoever changes a task writes its grants afterwards; both can fall between the reading of the task and of the grant.
func TestCreate_RacesWithChangesOfTheTask(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*record.TaskItem)
		status int
	}{
		"deleted": {func(t *record.TaskItem) {
			t.PendingWork = &record.PendingWork{Kind: record.DeleteTask, State: record.Decided}
		}, http.StatusConflict},
		"private": {func(t *record.TaskItem) { t.Visibility = record.Private }, http.StatusCreated},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			body := upload(inline(s.dataset(), "run.txt", ranked))
			undisturbed := s.Store
			s.Store = &eavesdropper{Store: undisturbed, do: func() {
				s.Store = undisturbed
				tt.change(s.task)
				s.replace(s.task)
				g := get[record.Registered](s, record.RegisteredKey(servertest.UserID("ada"), s.task.ID))
				g.PrivateTask = s.task.Visibility == record.Private
				s.replace(g)
			}}
			a := s.Want(tt.status, nil, "ada", http.MethodPost, s.path, body)
			if tt.status != http.StatusCreated {
				s.nothing("ada")
				return
			}
			location := a.Header.Get("Location")
			made := get[record.SubmissionItem](s, record.SubmissionKey(location[strings.LastIndex(location, "/")+1:]))
			if r := s.run(made.RunIDs[0]); !made.Access.PrivateTask || !r.Access.PrivateTask {
				t.Error("what was submitted to a private task is public")
			}
		})
	}
}

func TestList_HidesUserOfAnonymousTeam(t *testing.T) {
	s := newScene(t)
	key := record.RegisteredKey(servertest.UserID("ada"), s.task.ID)
	g := get[record.Registered](s, key)
	g.Anonymous = true
	s.replace(g)
	body := upload(inline(s.dataset(), "run.txt", ranked))
	body["visibility"] = "public"
	path := s.path + "/" + s.submit(body).ID
	for user, knows := range map[string]bool{"": false, "bob": false, "ada": true, "olga": true, "root": true} {
		for _, p := range []string{s.path, path} {
			a := s.Want(http.StatusOK, nil, user, http.MethodGet, p, nil)
			if named := strings.Contains(string(a.Body), "team of ada") || strings.Contains(string(a.Body), g.UserID); named != knows {
				t.Errorf("%q is told who it is: %v\n%s", user, named, a.Body)
			}
		}
		status := http.StatusNoContent
		if knows {
			status = http.StatusOK
		}
		s.Want(status, nil, user, http.MethodGet, s.path+"?filter[userId]="+g.UserID, nil)
	}
}
