//go:build attack

package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"assay/shared/domain/record"
)

// Bounds of the waiting times of a little user. Only the full profile checks them.
const (
	littleTime = time.Second            // p99 of submissions, lists and small tools
	budgetTime = 500 * time.Millisecond // budget of one evaluation: a score may take this time beyond scoreFactor
	// scoreFactor bounds the time until a score, as a multiple of the time on the idle server.
	scoreFactor = 3
)

// Load of a little user.
const (
	littlePause   = 100 * time.Millisecond // pause between two rounds
	littleRounds  = 10                     // rounds during a flood of computations in the short profile
	littleList    = "/v1/organizers?limit=8"
	scoreInterval = 10 * time.Millisecond // pause between two reads of a run
	scoreTimeout  = time.Minute           // time after which a run counts as never evaluated
)

// littleUser is a bystander who repeats a round of small requests, one after the other. It submits a run of two lines, waits for the score
// of the run, reads a list, and calls a small tool.
type littleUser struct {
	server *server
	stop   func()

	mu      sync.Mutex
	rounds  int
	answers []time.Duration // times until answers to submissions, lists and tools
	scores  []time.Duration // times from submissions to scores
	faults  []string
}

// startLittleUser begins rounds. stop ends them.
func (s *server) startLittleUser() *littleUser {
	l := &littleUser{server: s}
	l.stop = every(littlePause, func(int) { l.round() })
	return l
}

func (l *littleUser) round() {
	s := l.server
	run := inline("run.txt", []byte("1 Q0 d1 1 2.5 a\n1 Q0 d2 2 1.5 a\n"))
	tool := encode(object{"run": object{"files": []object{maps.Clone(run)}}})
	run["datasetId"] = path.Base(s.dataset)
	began := time.Now()
	draft := object{"type": "upload", "files": []object{run}, "again": true}
	if made := l.send(post(s.bystander, s.task+"/submissions", encode(draft))); made != nil {
		l.waitForScore(made, began)
	}
	l.send(request{from: s.bystander, method: http.MethodGet, path: littleList})
	l.send(post(s.bystander, "/v1/tools/validator", tool))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rounds++
}

// send sends a request that must succeed, and returns the answer, or nil if it fails.
func (l *littleUser) send(q request) (answer []byte) {
	var b bytes.Buffer
	began := time.Now()
	status, header, _, err := l.server.send(context.Background(), q, &b)
	took := time.Since(began)
	if err == nil && status == http.StatusCreated {
		l.server.journal.acknowledged(q.from, header.Get("Location"), `"type":"upload"`)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = append(l.answers, took)
	if err != nil || status >= http.StatusBadRequest {
		l.faults = append(l.faults, fmt.Sprintf("%s of a little user: status %d, %v after %v: %.300s", q.path, status, err, took, b.Bytes()))
		return nil
	}
	return b.Bytes()
}

// waitForScore reads the run of a submission until it is evaluated.
func (l *littleUser) waitForScore(submission []byte, began time.Time) {
	var made struct{ RunIDs []string }
	err := json.Unmarshal(submission, &made)
	var state string
	for err == nil && state != string(record.Completed) && time.Since(began) < scoreTimeout {
		time.Sleep(scoreInterval)
		state, err = l.server.stateOf(l.server.bystander, made.RunIDs[0])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	took := time.Since(began)
	l.scores = append(l.scores, took)
	if state != string(record.Completed) {
		l.faults = append(l.faults, fmt.Sprintf("the run of a little user is %q after %v: %v", state, took, err))
	}
}

// waitForRounds waits until the little user has completed n rounds.
func (l *littleUser) waitForRounds(ctx context.Context, n int) {
	for ctx.Err() == nil && l.made() < n {
		time.Sleep(scoreInterval)
	}
}

func (l *littleUser) made() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rounds
}

// report ends the rounds, and adds their times to the outcome.
func (l *littleUser) report(o *outcome) {
	l.stop()
	o.little, o.score = p99(l.answers), p99(l.scores)
	for _, f := range l.faults {
		o.fault("%s", f)
	}
}

// p99 returns the 99th percentile of the durations, or zero if there are none.
func p99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[(len(took)*99+99)/100-1]
}

// late describes the waiting times of the bystander that exceed their bounds, which depend on the times on the idle server.
func (o outcome) late(baseline outcome) (out []string) {
	for _, b := range []struct {
		what       string
		took, most time.Duration
	}{
		{"the p99 of the bystander's GETs", o.p99, bystanderTime},
		{"the p99 of the requests of a little user", o.little, littleTime},
		{"the p99 of the scores of a little user", o.score, scoreFactor*baseline.score + budgetTime},
	} {
		if b.took > b.most {
			out = append(out, fmt.Sprintf("%s is %v, more than %v", b.what, b.took, b.most))
		}
	}
	return out
}
