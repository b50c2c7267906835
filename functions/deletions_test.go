package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/deletion"
	"assay/shared/record"
	"assay/shared/store"
)

// concurrently sends two requests at once and returns their answers.
func concurrently(one, other func() servertest.Answer) (a, b servertest.Answer) {
	var wg sync.WaitGroup
	wg.Go(func() { a = one() })
	wg.Go(func() { b = other() })
	wg.Wait()
	return a, b
}

// One of the two requests is refused, whichever comes second.
func TestDeleteOrganizer_RacesWithNewTask(t *testing.T) {
	p := newPlatform(t, nil)
	for range 40 {
		organizer := p.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
		made, deleted := concurrently(
			func() servertest.Answer {
				return p.Do("olga", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": servertest.ID(organizer), "name": "Task"})
			},
			func() servertest.Answer { return p.Do("olga", http.MethodDelete, organizer, nil) })
		if (made.Status == http.StatusCreated) == (deleted.Status == http.StatusNoContent) {
			t.Fatalf("the task is answered %d, the deletion of its organizer %d", made.Status, deleted.Status)
		}
		if made.Status != http.StatusCreated {
			continue
		}
		var task struct{ URL string }
		if err := json.Unmarshal(made.Body, &task); err != nil {
			t.Fatal(err)
		}
		p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, task.URL, nil)
		p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, organizer, nil)
	}
}

// One of the two requests is refused, and a dataset that could not be deleted takes submissions again.
func TestDeleteDataset_RacesWithNewSubmission(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	refused := 0
	for range 40 {
		submission := servertest.Image(servertest.ID(p.newDataset(nil)))
		made, deleted := concurrently(
			func() servertest.Answer { return p.Do("tom", http.MethodPost, p.task+"/submissions", submission) },
			func() servertest.Answer { return p.Do("olga", http.MethodDelete, p.dataset, nil) })
		if made.Status == http.StatusCreated && deleted.Status == http.StatusNoContent {
			t.Fatal("there is a submission to a dataset that is no more")
		}
		if deleted.Status == http.StatusNoContent {
			continue
		}
		refused++
		p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.dataset, nil)
		p.submit("tom", submission)
	}
	t.Logf("%d of 40 deletions were refused", refused)
}

// Submissions that were deleted, as a whole or run by run, keep no dataset.
func TestDeleteDataset_SucceedsWithoutRuns(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	submission := servertest.Image(servertest.ID(p.newDataset(nil)))
	whole, piecemeal := p.submit("tom", submission), p.submit("tom", submission)
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, p.task+"/submissions/"+whole.ID, nil)
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.dataset, nil)
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/runs/"+piecemeal.RunIDs[0], nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.dataset, nil)
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
