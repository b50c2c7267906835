//go:build !windows

package main

import (
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/testing/waittest"
)

// Bounds of the actions of people in the chaos.
const (
	chaosDeletions = 6                // number of deletions and restorations of submissions
	chaosWindow    = 30 * time.Minute // window of submissions, which is longer than the chaos
	chaosReceipt   = time.Second      // time for which the receiver holds an event, so that many kills interrupt deliveries
)

// chaosPeople are a team and the organizers of its task, with their actions on runs and the state that must result.
type chaosPeople struct {
	user, member string            // tokens of the team
	submissions  []string          // paths
	deleted      int               // number of deleted submissions; the last may be in the trash
	deletion     string            // path of its entry in the trash
	final        map[string]string // final runs by dataset
	evaluations  map[string]string // evaluations by run, before submissions were deleted

	mu          sync.Mutex
	received    map[string]bool // paths of runs in received events
	interrupted int             // number of interrupted deliveries
}

// prepare registers a team of two for the task, and a webhook. The receiver takes a while for each event. The event has not arrived if the
// server is killed meanwhile.
func (p *chaosPeople) prepare(t *testing.T, s *testServer, owner, task string) {
	t.Helper()
	p.user, p.member = s.token(t, "user"), s.token(t, "member")
	p.final = map[string]string{}
	p.evaluations = map[string]string{}
	p.received = map[string]bool{}
	registration := s.post(t, p.user, task+"/registrations", map[string]any{"team": "Chaos"})
	invitation := s.object(t, p.user, http.MethodPost, registration+"/invitations", map[string]any{})
	s.post(t, p.member, "/v1/user/memberships", map[string]any{"secret": invitation["secret"]})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct{ Data struct{ Path string } }
		body, err := io.ReadAll(r.Body) // The context ends with the connection only after the whole body is read.
		if err != nil || json.Unmarshal(body, &event) != nil {
			return // The server was killed.
		}
		select {
		case <-r.Context().Done():
			p.mu.Lock()
			defer p.mu.Unlock()
			p.interrupted++
		case <-time.After(chaosReceipt):
			p.mu.Lock()
			defer p.mu.Unlock()
			p.received[event.Data.Path] = true
		}
	}))
	t.Cleanup(receiver.Close)
	s.post(t, owner, task+"/webhooks", map[string]any{"url": receiver.URL, "kinds": []record.EventKind{record.EventRunCompleted}})
}

// over reports whether people have done all their actions.
func (p *chaosPeople) over() bool { return p.deleted == min(chaosDeletions, len(p.submissions)) }

// act marks the final runs, or deletes or restores a submission, and kills the server meanwhile. The last submission stays deleted.
func (c *chaosTest) act(w *workLoad, random *rand.Rand) (kills int) {
	s := c.server.server()
	switch {
	case w.over():
	case len(w.final) == 0:
		var submission record.Submission
		s.get(c.t, w.user, w.submissions[0], &submission)
		for _, id := range submission.RunIDs {
			var r record.Run
			s.get(c.t, w.user, "/v1/runs/"+id, &r)
			c.interrupt(random, w.member, http.MethodPatch, "/v1/runs/"+id, map[string]any{"final": true})
			w.final[r.DatasetID] = id
			kills++
		}
	case w.deletion != "":
		c.interrupt(random, w.owner, http.MethodDelete, w.deletion, nil)
		w.deletion = ""
		kills++
	default:
		path := w.submissions[w.deleted]
		maps.Copy(w.evaluations, w.evaluated(c.t, s))
		c.interrupt(random, w.owner, http.MethodDelete, path, nil)
		kills++
		trash := allOf[record.Deletion](c.t, s, w.owner, "/v1/deletions?limit=200&filter[taskId]="+id(w.task))
		if len(trash) != 1 || trash[0].Subject != path {
			c.t.Fatalf("%s was deleted, and in the trash is %+v", path, trash)
		}
		w.deletion = "/v1/deletions/" + trash[0].ID
		w.deleted++
	}
	return kills
}

// interrupt sends a request, kills the server meanwhile, and repeats the request until it is answered. A DELETE may then answer 404.
func (c *chaosTest) interrupt(random *rand.Rand, token, method, path string, body any) {
	c.t.Helper()
	r := request(c.t, method, c.server.url+path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	answered := make(chan int, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	c.restart(random)
	status := <-answered
	if status == http.StatusNotFound {
		c.t.Fatalf("%s %s: what was there is missing", method, path)
	}
	waittest.Value(c.t, "the server accepts "+method+" "+path, func() (int, bool) {
		if status/100 != 2 {
			a := c.server.server().send(c.t, token, method, path, body)
			if a.status != status && a.status/100 != 2 {
				c.t.Logf("%s %s: status %d\n%s", method, path, a.status, a.body)
			}
			status = a.status
		}
		return status, status/100 == 2 || status == http.StatusNotFound && method == http.MethodDelete
	})
}

// evaluated returns the ids and values of the evaluations that organizers see, by run.
func (w *workLoad) evaluated(t *testing.T, s *testServer) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, e := range allOf[record.Evaluation](t, s, w.owner, w.task+"/evaluations?limit=200") {
		values, err := json.Marshal(e.Measures)
		if err != nil {
			t.Fatal(err)
		}
		found[e.RunID] = e.ID + " " + string(values)
	}
	return found
}

// wantConcealed checks that only organizers see scores.
func (w *workLoad) wantConcealed(t *testing.T, s *testServer) {
	t.Helper()
	var newest struct{ Data []record.Evaluation }
	s.get(t, w.owner, w.task+"/evaluations?limit=5", &newest)
	for _, token := range []string{"", w.user, w.member} {
		if shown := allOf[record.Evaluation](t, s, token, w.task+"/evaluations"); len(shown) > 0 {
			t.Errorf("before the close are listed %+v", shown)
		}
		for _, e := range newest.Data {
			if a := s.send(t, token, http.MethodGet, "/v1/evaluations/"+e.ID, nil); a.status != http.StatusNotFound {
				t.Errorf("before the close an evaluation is shown: %s", a.body)
			}
			if a := s.send(t, token, http.MethodGet, "/v1/runs/"+e.RunID, nil); strings.Contains(string(a.body), e.ID) {
				t.Errorf("before the close a run shows its evaluation: %s", a.body)
			}
		}
	}
}

// close moves the clock past the close of the window, so that all later work is due, and restores the submission in the trash.
func (c *chaosTest) close(w *workLoad) {
	c.t.Helper()
	w.wantConcealed(c.t, c.server.server())
	c.server.kill(c.t)
	c.server.setClock(c.t, 2*chaosWindow)
	c.server.start(c.t)
	s := c.server.server()
	s.call(c.t, w.owner, http.MethodDelete, w.deletion, nil, nil)
	s.awaitRuns(c.t, w.owner, w.task) // also waits for restored runs
}

// verifyPeople checks restored submissions, the scores after the close, the final runs, and the events of the webhook.
func (w *workLoad) verifyPeople(t *testing.T, s *testServer) {
	t.Helper()
	var evaluated map[string]string
	waittest.Until(t, "everybody is shown the scores after the close", func() bool {
		evaluated = w.evaluated(t, s) // Lists may lack entries while the server makes them visible, so read them again.
		return len(allOf[record.Evaluation](t, s, "", w.task+"/evaluations?limit=200")) == len(evaluated) && len(evaluated) >= len(w.evaluations)
	})
	for run, before := range w.evaluations {
		if evaluated[run] != before {
			t.Errorf("the evaluation of run %s was %s, and is %s", run, before, evaluated[run])
		}
	}
	for dataset, run := range w.final {
		board := w.task + "/evaluations?sort=rank&final=true&filter[datasetId]=" + dataset
		shown := allOf[record.Evaluation](t, s, "", board)
		if evaluated[run] != "" && (len(shown) != 1 || shown[0].RunID != run || !shown[0].Final) {
			t.Errorf("run %s is final, and the leaderboard shows %+v", run, shown)
		}
	}
	missing := func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.DeleteFunc(slices.Sorted(maps.Keys(evaluated)), func(id string) bool { return w.received["/v1/runs/"+id] })
	}
	waittest.Value(t, "the webhook was notified of every run", func() (left []string, expected bool) {
		left = missing()
		return left, len(left) == 0
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Logf("the webhook was notified of %d runs, after %d deliveries were interrupted", len(evaluated), w.interrupted)
}
