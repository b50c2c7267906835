package tasks_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"assay/functions/tasks"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// start serves a private task that olga organizes and reg is registered for.
func start(t *testing.T) (*servertest.Server, *record.TaskItem) {
	s := servertest.New(t, tasks.Operations...)
	task := &record.TaskItem{}
	task.Meta, task.OrganizerID, task.Name, task.Visibility = record.NewMeta(s.Now()), record.NewID(s.Now()), "Lakes", record.Private
	task.Normalize()
	s.Put(task, &record.Reservation{Meta: record.NewMeta(s.Now()), At: record.MembershipKey(servertest.UserID("olga"), task.OrganizerID)},
		&record.Registered{Meta: record.NewMeta(s.Now()), UserID: servertest.UserID("reg"), TaskID: task.ID, OrganizerID: task.OrganizerID, PrivateTask: true, State: record.Accepted})
	return s, task
}

func TestShow_HidesTaskThatIsBeingDeleted(t *testing.T) {
	s, task := start(t)
	path := "/v1/tasks/" + task.ID
	lists := []string{"/v1/tasks", "/v1/tasks?filter[organizerId]=" + task.OrganizerID}
	for _, list := range lists {
		s.Want(http.StatusOK, nil, "reg", http.MethodGet, list, nil)
	}
	task.PendingWork = record.NewPendingWork(record.DeleteTask, s.Now())
	if err := new(records.Tx).Replace(task).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		for _, user := range []string{"reg", "olga", "root"} {
			s.Want(http.StatusNoContent, nil, user, http.MethodGet, list, nil)
		}
	}
	s.Want(http.StatusNotFound, nil, "reg", http.MethodGet, path, nil)
	s.Want(http.StatusConflict, nil, "olga", http.MethodPatch, path, map[string]any{"name": "Rivers"})
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil) // it goes on where it was
	s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, path, nil)
}

func TestList_HasPrivateTasksOfRegistrants(t *testing.T) {
	s, task := start(t)
	for query, want := range map[string]int{
		"": http.StatusOK, "?filter[name]=lake": http.StatusOK, "?filter[organizerId]=" + task.OrganizerID: http.StatusOK,
		"?filter[name]=river": http.StatusNoContent, "?filter[visibility]=public": http.StatusNoContent,
		"?filter[organizerId]=" + record.NewID(s.Now()): http.StatusNoContent, "?cursor=" + task.ID: http.StatusOK,
	} {
		s.Want(want, nil, "reg", http.MethodGet, "/v1/tasks"+query, nil)
	}
	s.Want(http.StatusBadRequest, nil, "stranger", http.MethodGet, "/v1/tasks?cursor="+task.ID, nil)
}

func TestRemove_DeletesFiles(t *testing.T) {
	s, task := start(t)
	d := &record.DatasetItem{OrganizerID: task.OrganizerID}
	d.Meta, d.TaskID = record.NewMeta(s.Now()), task.ID
	d.Inputs = []record.File{{Name: "in", SHA256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", Size: 3, State: record.FileStored}}
	d.Truths = d.Inputs
	s.Put(d)
	for _, key := range d.ObjectKeys() {
		if err := s.Files.Put(t.Context(), blob.Object{Key: key, Size: 3, SHA256: d.Inputs[0].SHA256, MediaType: "text/plain"}, strings.NewReader("foo")); err != nil {
			t.Fatal(err)
		}
	}
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/tasks/"+task.ID, nil)
	for _, key := range d.ObjectKeys() {
		if _, err := s.Files.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s stays: %v", key, err)
		}
	}
}

// The request is over before everything has followed: the task keeps what the evaluator goes on with.
func TestChange_IsAuditedAndPropagated(t *testing.T) {
	s, task := start(t)
	path := "/v1/tasks/" + task.ID
	pending := func() *record.PendingWork {
		now, err := records.Get[record.TaskItem](t.Context(), s.Store, store.Strong, task.Key())
		if err != nil {
			t.Fatal(err)
		}
		return now.PendingWork
	}
	entries := func() int {
		found, err := s.Store.Query(t.Context(), store.Query{Partition: record.AuditPartition(task.OrganizerID), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for _, c := range []struct {
		patch   map[string]any
		entries int
		follows bool
	}{
		{map[string]any{"name": "Rivers"}, 0, false},
		{map[string]any{"submissions": map[string]any{"perDay": 3}}, 1, false},
		{map[string]any{"registration": map[string]any{"closesAt": "2026-01-01T00:00:00Z"}}, 2, false},
		{map[string]any{"visibility": "public"}, 3, true},
		{map[string]any{"visibility": "public"}, 3, true},
	} {
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, c.patch)
		if n, f := entries(), pending(); n != c.entries || (f != nil) != c.follows {
			t.Errorf("%v: %d audit entries, to follow: %+v", c.patch, n, f)
		}
	}
}
