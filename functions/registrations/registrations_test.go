package registrations_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/registrations"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// start serves a public task that olga organizes.
func start(t *testing.T) (*servertest.Server, *record.TaskItem, string) {
	s := servertest.New(t, registrations.Operations...)
	task := &record.TaskItem{}
	task.Meta, task.OrganizerID, task.Visibility = record.NewMeta(s.Now()), record.NewID(s.Now()), record.Public
	s.Put(task, &record.Reservation{Meta: record.NewMeta(s.Now()), At: record.MembershipKey(servertest.UserID("olga"), task.OrganizerID)})
	return s, task, "/v1/tasks/" + task.ID + "/registrations"
}

func TestCreate_IsRefusedWhileTheTaskIsBeingDeleted(t *testing.T) {
	s, task, path := start(t)
	task.PendingWork = record.NewPendingWork(record.DeleteTask, s.Now())
	if err := new(records.Tx).Replace(task).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusNotFound, nil, "tom", http.MethodPost, path, map[string]any{"team": "Heron"})
	s.Want(http.StatusConflict, nil, "olga", http.MethodPost, path, map[string]any{"team": "Heron"})
}

func TestCreate_BoundsTeamNames(t *testing.T) {
	s, _, path := start(t)
	for name, want := range map[string]int{
		strings.Repeat("ﷺ", 100): http.StatusUnprocessableEntity, // eighteen letters each once written out
		strings.Repeat("𝕬", 100): http.StatusCreated,
		strings.Repeat("x", 101): http.StatusUnprocessableEntity,
		"\u00a0\u2003":           http.StatusUnprocessableEntity,
		"two\nlines":             http.StatusUnprocessableEntity,
	} {
		s.Want(want, nil, "tom", http.MethodPost, path, map[string]any{"team": name})
	}
}

// The grant is what submitting looks at, so it is never another than the registration.
func TestChange_ChangesTheGrant(t *testing.T) {
	s, task, path := start(t)
	made := s.Create("tom", path, map[string]any{"team": "Heron"})
	for _, c := range []struct {
		user  string
		patch map[string]any
	}{
		{"tom", map[string]any{"team": "Grey Heron"}},
		{"tom", map[string]any{"anonymous": true}},
		{"olga", map[string]any{"state": "rejected"}},
		{"olga", map[string]any{"state": "accepted"}},
		{"tom", map[string]any{"team": "Heron", "anonymous": false}},
	} {
		var r record.Registration
		s.Want(http.StatusOK, &r, c.user, http.MethodPatch, made, c.patch)
		g, err := records.Get[record.Registered](t.Context(), s.Store, store.Strong, record.RegisteredKey(servertest.UserID("tom"), task.ID))
		if err != nil {
			t.Fatal(err)
		}
		if g.ID != r.ID || g.Team != r.Team || g.Anonymous != r.Anonymous || g.State != r.State || g.Alias != r.Alias {
			t.Errorf("after %v the registration is %+v, the grant %+v", c.patch, r, g)
		}
	}
	// What the team calls itself, and whether it stays behind its alias, is not the organizers' to change.
	for _, theirs := range []map[string]any{{"team": "Other"}, {"anonymous": true}, {"contact": "x"}, {"state": "rejected", "country": "y"}} {
		s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, made, theirs)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPost, path, map[string]any{"team": "\u200bAnonymous-0123456789abcdef"})
	s.Want(http.StatusConflict, nil, "uma", http.MethodPost, path, map[string]any{"team": "heron"})
	s.Create("uma", path, map[string]any{"team": "Grey Heron"})
	s.Want(http.StatusConflict, nil, "tom", http.MethodPatch, made, map[string]any{"team": "GREY  HERON"})
}

// Withdrawing and registering anew gives nothing of the quota back.
func TestRemove_KeepsTheUsedQuota(t *testing.T) {
	s, task, path := start(t)
	made := s.Create("tom", path, map[string]any{"team": "Heron"})
	used := &record.Allowance{Meta: record.NewMeta(s.Now()), TaskID: task.ID, Total: 7}
	used.ID = servertest.UserID("tom")
	s.Put(used)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, made, nil)
	s.Want(http.StatusNotFound, nil, "tom", http.MethodGet, made, nil)
	s.Create("tom", path, map[string]any{"team": "Heron"})
	a, err := records.Get[record.Allowance](t.Context(), s.Store, store.Strong, used.Key())
	if err != nil || a == nil || a.Total != 7 {
		t.Errorf("%+v, %v", a, err)
	}
}

// An anonymous team reserves no name, so that a conflict tells nobody that it takes part; once it is to be shown, it is the one
// that finds its name taken.
func TestCreate_KeepsShownTeamNamesUnique(t *testing.T) {
	s, _, path := start(t)
	hidden := s.Create("tom", path, map[string]any{"team": "Heron", "anonymous": true})
	shown := s.Create("uma", path, map[string]any{"team": "heron"})
	s.Want(http.StatusConflict, nil, "vic", http.MethodPost, path, map[string]any{"team": "Heron"})
	s.Want(http.StatusConflict, nil, "tom", http.MethodPatch, hidden, map[string]any{"anonymous": false})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, hidden, map[string]any{"team": "Egret", "anonymous": false})
	s.Want(http.StatusConflict, nil, "vic", http.MethodPost, path, map[string]any{"team": "Egret"})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, hidden, map[string]any{"anonymous": true})
	egret := s.Create("vic", path, map[string]any{"team": "Egret"})
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, hidden, nil)
	s.Want(http.StatusConflict, nil, "tom", http.MethodPost, path, map[string]any{"team": "Egret"})
	s.Want(http.StatusOK, nil, "vic", http.MethodPatch, egret, map[string]any{"team": "EGRET"})
	s.Want(http.StatusNoContent, nil, "uma", http.MethodDelete, shown, nil)
	s.Create("tom", path, map[string]any{"team": "Heron"})
}
