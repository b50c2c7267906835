package functions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/deletion"
	"assay/shared/service/records"
	"assay/shared/storage/store"
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

// One of the two requests is refused. A dataset that could not be deleted takes submissions again.
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

// Deleted submissions and deleted runs do not prevent the deletion of their dataset.
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
	purgeTrash(p)
	if n := p.FileCount(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if me := servertest.Get[struct{ Registrations []any }](p.Server, "user1", "/v1/user"); len(me.Registrations) > 0 {
		t.Errorf("a registration for nothing: %v", me.Registrations)
	}
	id := servertest.ID(p.task)
	left, err := p.Store.Query(t.Context(), store.Query{Partition: record.TaskKey(id).Partition, Limit: 10, Consistency: store.Strong})
	if err != nil || len(left) > 0 {
		t.Errorf("%d items are left of the task: %v", len(left), err)
	}
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.organizer, nil)
}

// purgeTrash does the background worker's work on due entries of the trash.
func purgeTrash(p *platform) {
	p.t.Helper()
	later := func() time.Time { return p.Now().Add(record.TrashTime + time.Hour) }
	deleter := deletion.Deleter{Store: p.Store, Files: p.Files, Now: later}
	deletions := records.OfKind(record.KindDeletion, access.Owners, access.Organizers)
	err := records.Each(p.t.Context(), p.Store, 10, deletions, func(d *record.DeletionItem) error {
		for range 3 { // a task takes several passes
			if err := deleter.Continue(p.t.Context(), d.Key()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// deletionOf returns the entry of the trash for the deleted path, as the user sees it.
func deletionOf(p *platform, user, path string) (found record.Deletion) {
	p.t.Helper()
	var all struct{ Data []record.Deletion }
	p.Want(http.StatusOK, &all, user, http.MethodGet, "/v1/deletions", nil)
	i := slices.IndexFunc(all.Data, func(d record.Deletion) bool { return d.Subject == path })
	if i < 0 {
		p.t.Fatalf("%s is not among %+v", path, all.Data)
	}
	return all.Data[i]
}

// Teams see their deleted runs and submissions, and restore those that they deleted. Organizers restore everything in their tasks. Other
// callers do not see the entries.
func TestDeletions_AreUndone(t *testing.T) {
	p := newPlatform(t, nil)
	team := p.register("tom", nil)
	p.register("una", nil)
	own := p.submit("tom", servertest.Image(servertest.ID(p.newDataset(nil))))
	other := p.submit("tom", servertest.Image(servertest.ID(p.dataset)))
	run, sub := "/v1/runs/"+own.RunIDs[0], p.task+"/submissions/"+other.ID
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, run, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, sub, nil)
	p.Want(http.StatusNotFound, nil, "olga", http.MethodGet, run, nil)
	ofTom, ofOlga := deletionOf(p, "tom", run), deletionOf(p, "olga", sub)
	deletionOf(p, "olga", run)
	var seen struct{ Data []record.Deletion }
	p.Want(http.StatusOK, &seen, "tom", http.MethodGet, "/v1/deletions", nil)
	if len(seen.Data) != 2 || !seen.Data[0].ByOrganizers || seen.Data[0].Subject != sub || seen.Data[1].ByOrganizers ||
		slices.ContainsFunc(seen.Data, func(d record.Deletion) bool { return d.By != nil || d.RegistrationID != servertest.ID(team) }) {
		t.Errorf("tom sees %+v", seen.Data)
	}
	p.Want(http.StatusOK, &seen, "olga", http.MethodGet, "/v1/deletions?filter[kind]=submission&filter[taskId]="+servertest.ID(p.task), nil)
	if len(seen.Data) != 1 || seen.Data[0].ID != ofOlga.ID || seen.Data[0].By == nil || seen.Data[0].By.Name != "olga" {
		t.Errorf("olga sees %+v", seen.Data)
	}
	p.Want(http.StatusNoContent, nil, "una", http.MethodGet, "/v1/deletions", nil)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		for _, entry := range []string{ofTom.ID, ofOlga.ID} {
			p.Want(http.StatusNotFound, nil, "una", method, "/v1/deletions/"+entry, nil)
			p.Want(http.StatusNotFound, nil, "", method, "/v1/deletions/"+entry, nil)
		}
	}
	p.Want(http.StatusOK, nil, "tom", http.MethodGet, "/v1/deletions/"+ofOlga.ID, nil)
	p.Want(http.StatusForbidden, nil, "tom", http.MethodDelete, "/v1/deletions/"+ofOlga.ID, nil)
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/deletions/"+ofTom.ID, nil)
	p.Want(http.StatusNotFound, nil, "tom", http.MethodDelete, "/v1/deletions/"+ofTom.ID, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/deletions/"+ofOlga.ID, nil)
	p.Want(http.StatusOK, nil, "tom", http.MethodGet, run, nil)
	p.Want(http.StatusOK, nil, "tom", http.MethodGet, sub, nil)
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.dataset, nil)
}

// Deleting a task with its submissions requires its name. Restoring the task brings back all of them and the grants of its
// registrants.
func TestDeleteTask_WithSubmissions(t *testing.T) {
	p := newPlatform(t, nil)
	p.register("tom", nil)
	made := p.submit("tom", servertest.Image(servertest.ID(p.newDataset(nil))))
	name := servertest.Get[record.Task](p.Server, "olga", p.task).Name
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.task, nil)
	p.Want(http.StatusBadRequest, nil, "olga", http.MethodDelete, p.task+"?with=all", nil)
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.task+"?with=submissions&name=another", nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.task+"?with=submissions&name="+url.QueryEscape(name), nil)
	paths := []string{p.task, p.dataset, p.task + "/submissions/" + made.ID, "/v1/runs/" + made.RunIDs[0]}
	for _, path := range paths {
		p.Want(http.StatusNotFound, nil, "tom", http.MethodGet, path, nil)
	}
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/deletions/"+deletionOf(p, "olga", p.task).ID, nil)
	for _, path := range paths {
		p.Want(http.StatusOK, nil, "tom", http.MethodGet, path, nil)
	}
	p.submit("tom", servertest.Image(servertest.ID(p.dataset)))
}
