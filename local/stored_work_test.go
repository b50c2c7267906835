package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/store"
)

// What the work that a build leaves is about, by name.
const (
	leftOwner, leftUser     = "left-owner", "left-user"
	leftTask, leftDataset   = "Left to do", "with a changed truth"
	leftTruth, leftQrels    = "with a truth to come", "1 0 a 1\n"
	leftRun, leftRunContent = "to-come.run", "1 Q0 b 1 2.5 tag\n1 Q0 a 2 1.5 tag\n"
)

// leaveWork leaves work of every kind that goes on by itself: runs that wait for files, for workers and for a changed truth,
// a truth that is to come, and changes of a task, a registration and a deletion that others have to follow.
func (s *running) leaveWork(t *testing.T) {
	t.Helper()
	owner, user := s.token(t, leftOwner), s.token(t, leftUser)
	post := func(token, path string, body any) map[string]any {
		return s.object(t, token, http.MethodPost, path, body)
	}
	of := func(created map[string]any) string { return created["id"].(string) }
	organizer := of(post(owner, "/v1/organizers", map[string]any{"name": "Left Lab"}))
	task := "/v1/tasks/" + of(post(owner, "/v1/tasks", map[string]any{"organizerId": organizer, "name": leftTask}))
	deleted := "/v1/tasks/" + of(post(owner, "/v1/tasks", map[string]any{"organizerId": organizer, "name": "Deleted"}))
	dataset := func(name string, truth map[string]any) string {
		return of(post(owner, "/v1/datasets", map[string]any{
			"taskId": id(task), "name": name, "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
			"truths": []any{truth}, "evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
		}))
	}
	changed := dataset(leftDataset, inline("qrels", "1 0 b 1\n"))
	dataset(leftTruth, toCome("qrels", leftQrels))
	registration := of(post(user, task+"/registrations", map[string]any{"team": "Left Team"}))
	submit := func(body map[string]any) { post(user, task+"/submissions", body) }
	on := func(file map[string]any) map[string]any {
		file["datasetId"] = changed
		return map[string]any{"type": "upload", "files": []any{file}}
	}
	submit(on(inline("there.run", leftRunContent)))
	submit(on(toCome(leftRun, leftRunContent)))
	submit(map[string]any{"type": "image", "image": "ranker", "command": "rank", "datasetIds": []string{changed}})
	s.await(t, "the first run is evaluated", func() bool { return s.runs(t)["there.run"]["state"] == string(record.Completed) })
	s.object(t, owner, http.MethodPatch, "/v1/datasets/"+changed, map[string]any{"truths": []any{inline("qrels", leftQrels)}})
	s.object(t, user, http.MethodPatch, task+"/registrations/"+registration, map[string]any{"anonymous": true})
	s.object(t, owner, http.MethodPatch, task, map[string]any{"visibility": "private"})
	s.object(t, owner, http.MethodDelete, deleted, nil)
}

// endWork does what the work that leaveWork left waits for, and sees it end.
func (s *running) endWork(t *testing.T) {
	t.Helper()
	s.await(t, "nothing is due", func() bool {
		due, err := s.program.table.Query(t.Context(), store.Query{
			Index: record.ByWork, Partition: record.DuePartition, To: record.DueBy(s.program.now()), Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return len(due) == 0
	})
	runs, owner := s.runs(t), s.token(t, leftOwner)
	upload := func(file any, content string) {
		link := file.(map[string]any)["upload"].(map[string]any)["url"].(string)
		s.call(t, "", http.MethodPut, link, []byte(content), nil)
	}
	upload(runs[leftRun]["files"].([]any)[0], leftRunContent)
	for _, dataset := range s.object(t, owner, http.MethodGet, "/v1/datasets", nil)["data"].([]any) {
		if d := dataset.(map[string]any); d["name"] == leftTruth {
			d = s.object(t, owner, http.MethodGet, "/v1/datasets/"+d["id"].(string), nil)
			upload(d["truths"].([]any)[0], leftQrels)
		}
	}
	s.await(t, "every run with files is evaluated with the changed truth", func() bool {
		runs = s.runs(t)
		for _, name := range []string{"there.run", leftRun} {
			evaluation, ok := runs[name]["evaluationId"].(string)
			if !ok {
				return false
			}
			e := s.object(t, s.token(t, leftUser), http.MethodGet, "/v1/evaluations/"+evaluation, nil)
			if ap := e["measures"].(map[string]any)["AP"]; ap != 0.5 {
				return false
			}
		}
		return true
	})
	if state := runs[""]["state"]; state != string(record.Queued) {
		t.Errorf("the run that waits for a worker is %v", state)
	}
	if a := s.send(t, "", http.MethodGet, "/v1/runs/"+runs[leftRun]["id"].(string), nil); a.status != http.StatusNotFound {
		t.Errorf("a run of a task that has become private is answered with %d", a.status)
	}
}

// runs are the runs of the user who has left work, by the name of their first file; the one without files is under "".
func (s *running) runs(t *testing.T) map[string]map[string]any {
	t.Helper()
	user := s.token(t, leftUser)
	found := map[string]map[string]any{}
	me := s.object(t, user, http.MethodGet, "/v1/user", nil)["id"].(string)
	for _, listed := range s.object(t, user, http.MethodGet, "/v1/runs?filter[userId]="+me, nil)["data"].([]any) {
		run := s.object(t, user, http.MethodGet, "/v1/runs/"+listed.(map[string]any)["id"].(string), nil)
		name := ""
		if files, _ := run["files"].([]any); len(files) > 0 {
			name, _ = files[0].(map[string]any)["name"].(string)
		}
		found[name] = run
	}
	return found
}

// await waits until what it names is so.
func (s *running) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it is not so that %s", what)
		}
	}
}

// toCome is a file of a request whose content is uploaded afterwards.
func toCome(name, content string) map[string]any {
	sum := sha256.Sum256([]byte(content))
	return map[string]any{"name": name, "mediaType": "text/plain", "size": len(content), "sha256": hex.EncodeToString(sum[:])}
}
