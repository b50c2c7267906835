//go:build soak

package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// soakAP is the average precision of a run by the rank of the only relevant document, from 0. A second relevant document, which no run
// has, halves it.
var soakAP = []float64{1, 1. / 2, 1. / 3}

// soakTask is the acknowledged state of a task.
type soakTask struct {
	path, dataset, registration string
	team, description           string
	staleTag                    string // an outdated entity tag
	relevant                    []int  // number of relevant documents by version of the ground truth; version 1 is at index 0
	submissions                 []*soakSubmission
}

// soakSubmission is the acknowledged state of a submission.
type soakSubmission struct {
	path, run, content string
	ap                 float64
	public, published  bool
	deletion           string // path of its entry in the trash; empty if it is not deleted
	version            int64  // of the ground truth that its run is evaluated against at least
}

// version returns the acknowledged version of the ground truth.
func (k *soakTask) version() int64 { return int64(len(k.relevant)) }

// truth returns the file of the ground truth.
func (k *soakTask) truth() map[string]any {
	return inline("qrels", fmt.Sprintf("1 0 a 1\n1 0 b %d\n", k.relevant[len(k.relevant)-1]-1))
}

// value returns the average precision of a submission by a version of the ground truth.
func (k *soakTask) value(of *soakSubmission, version int64) float64 {
	return of.ap / float64(k.relevant[version-1])
}

// pick returns a random submission, mostly a recent one, or nil if there is none.
func (k *soakTask) pick(random *rand.Rand) *soakSubmission {
	from := 0
	if random.IntN(4) > 0 {
		from = max(0, len(k.submissions)-20)
	}
	if len(k.submissions) == 0 {
		return nil
	}
	return k.submissions[from+random.IntN(len(k.submissions)-from)]
}

// latest returns the last submission with the content. Only repetitions of a submission have its content.
func (k *soakTask) latest(content string) *soakSubmission {
	for _, of := range slices.Backward(k.submissions) {
		if of.content == content {
			return of
		}
	}
	return nil
}

// draft returns the body of the request that makes the submission.
func (of *soakSubmission) draft(dataset string) map[string]any {
	file := inline("run.txt", of.content)
	file["datasetId"] = dataset
	return map[string]any{"type": "upload", "files": []any{file},
		"visibility": map[bool]record.Visibility{true: record.Public, false: record.Private}[of.public]}
}

// deleted counts the submissions in the trash.
func (k *soakTask) deleted() (n int) {
	for _, of := range k.submissions {
		if of.deletion != "" {
			n++
		}
	}
	return n
}

// tagged is a task in an answer, with its entity tag.
type tagged struct {
	record.Task
	tag string
}

// readTask reads the task, which must have its acknowledged state.
func (c *soakClient) readTask(task *soakTask) (shown tagged) {
	a, _ := c.do(c.organizer, http.MethodGet, task.path, nil, nil)
	if c.want(http.StatusOK, http.MethodGet, task.path, a) && c.decode(a, &shown.Task) {
		shown.tag = a.header.Get("ETag")
		if shown.Description != task.description {
			c.t.Errorf("%s has the description %q, and %q was acknowledged", task.path, shown.Description, task.description)
		}
	}
	return shown
}

// read reads a random resource, which must have its acknowledged state.
func (c *soakClient) read(task *soakTask) {
	of := task.pick(c.random)
	switch n := c.random.IntN(6); {
	case n == 0 || of == nil:
		c.readTask(task)
	case n == 1:
		c.readList("", "/v1/tasks?limit=50")
	case n == 2:
		c.readList(c.team, task.path+"/submissions")
	case n == 3:
		c.readBoard(task)
	case of.deletion != "":
		a, _ := c.do(c.team, http.MethodGet, of.path, nil, nil)
		c.want(http.StatusNotFound, http.MethodGet, of.path, a)
	default:
		c.readRun(task, of)
	}
}

func (c *soakClient) readBoard(task *soakTask) {
	c.readList("", task.path+"/evaluations?sort=rank&filter[datasetId]="+task.dataset)
}

func (c *soakClient) readList(token, path string) {
	if a, _ := c.do(token, http.MethodGet, path, nil, nil); a.status != http.StatusNoContent {
		c.want(http.StatusOK, http.MethodGet, path, a)
	}
}

// readRun reads a run as its team and as an anonymous caller, and checks the value of a completed run.
func (c *soakClient) readRun(task *soakTask, of *soakSubmission) {
	path := "/v1/runs/" + of.run
	hidden, _ := c.do("", http.MethodGet, path, nil, nil)
	c.want(map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[of.public], http.MethodGet, path, hidden)
	a, _ := c.do(c.team, http.MethodGet, path, nil, nil)
	var r record.Run
	if !c.want(http.StatusOK, http.MethodGet, path, a) || !c.decode(a, &r) || r.EvaluationID == "" {
		return
	}
	path = "/v1/evaluations/" + r.EvaluationID
	var e record.Evaluation
	a, _ = c.do(c.team, http.MethodGet, path, nil, nil)
	if c.want(http.StatusOK, http.MethodGet, path, a) && c.decode(a, &e) {
		task.checkValue(c.t, of, e)
	}
}

// checkValue checks the value of an evaluation against the version of the ground truth that it names.
func (k *soakTask) checkValue(t testing.TB, of *soakSubmission, e record.Evaluation) {
	t.Helper()
	if e.TruthVersion < 1 || e.TruthVersion > k.version() {
		t.Errorf("the evaluation %s of run %s has version %d of the ground truth, and %d was acknowledged", e.ID, of.run, e.TruthVersion,
			k.version())
		return
	}
	of.version = max(of.version, e.TruthVersion)
	want := k.value(of, e.TruthVersion)
	if v := e.Measures["AP"]; v == nil || math.Abs(*v-want) > 1e-9 {
		t.Errorf("the evaluation %s of run %s by version %d has %v, and should be %v", e.ID, of.run, e.TruthVersion, e.Measures, want)
	}
}

// verify compares the whole state with the model. Both must have the same resources.
func (s *soak) verify() {
	s.t.Helper()
	s.settle()
	began, interrupted := time.Now(), 0
	tasks := map[string]bool{}
	for _, listed := range allOf[record.Task](s.t, s.server.server(), "", "/v1/tasks?limit=200") {
		tasks["/v1/tasks/"+listed.ID] = true
	}
	for _, c := range s.clients {
		for _, task := range c.tasks {
			if !tasks[task.path] {
				s.t.Errorf("%s was acknowledged and is in no list", task.path)
			}
			delete(tasks, task.path)
			c.readTask(task)
			interrupted += c.verifyTask(task)
		}
	}
	if len(tasks) > 0 {
		s.t.Errorf("there are tasks that nobody was told of: %v", slices.Collect(maps.Keys(tasks)))
	}
	s.t.Logf("the whole state was compared in %v; %d runs failed because a fault interrupted each attempt",
		time.Since(began).Round(time.Millisecond), interrupted)
}

// soakState is the visible state of the submissions of a task, by path or by the id of the run.
type soakState map[string]string

// verifyTask compares a task with the model, and returns the number of runs that failed because all of their attempts were interrupted.
func (c *soakClient) verifyTask(task *soakTask) (interrupted int) {
	s, t := c.server.server(), c.t
	var runs []record.Run
	differ := "at first"
	// Wait until all changes are propagated, and all runs are evaluated against the newest ground truth. The background worker continues
	// what an interrupted request made pending only after RequestTime.
	deadline := time.Now().Add(record.RequestTime + soakPatience)
	for ; differ != ""; time.Sleep(50 * time.Millisecond) {
		runs = allOf[record.Run](t, s, c.organizer, "/v1/runs?limit=200&filter[taskId]="+id(task.path))
		want := task.state(runs)
		got := soakState{}
		for _, sub := range allOf[record.Submission](t, s, c.organizer, task.path+"/submissions?limit=200") {
			got[task.path+"/submissions/"+sub.ID] += fmt.Sprint("by ", sub.Team, " ", sub.Visibility)
		}
		for _, r := range runs {
			got[r.ID] += string(r.State)
		}
		for _, e := range allOf[record.Evaluation](t, s, c.organizer, task.path+"/evaluations?limit=200") {
			got[e.RunID] += fmt.Sprintf(" %.4f by version %d", *e.Measures["AP"], e.TruthVersion)
		}
		for _, e := range allOf[record.Evaluation](t, s, "", task.path+"/evaluations?limit=200") {
			got[e.RunID] += " published"
		}
		for _, d := range allOf[record.Deletion](t, s, c.organizer, "/v1/deletions?limit=200&filter[taskId]="+id(task.path)) {
			got[d.Subject] += "in the trash"
		}
		differ = want.difference(got)
		if time.Now().After(deadline) && differ != "" {
			t.Errorf("%s is not as it was acknowledged: %s", task.path, differ)
			return 0
		}
	}
	for _, r := range runs {
		if r.State == record.Failed {
			interrupted++
			if !strings.Contains(fmt.Sprint(r.Diagnostics), "no attempt came to an end") {
				t.Errorf("run %s failed: %v", r.ID, r.Diagnostics)
			}
		}
	}
	c.verifyFiles(task)
	return interrupted
}

// state returns the expected state of the task. The runs say whether a run was completed or interrupted too often.
func (k *soakTask) state(runs []record.Run) soakState {
	ended := map[string]record.RunState{}
	for _, r := range runs {
		ended[r.ID] = r.State
	}
	want := soakState{}
	for _, of := range k.submissions {
		if of.deletion != "" {
			want[of.path] = "in the trash"
			continue
		}
		want[of.path] = fmt.Sprint("by ", k.team, " ", map[bool]record.Visibility{true: record.Public, false: record.Private}[of.public])
		want[of.run] = fmt.Sprintf("%s %.4f by version %d", record.Completed, k.value(of, k.version()), k.version())
		if of.published {
			want[of.run] += " published"
		}
		if ended[of.run] == record.Failed {
			want[of.run] = string(record.Failed)
		}
	}
	return want
}

// difference describes a difference, or returns an empty string.
func (want soakState) difference(got soakState) string {
	for name := range want {
		if got[name] != want[name] {
			return fmt.Sprintf("%s is %q, want %q", name, got[name], want[name])
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			return fmt.Sprintf("%s is %q, and nobody was told of it", name, got[name])
		}
	}
	return ""
}

// verifyFiles downloads the files of some of the runs.
func (c *soakClient) verifyFiles(task *soakTask) {
	for i, of := range task.submissions {
		if i%(1+len(task.submissions)/50) != 0 || of.deletion != "" {
			continue
		}
		var r record.Run
		s := c.server.server()
		s.get(c.t, c.team, "/v1/runs/"+of.run, &r)
		if got := s.send(c.t, "", http.MethodGet, r.Files[0].URL, nil); string(got.body) != of.content {
			c.t.Errorf("the file of run %s has status %d, and is %q instead of %q", of.run, got.status, got.body, of.content)
		}
	}
}
