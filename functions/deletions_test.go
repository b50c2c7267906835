package functions_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"assay/shared/api/servertest"
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
