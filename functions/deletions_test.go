package functions_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"assay/functions"
	"assay/shared/api/servertest"
)

// meet sends two requests at once and returns their answers.
func meet(one, other func() servertest.Answer) (a, b servertest.Answer) {
	var wg sync.WaitGroup
	wg.Go(func() { a = one() })
	wg.Go(func() { b = other() })
	wg.Wait()
	return a, b
}

// TestDeleteOrganizer_RacesWithNewTask has tasks made while their organizer is deleted: one of the two is refused.
func TestDeleteOrganizer_RacesWithNewTask(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	for range 40 {
		organizer := s.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
		id := organizer[len("/v1/organizers/"):]
		made, deleted := meet(
			func() servertest.Answer {
				return s.Do("olga", http.MethodPost, "/v1/tasks", map[string]any{"organizerId": id, "name": "Task"})
			},
			func() servertest.Answer { return s.Do("olga", http.MethodDelete, organizer, nil) })
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
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, task.URL, nil)
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, organizer, nil)
	}
}

// TestDeleteDataset_RacesWithNewSubmission has submissions made while their dataset is deleted: one of the two is refused, and a dataset
// that could not be deleted takes submissions again.
func TestDeleteDataset_RacesWithNewSubmission(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	organizer := s.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	task := s.Create("olga", "/v1/tasks", map[string]any{"organizerId": organizer[len("/v1/organizers/"):], "name": "Task"})
	s.Create("tom", task+"/registrations", map[string]any{"team": "Heron"})
	refused := 0
	for range 40 {
		dataset := s.Create("olga", "/v1/datasets", newDatasetBody(task[len("/v1/tasks/"):]))
		submission := map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{dataset[len("/v1/datasets/"):]}}
		made, deleted := meet(
			func() servertest.Answer { return s.Do("tom", http.MethodPost, task+"/submissions", submission) },
			func() servertest.Answer { return s.Do("olga", http.MethodDelete, dataset, nil) })
		if made.Status == http.StatusCreated && deleted.Status == http.StatusNoContent {
			t.Fatal("there is a submission to a dataset that is no more")
		}
		if deleted.Status == http.StatusNoContent {
			continue
		}
		refused++
		s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, dataset, nil)
		s.Create("tom", task+"/submissions", submission)
	}
	t.Logf("%d of 40 deletions were refused", refused)
}

// TestDeleteDataset_SucceedsWithoutRuns: what was submitted, and taken back as a whole or run by run, is in no one's way.
func TestDeleteDataset_SucceedsWithoutRuns(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	organizer := s.Create("olga", "/v1/organizers", map[string]any{"name": "Lab"})
	task := s.Create("olga", "/v1/tasks", map[string]any{"organizerId": organizer[len("/v1/organizers/"):], "name": "Task"})
	s.Create("tom", task+"/registrations", map[string]any{"team": "Heron"})
	dataset := s.Create("olga", "/v1/datasets", newDatasetBody(task[len("/v1/tasks/"):]))
	submission := map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": []string{dataset[len("/v1/datasets/"):]}}
	whole := s.Create("tom", task+"/submissions", submission)
	var piecemeal struct{ RunIDs []string }
	s.Want(http.StatusOK, &piecemeal, "tom", http.MethodGet, s.Create("tom", task+"/submissions", submission), nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, whole, nil)
	s.Want(http.StatusConflict, nil, "olga", http.MethodDelete, dataset, nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/runs/"+piecemeal.RunIDs[0], nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, dataset, nil)
}
