//go:build soak

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/language/problem"

	"golang.org/x/time/rate"
)

// soak is a server under load and faults.
type soak struct {
	t       *testing.T
	server  *serverProcess
	issuer  *issuertest.Issuer
	objects *soakObjects
	ops     string // address of the metrics
	random  *rand.Rand
	clients []*soakClient
	faults  []soakFault
	applied map[string]int
	span    time.Duration // duration of a fault and of the pause after it

	limit       *rate.Limiter
	pause       sync.RWMutex // each request holds it for reading
	done, asked atomic.Int64 // number of answered requests, and of repeated requests
}

// Values of flags for quotas and rates without limits.
const (
	soakQuotas = `{"user":{"perDay":` + soakNone + `},"server":{"perDay":` + soakNone + `}}`
	soakNone   = `{"organizers":0,"tasks":0,"datasets":0,"registrations":0,"runs":0,"auditEntries":0}`
	soakRates  = `{"write":{"perSecond":0},"tool":{"perSecond":0},"upload":{"perSecond":0},"waitingRuns":0}`
)

// soakClient is an organizer with tasks, and a team in each task. It sends one request after the other, and records all acknowledged
// changes, so that it knows the right answer to every request.
type soakClient struct {
	*soak
	name            string
	http            *http.Client
	random          *rand.Rand
	organizer, team string // tokens
	lab             string
	tasks           []*soakTask
	keys            int
	kinds           map[string]int // number of acknowledged changes by kind
}

func newSoakClient(s *soak, n int) *soakClient {
	s.t.Helper()
	c := &soakClient{soak: s, name: fmt.Sprint("client-", n), random: rand.New(rand.NewPCG(s.random.Uint64(), uint64(n))),
		http: &http.Client{Transport: &http.Transport{}, Timeout: soakPatience}, kinds: map[string]int{}}
	for user, token := range map[string]*string{"organizer": &c.organizer, "team": &c.team} {
		var err error
		if *token, err = s.issuer.Token(devissuer.User{User: c.name + "-" + user}); err != nil {
			s.t.Fatal(err)
		}
	}
	c.lab = c.create(c.organizer, "/v1/organizers", map[string]any{"name": c.name})
	c.addTask()
	return c
}

// run sends requests as fast as the load allows, until the context ends.
func (c *soakClient) run(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	for c.limit.Wait(ctx) == nil {
		c.pause.RLock()
		if ctx.Err() == nil && !c.t.Failed() {
			c.act()
		}
		c.pause.RUnlock()
	}
}

// act sends a random request. Seven of ten requests read.
func (c *soakClient) act() {
	task := c.tasks[c.random.IntN(len(c.tasks))]
	switch n := c.random.IntN(100); {
	case n < 12:
		c.submit(task)
	case n < 14:
		c.repeat(task)
	case n < 20:
		c.describe(task)
	case n < 27:
		c.review(task)
	case n < 30:
		c.deleteOrRestore(task)
	case n == 30 && len(c.tasks) < maxSoakTasks:
		c.addTask()
	case n == 31:
		c.changeTruth(task)
	default:
		c.read(task)
	}
}

// maxSoakTasks is the number of tasks of a client.
const maxSoakTasks = 20

// try sends a request once. Its status is 0 without an answer. The client does not wait for the answers of some requests that can be
// repeated.
func (c *soakClient) try(token, method, path string, body any, header map[string]string) answer {
	r := request(c.t, method, c.server.url+path, body)
	if len(header) > 0 && c.random.IntN(10) == 0 {
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(c.random.IntN(30_000))*time.Microsecond)
		defer cancel()
		r = r.WithContext(ctx)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{}
	}
	content, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return answer{}
	}
	return answer{resp.StatusCode, resp.Header, content}
}

// do sends a request until it gets a final answer. It repeats the request without an answer, and while the server is unavailable. Then
// again is true, and an earlier attempt may have succeeded.
func (c *soakClient) do(token, method, path string, body any, header map[string]string) (a answer, again bool) {
	deadline := time.Now().Add(soakPatience + c.span)
	for {
		a = c.try(token, method, path, body, header)
		switch a.status {
		case 0, http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		default:
			if !bytes.Contains(a.body, []byte(problem.UnderWay.Slug)) { // net/http repeats requests with a key by itself.
				c.done.Add(1)
				return a, again
			}
		}
		if time.Now().After(deadline) {
			c.t.Errorf("%s %s is refused long after the last fault: status %d\n%s", method, path, a.status, a.body)
			return a, again
		}
		again = true
		c.asked.Add(1)
		time.Sleep(20 * time.Millisecond)
	}
}

// want reports whether the answer has the status, and fails the test otherwise.
func (c *soakClient) want(status int, method, path string, a answer) bool {
	if a.status == status {
		return true
	}
	c.t.Errorf("%s: %s %s is answered with status %d, want %d\n%s", c.name, method, path, a.status, status, a.body)
	return false
}

// create creates a resource exactly once, although it may repeat the request, and returns its path.
func (c *soakClient) create(token, path string, body map[string]any) string {
	location, _ := c.createFor(token, path, body, nil)
	return location
}

// createFor is like create, and decodes the answer into v. It reports whether the resource was created.
func (c *soakClient) createFor(token, path string, body map[string]any, v any) (location string, made bool) {
	c.keys++
	a, _ := c.do(token, http.MethodPost, path, body, map[string]string{"Idempotency-Key": fmt.Sprint(c.name, "-", c.keys)})
	if !c.want(http.StatusCreated, http.MethodPost, path, a) {
		return "", false
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			c.t.Error(path, err)
			return "", false
		}
	}
	return a.header.Get("Location"), true
}

// addTask makes a task with a dataset and a team.
func (c *soakClient) addTask() {
	task := &soakTask{team: c.name, relevant: []int{1}}
	task.path = c.create(c.organizer, "/v1/tasks", map[string]any{"organizerId": id(c.lab), "name": "Soak"})
	dataset := c.create(c.organizer, "/v1/datasets", map[string]any{
		"taskId": id(task.path), "name": "Soak", "split": "training", "runFormat": map[string]any{"kind": "trec-run"},
		"truths": []any{task.truth()}, "evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	})
	task.registration = c.create(c.team, task.path+"/registrations", map[string]any{"team": c.name})
	task.dataset = id(dataset)
	if task.registration != "" {
		c.tasks = append(c.tasks, task)
		c.kinds["task"]++
	}
}

// submit submits a run with a known average precision.
func (c *soakClient) submit(task *soakTask) {
	rank := c.random.IntN(len(soakAP))
	made := &soakSubmission{ap: soakAP[rank], public: c.random.IntN(2) == 0, version: task.version()}
	for n := range soakAP {
		document := fmt.Sprint("x", n)
		if n == rank {
			document = "a"
		}
		made.content += fmt.Sprintf("1 Q0 %s %d %d %s-%d\n", document, n+1, 9-n, c.name, c.keys)
	}
	var shown record.Submission
	path, ok := c.createFor(c.team, task.path+"/submissions", made.draft(task.dataset), &shown)
	if ok {
		made.path, made.run = path, shown.RunIDs[0]
		task.submissions = append(task.submissions, made)
		c.kinds["submission"]++
	}
}

// repeat submits a draft again. The answer must be a submission with its content, unless all are deleted, or their runs have failed or
// possibly wait to be evaluated again.
func (c *soakClient) repeat(task *soakTask) {
	of := task.pick(c.random)
	if of == nil {
		return
	}
	of = task.latest(of.content)
	path := task.path + "/submissions"
	c.keys++
	a, _ := c.do(c.team, http.MethodPost, path, of.draft(task.dataset), map[string]string{"Idempotency-Key": fmt.Sprint(c.name, "-", c.keys)})
	location := a.header.Get("Location")
	stands := of.deletion == "" && of.version == task.version()
	var shown record.Submission
	switch {
	case a.status == http.StatusOK || stands && !(a.status == http.StatusCreated && c.hasFailed(of)):
		isEqual := func(other *soakSubmission) bool {
			return other.path == location && other.content == of.content && other.deletion == ""
		}
		if c.want(http.StatusOK, http.MethodPost, path, a) && !slices.ContainsFunc(task.submissions, isEqual) {
			c.t.Errorf("the repetition of %s is answered with %s", of.path, location)
		}
		c.kinds["repetition"]++
	case c.want(http.StatusCreated, http.MethodPost, path, a) && c.decode(a, &shown):
		task.submissions = append(task.submissions, &soakSubmission{path: location, run: shown.RunIDs[0], content: of.content, ap: of.ap,
			public: of.public, version: task.version()})
		c.kinds["submission"]++
	}
}

// hasFailed reports whether the run of a submission has failed.
func (c *soakClient) hasFailed(of *soakSubmission) bool {
	path := "/v1/runs/" + of.run
	a, _ := c.do(c.team, http.MethodGet, path, nil, nil)
	var r record.Run
	return c.want(http.StatusOK, http.MethodGet, path, a) && c.decode(a, &r) && r.State == record.Failed
}

// describe changes the description of the task on the condition of its entity tag. Sometimes it uses an outdated tag, which must be
// refused.
func (c *soakClient) describe(task *soakTask) {
	shown := c.readTask(task)
	c.keys++
	text := fmt.Sprint("Change ", c.keys)
	tag, stale := shown.tag, task.staleTag
	if stale != "" && stale != tag && c.random.IntN(4) == 0 {
		a, _ := c.do(c.organizer, http.MethodPatch, task.path, map[string]any{"description": text}, map[string]string{"If-Match": stale})
		if c.want(http.StatusPreconditionFailed, http.MethodPatch, task.path, a) {
			c.kinds["refused change"]++
		}
		return
	}
	a, again := c.do(c.organizer, http.MethodPatch, task.path, map[string]any{"description": text}, map[string]string{"If-Match": tag})
	if again && a.status == http.StatusPreconditionFailed { // An earlier attempt without an answer has changed it.
		a, _ = c.do(c.organizer, http.MethodGet, task.path, nil, nil)
	}
	var changed record.Task
	if c.want(http.StatusOK, http.MethodPatch, task.path, a) && c.decode(a, &changed) && changed.Description != text {
		c.t.Errorf("the description of %s was changed to %q, and is %q", task.path, text, changed.Description)
	}
	task.staleTag, task.description = tag, text
	c.kinds["change"]++
}

func (c *soakClient) decode(a answer, v any) bool {
	if err := json.Unmarshal(a.body, v); err != nil {
		c.t.Errorf("%v: %s", err, a.body)
		return false
	}
	return true
}

// changeTruth changes the number of relevant documents, so that all runs of the task are evaluated again.
func (c *soakClient) changeTruth(task *soakTask) {
	if len(task.submissions) > maxSoakEvaluated {
		return
	}
	task.relevant = append(task.relevant, 3-task.relevant[len(task.relevant)-1])
	path := "/v1/datasets/" + task.dataset
	a, _ := c.do(c.organizer, http.MethodPatch, path, map[string]any{"truths": []any{task.truth()}}, nil)
	var changed record.Dataset
	if !c.want(http.StatusOK, http.MethodPatch, path, a) || !c.decode(a, &changed) {
		return
	}
	if changed.TruthVersion != task.version() {
		c.t.Errorf("%s has version %d of the ground truth, and should have %d", path, changed.TruthVersion, task.version())
	}
	c.kinds["ground truth"]++
}

// maxSoakEvaluated is the largest number of submissions of a task whose ground truth changes. It bounds the evaluations of one change.
const maxSoakEvaluated = 100

// review publishes the run of a submission, or hides it again.
func (c *soakClient) review(task *soakTask) {
	of := task.pick(c.random)
	if of == nil || of.deletion != "" {
		return
	}
	path := "/v1/runs/" + of.run + "/review"
	a, _ := c.do(c.organizer, http.MethodPatch, path, map[string]any{"published": !of.published}, nil)
	if c.want(http.StatusOK, http.MethodPatch, path, a) {
		of.published = !of.published
		c.kinds["review"]++
	}
}

// deleteOrRestore deletes a submission, or restores a deleted submission.
func (c *soakClient) deleteOrRestore(task *soakTask) {
	of := task.pick(c.random)
	if of == nil {
		return
	}
	if of.deletion != "" {
		c.remove(c.organizer, of.deletion)
		of.deletion = ""
		c.kinds["restoration"]++
		return
	}
	if task.deleted() >= maxSoakTrash || !c.remove(c.organizer, of.path) {
		return
	}
	c.kinds["deletion"]++
	list := "/v1/deletions?limit=200&filter[taskId]=" + id(task.path)
	var trash struct{ Data []record.Deletion }
	if a, _ := c.do(c.organizer, http.MethodGet, list, nil, nil); !c.want(http.StatusOK, http.MethodGet, list, a) || !c.decode(a, &trash) {
		return
	}
	i := slices.IndexFunc(trash.Data, func(d record.Deletion) bool { return d.Subject == of.path })
	if i < 0 {
		c.t.Errorf("%s was deleted and is not among the %d in the trash", of.path, len(trash.Data))
		return
	}
	of.deletion = "/v1/deletions/" + trash.Data[i].ID
}

// maxSoakTrash is the largest number of submissions of a task in the trash.
const maxSoakTrash = 20

// remove deletes the resource at the path. The answer may be 404 after an attempt without an answer.
func (c *soakClient) remove(token, path string) bool {
	for deadline := time.Now().Add(soakPatience); ; {
		a, again := c.do(token, http.MethodDelete, path, nil, nil)
		switch {
		case a.status == http.StatusConflict && time.Now().Before(deadline): // Another operation on the resource ends soon.
			time.Sleep(20 * time.Millisecond)
			continue
		case again && a.status == http.StatusNotFound:
			return true
		}
		return c.want(http.StatusNoContent, http.MethodDelete, path, a)
	}
}

// acknowledged returns the number of acknowledged changes of all clients by kind.
func (s *soak) acknowledged() map[string]int {
	all := map[string]int{}
	for _, c := range s.clients {
		for kind, n := range c.kinds {
			all[kind] += n
		}
	}
	return all
}
