package submissions_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

// interfered is a store in which another request is faster: do happens once, right before the next write, or before the grants of
// ada are read.
type interfered struct {
	store.Store
	once    sync.Once
	do      func()
	reading bool
}

func (i *interfered) Write(ctx context.Context, writes ...store.Write) error {
	if !i.reading {
		i.once.Do(i.do)
	}
	return i.Store.Write(ctx, writes...)
}

func (i *interfered) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if i.reading && q.Partition == record.UserPartition(recordtest.UserID("ada")) {
		i.once.Do(i.do)
	}
	return i.Store.Query(ctx, q)
}

// What a submission has of its task and registration is what they are when it is made, however close the race. A change of a task
// changes its grants afterwards, and both can happen between the reading of the task and of the grant.
func TestCreate_RacesWithChangesOfTaskAndRegistration(t *testing.T) {
	private := func(f *fixture, g *record.Registered) {
		f.task.Visibility, g.PrivateTask = record.Private, true
		f.Records().Replace(f.task)
	}
	for name, tt := range map[string]struct {
		reading bool
		change  func(*fixture, *record.Registered)
		status  int
		has     func(team string, a record.AccessAttributes) bool
	}{
		"rejected": {false, func(_ *fixture, g *record.Registered) { g.State = record.Rejected }, http.StatusForbidden, nil},
		"renamed": {false, func(_ *fixture, g *record.Registered) { g.Team = "new" }, http.StatusCreated,
			func(team string, _ record.AccessAttributes) bool { return team == "new" }},
		"anonymous": {false, func(_ *fixture, g *record.Registered) { g.Anonymous = true }, http.StatusCreated,
			func(_ string, a record.AccessAttributes) bool { return a.Anonymous && a.Alias != "" }},
		"private":           {false, private, http.StatusCreated, func(_ string, a record.AccessAttributes) bool { return a.PrivateTask }},
		"private before it": {true, private, http.StatusCreated, func(_ string, a record.AccessAttributes) bool { return a.PrivateTask }},
		"deleting before it": {true, func(f *fixture, _ *record.Registered) {
			f.task.PendingWork = &record.PendingWork{Kind: record.DeleteTask, State: record.Decided}
			f.Records().Replace(f.task)
		}, http.StatusConflict, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			body := upload(inline(s.dataset(), "run.txt", ranked))
			undisturbed := s.Store
			s.Store = &interfered{Store: undisturbed, reading: tt.reading, do: func() {
				s.Store = undisturbed
				g := recordtest.Get[record.Registered](t, s.Store, record.RegisteredKey(recordtest.UserID("ada"), s.task.ID))
				tt.change(s, g)
				s.Records().Replace(g)
			}}
			a := s.Want(tt.status, nil, "ada", http.MethodPost, s.path, body)
			if tt.status != http.StatusCreated {
				s.checkNothing("ada")
				return
			}
			made := recordtest.Get[record.SubmissionItem](t, s.Store, record.SubmissionKey(servertest.ID(a.Header.Get("Location"))))
			if r := s.run(made.RunIDs[0]); !tt.has(made.Team, made.Access) || !tt.has(r.Team, r.Access) {
				t.Errorf("made %+v\nwith the run %+v", made, r)
			}
			if a := s.allowance(); a.Total != 1 || s.FileCount() != 1 {
				t.Errorf("%+v, %d files", a, s.FileCount())
			}
		})
	}
}

func TestList_HidesUserOfAnonymousTeam(t *testing.T) {
	s := serve(t)
	key := record.RegisteredKey(recordtest.UserID("ada"), s.task.ID)
	g := recordtest.Get[record.Registered](t, s.Store, key)
	g.Anonymous = true
	s.Records().Replace(g)
	body := upload(inline(s.dataset(), "run.txt", ranked))
	body["visibility"] = "public"
	path := s.path + "/" + s.submit(body).ID
	for user, knows := range map[string]bool{"": false, "bob": false, "ada": true, "olga": true, "root": true} {
		for _, p := range []string{s.path, path} {
			a := s.Want(http.StatusOK, nil, user, http.MethodGet, p, nil)
			if named := strings.Contains(string(a.Body), "team of ada") || strings.Contains(string(a.Body), g.UserID); named != knows {
				t.Errorf("%q sees who it is: %v\n%s", user, named, a.Body)
			}
		}
		status := http.StatusNoContent
		if knows {
			status = http.StatusOK
		}
		s.Want(status, nil, user, http.MethodGet, s.path+"?filter[userId]="+g.UserID, nil)
	}
}
