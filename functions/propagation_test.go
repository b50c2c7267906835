package functions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/deletion"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

func TestUpdateTask_PropagatesVisibility(t *testing.T) {
	s := newServer(t)
	task := s.Records().Task(recordtest.Private)
	task.Register("tom")
	r := task.Dataset().Run("tom", recordtest.Public, recordtest.Published)
	for _, step := range []struct {
		visibility string
		seen       int
		status     int
	}{
		{"private", 0, http.StatusNotFound}, {"public", 1, http.StatusOK}, {"private", 0, http.StatusNotFound}, {"public", 1, http.StatusOK},
	} {
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, task.Path(), map[string]any{"visibility": step.visibility})
		for _, list := range []string{"/v1/tasks", "/v1/datasets", "/v1/runs", "/v1/evaluations"} {
			if got := s.IDs("", list); len(got) != step.seen {
				t.Errorf("%s: anyone sees %v at %s", step.visibility, got, list)
			}
		}
		s.Want(step.status, nil, "", http.MethodGet, "/v1/runs/"+r.ID, nil)
		s.Want(step.status, nil, "", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
		s.Want(http.StatusOK, nil, "tom", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
	}
}

// An anonymous team shows its alias everywhere from the answer on, to everyone but itself and the organizers, and its name
// again when it has changed its mind.
func TestUpdateRegistration_PropagatesAlias(t *testing.T) {
	s := newServer(t)
	task := s.Records().Task()
	registration := task.Register("tom")
	r := task.Dataset().Run("tom", recordtest.Public, recordtest.Published)
	tom, alias := recordtest.UserID("tom"), registration.Alias
	for _, step := range []struct {
		patch map[string]any
		shown string
		named bool
	}{
		{map[string]any{"anonymous": true}, alias, false},
		{map[string]any{"team": "Heron"}, alias, false},
		{map[string]any{"anonymous": false}, "Heron", true},
		{map[string]any{"team": "Otter", "anonymous": true}, alias, false},
	} {
		s.Want(http.StatusOK, nil, "tom", http.MethodPatch, task.Path()+"/registrations/"+registration.ID, step.patch)
		for _, path := range []string{"/v1/runs", "/v1/runs/" + r.ID, "/v1/evaluations", "/v1/evaluations/" + r.EvaluationID, task.Path() +
			"/submissions", task.Path() + "/evaluations"} {
			for _, user := range []string{"", "uma", "tom", "olga"} {
				body := string(s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Body)
				knows := step.named || user == "tom" || user == "olga"
				if strings.Contains(body, tom) != knows || !strings.Contains(body, `"team":"`+step.shown+`"`) != (step.shown == alias && knows) {
					t.Errorf("after %v %s shows %q %s", step.patch, path, user, body)
				}
			}
		}
		status := http.StatusNoContent
		if step.named {
			status = http.StatusOK
		}
		for _, path := range []string{"/v1/runs?filter[userId]=" + tom, "/v1/evaluations?filter[userId]=" + tom, "/v1/users/" + tom +
			"/submissions"} {
			s.Want(status, nil, "", http.MethodGet, path, nil)
		}
	}
}

// The process that marked the task ended before it found the submission; the evaluator finds it.
func TestDeleteTask_IsUndoneWhenRefused(t *testing.T) {
	s := newServer(t)
	b := s.Records()
	task := b.Task()
	task.Dataset().Run("tom")
	task.PendingWork = record.NewPendingWork(record.DeleteTask, s.Now())
	b.Replace(task)
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, task.Path(), nil)
	if err := (deletion.Deleter{Store: s.Store, Now: s.Now}).ResumeTask(t.Context(), task.Key()); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusOK, nil, "", http.MethodGet, task.Path(), nil)
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, task.Path(), nil)
}

func TestDeleteTask_DeletesWhatBelongsToIt(t *testing.T) {
	p := newPlatform(t, nil)
	for i := range 3 {
		p.register(fmt.Sprint("user", i), nil)
	}
	p.newDataset(nil)
	if n := p.FileCount(); n != 1 {
		t.Fatalf("%d files are stored, want the truth", n)
	}
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.organizer, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task, nil)
	for _, path := range []string{p.task, p.dataset, p.task + "/registrations"} {
		p.Want(http.StatusNotFound, nil, "olga", http.MethodGet, path, nil)
	}
	if n := p.FileCount(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if me := servertest.Get[struct{ Registrations []any }](p.Server, "user1", "/v1/user"); len(me.Registrations) > 0 {
		t.Errorf("a registration for nothing: %v", me.Registrations)
	}
	id := servertest.ID(p.task)
	if err := (deletion.Deleter{Store: p.Store, Now: p.Now}).SweepTask(t.Context(), record.DeletedTaskKey(id)); err != nil {
		t.Fatal(err)
	}
	left, err := p.Store.Query(t.Context(), store.Query{Partition: record.TaskKey(id).Partition, Limit: 10, Consistency: store.Strong})
	if err != nil || len(left) > 0 {
		t.Errorf("%d items are left of the task: %v", len(left), err)
	}
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.organizer, nil)
}
