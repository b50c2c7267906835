package submissions_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// counting is a store that counts its calls.
type counting struct {
	store.Store
	gets, writes atomic.Int64
	most         int64 // if not 0, further writes fail
}

func (c *counting) Get(ctx context.Context, consistency store.Consistency, keys ...store.Key) ([]store.Item, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, consistency, keys...)
}

func (c *counting) Write(ctx context.Context, writes ...store.Write) error {
	if n := c.writes.Add(1); c.most > 0 && n > c.most {
		return store.ErrUnavailable
	}
	return c.Store.Write(ctx, writes...)
}

// evaluated gives the run n evaluations. The last is the newest.
func (f *fixture) evaluated(runID string, n int) *record.RunItem {
	f.t.Helper()
	r := f.run(runID)
	for i := range n {
		e := &record.EvaluationItem{Access: r.Access, Unlisted: i < n-1}
		e.Meta = record.NewMeta(f.Now())
		e.RunID = r.ID
		e.SubmissionID = r.SubmissionID
		e.TaskID = r.TaskID
		e.DatasetID = r.DatasetID
		e.UserID = r.UserID
		e.TruthVersion = int64(i + 1)
		f.Records().Put(e, &record.Topics{Meta: e.Meta})
		r.Evaluations, r.EvaluationID = append(r.Evaluations, e.ID), e.ID
	}
	r.State = record.Completed
	f.Records().Replace(r)
	return r
}

func (f *fixture) evaluation(id string) *record.EvaluationItem {
	f.t.Helper()
	return recordtest.Get[record.EvaluationItem](f.t, f.Store, record.EvaluationKey(id))
}

func TestChange_PropagatesInOneTransaction(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked), inline(s.dataset(), "run.txt", ranked)))
	path := s.path + "/" + made.ID
	for _, id := range made.RunIDs {
		s.evaluated(id, 1)
	}
	held := s.evaluated(made.RunIDs[1], 1) // Leaderboards do not show results against this truth yet.
	held.Held, held.Listed = true, held.Evaluations[0]
	s.Records().Replace(held)
	s.Want(http.StatusOK, nil, "ada", http.MethodPatch, path, object{"visibility": "public"})
	count := &counting{Store: s.Store}
	s.Store = count
	var v record.Submission
	s.Want(http.StatusOK, &v, "olga", http.MethodPatch, path, object{"baseline": true})
	if n := count.writes.Load(); n != 1 || !v.Baseline || v.Visibility != record.Public {
		t.Errorf("%+v after %d transactions", v, n)
	}
	for _, id := range made.RunIDs {
		r := s.run(id)
		for _, id := range r.Evaluations {
			e := s.evaluation(id)
			if !r.Access.Public || !r.Access.Baseline || !e.Access.Public || !e.Access.Baseline || !e.Baseline {
				t.Errorf("%+v\n%+v", r.Access, e)
			}
		}
	}
	s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil)
	s.Want(http.StatusOK, nil, "ada", http.MethodPatch, path, object{"visibility": "private"})
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, path, nil)
}

func TestChange_PropagatesToSupersededEvaluations(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked)))
	r := s.evaluated(made.RunIDs[0], 3)
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, s.path+"/"+made.ID, object{"baseline": true})
	for _, id := range r.Evaluations {
		if e := s.evaluation(id); !e.Baseline || !e.Access.Baseline {
			t.Errorf("%+v", e)
		}
	}
}

func TestChange_RefusesOtherMembers(t *testing.T) {
	s := serve(t)
	path := s.path + "/" + s.submit(upload(inline(s.dataset(), "run.txt", ranked))).ID
	for member, value := range map[string]any{
		"datasetIds": []string{}, "files": []object{}, "type": "image", "userId": recordtest.UserID("bob"), "runIds": []string{},
		"baseline":   true,
		"visibility": "secret", "paperUrl": "ftp://example.org", "title": "two\nlines", "description": strings.Repeat("é", 64<<10),
		"unknown": 1, "notes": "a\x00b",
	} {
		a := s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path, object{member: value})
		if !strings.Contains(string(a.Body), `"/`+member+`"`) {
			t.Errorf("%s: %s", member, a.Body)
		}
	}
	s.Want(http.StatusNotFound, nil, "bob", http.MethodPatch, path, object{"title": "mine"})
	var v record.Submission
	s.Want(http.StatusOK, &v, "ada", http.MethodPatch, path, object{"title": "Ours", "paperUrl": "https://example.org/paper"})
	if v.Title != "Ours" || v.PaperURL == "" || len(v.Files) != 1 || v.Version != 2 {
		t.Errorf("%+v", v)
	}
}

func TestRemove_LeavesNothing(t *testing.T) {
	for _, versions := range []int{0, 1, record.MaxEvaluations} { // MaxEvaluations needs several transactions.
		s := serve(t, func(t *record.TaskItem) { t.Submissions.Total = 4 })
		made := s.submit(upload(inline(s.dataset(), "run.txt", ranked), inline(s.dataset(), "run.txt", ranked),
			announced(s.dataset(), "run.txt", ranked)))
		var gone []store.Key
		for _, id := range made.RunIDs[:2] {
			for _, e := range s.evaluated(id, versions).Evaluations {
				gone = append(gone, record.EvaluationKey(e), record.TopicsKey(e))
			}
		}
		for _, id := range made.RunIDs {
			gone = append(gone, record.RunKey(id), record.ReviewKey(id))
		}
		path := s.path + "/" + made.ID
		s.Want(http.StatusNotFound, nil, "bob", http.MethodDelete, path, nil)
		s.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, path, nil)
		for _, key := range append(gone, record.SubmissionKey(made.ID)) {
			if items, err := s.Store.Get(t.Context(), store.Strong, key); err != nil || items[0].Exists() {
				t.Errorf("%v is still there, %v", key, err)
			}
		}
		if n := s.FileCount(); n == 0 {
			t.Error("the files are gone while it can be restored")
		}
		if a := s.allowance(); a.Total != 3 || a.Submissions != 0 {
			t.Errorf("%+v, want the quota used and no submission", a)
		}
		s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, path, nil)
	}
}

// Deleting a submission removes everything from lists at once, even if the process ends before the rest is deleted.
func TestRemove_DeletesWhatListsHaveAtOnce(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked), inline(s.dataset(), "run.txt", ranked)))
	var listed []string
	for _, id := range made.RunIDs {
		r := s.evaluated(id, record.MaxEvaluations)
		r.Held, r.Listed = true, r.Evaluations[len(r.Evaluations)-2]
		s.Records().Replace(r)
		listed = append(listed, r.Listed, r.EvaluationID)
	}
	s.Store = &counting{Store: s.Store, most: 1}
	s.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, s.path+"/"+made.ID, nil)
	for _, id := range listed {
		if items, err := s.Store.Get(t.Context(), store.Strong, record.EvaluationKey(id)); err != nil || items[0].Exists() {
			t.Errorf("%s is still there, %v", id, err)
		}
	}
}

func TestRemove_OfPublishedIsForOrganizersAlone(t *testing.T) {
	s := serve(t)
	made := s.submit(upload(inline(s.dataset(), "run.txt", ranked)))
	path := s.path + "/" + made.ID
	r := s.run(made.RunIDs[0])
	r.Access.Published = true
	s.Records().Replace(r)
	s.Want(http.StatusConflict, nil, "ada", http.MethodDelete, path, nil)
	s.Want(http.StatusOK, nil, "ada", http.MethodGet, path, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
	if n := len(recordtest.AuditEntries(t, s.Store, s.task.OrganizerID)); n != 2 {
		t.Errorf("%d audit entries, want those of the creation and the deletion", n)
	}
}

// Notes belong to the team: other callers never see, write or erase them, even if the submission is public.
func TestNotes_AreOnlyForTheTeam(t *testing.T) {
	s := serve(t)
	s.task.Register("mia", recordtest.With("max"))
	body := upload(inline(s.dataset(), "run.txt", ranked))
	body["visibility"], body["notes"] = "public", "first *secret*"
	var made record.Submission
	s.Want(http.StatusCreated, &made, "mia", http.MethodPost, s.path, body)
	path := s.path + "/" + made.ID
	s.Want(http.StatusOK, &made, "max", http.MethodPatch, path, object{"notes": "a secret"})
	for _, user := range []string{"", "ada", "olga", "root", "nobody"} {
		for _, address := range []string{path, s.path} {
			if a := s.Want(http.StatusOK, nil, user, http.MethodGet, address, nil); strings.Contains(string(a.Body), "secret") {
				t.Errorf("%s reads at %s: %s", user, address, a.Body)
			}
		}
	}
	a := s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, object{"notes": "mine"})
	if !strings.Contains(string(a.Body), `"/notes"`) {
		t.Errorf("%s", a.Body)
	}
	a = s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, object{"title": "Named", "baseline": true})
	for _, e := range recordtest.AuditEntries(t, s.Store, s.task.OrganizerID) {
		if b, _ := json.Marshal(e); strings.Contains(string(b)+string(a.Body), "secret") {
			t.Errorf("organizers read %s, %s", b, a.Body)
		}
	}
	for _, user := range []string{"mia", "max"} {
		if v := servertest.Get[record.Submission](s.Server, user, path); v.Notes != "a secret" || v.Title != "Named" {
			t.Errorf("%s reads %+v", user, v)
		}
	}
}
