//go:build attack

package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// journal writes during the attacks, and records the acknowledged writes: submissions with their runs, and the numbers that it writes to
// the description of a task, one after the other.
type journal struct {
	server  *server
	mu      sync.Mutex
	entries []entry
	number  int // last acknowledged number
	attempt int // last sent number
	stop    func()
}

// entry is an acknowledged resource, with a text that its representation must contain.
type entry struct {
	user       *user
	path, want string
}

// journalInterval is the interval of the journal's writes. Their rate is far below every rate limit.
const journalInterval = 250 * time.Millisecond

func newJournal(s *server) *journal {
	j := &journal{server: s}
	s.journal = j
	j.stop = every(journalInterval, func(int) { j.write() })
	return j
}

// every calls do at the interval, with the number of the call. stop ends the calls, and waits for the current call.
func every(interval time.Duration, do func(n int)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for n := 0; ; n++ {
			do(n)
			select {
			case <-ticker.C:
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries) + 1
}

// acknowledged records a resource that the server has acknowledged.
func (j *journal) acknowledged(u *user, target, want string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entry{u, target, want})
}

// write changes a number and submits a file. The journal ignores refusals.
func (j *journal) write() {
	s := j.server
	j.attempt++
	status, _, _, err := s.call(s.organizer, http.MethodPatch, s.task, object{"description": fmt.Sprintf(number, j.attempt)})
	if err == nil && status == http.StatusOK {
		j.number = j.attempt
	}
	file := inline("run.txt", []byte("1 Q0 d1 1 2.5 journal\n"))
	file["datasetId"] = path.Base(s.dataset)
	status, header, _, err := s.call(s.participant, http.MethodPost, s.task+"/submissions", object{"type": "upload", "files": []any{file},
		"again": true})
	if err == nil && status == http.StatusCreated {
		j.acknowledged(s.participant, header.Get("Location"), `"type":"upload"`)
	}
}

const number = "Change %d of the journal."

// verify reads every acknowledged resource.
func (j *journal) verify(t *testing.T) {
	t.Helper()
	lost := 0
	for _, e := range j.entries {
		status, _, body, err := j.server.call(e.user, http.MethodGet, e.path, nil)
		if err == nil && status == http.StatusOK {
			err = j.verifyFiles(e.user, body)
		}
		if err != nil || status != http.StatusOK || !bytes.Contains(body, []byte(e.want)) {
			lost++
			if lost <= maxFaults {
				t.Errorf("%s was acknowledged, and is answered with status %d, %v: %.200s", e.path, status, err, body)
			}
		}
	}
	var task struct{ Description string }
	j.server.decode(t, j.server.organizer, http.MethodGet, j.server.task, nil, &task)
	var n int
	// A change without an answer may have succeeded.
	if _, err := fmt.Sscanf(task.Description, number, &n); err != nil || n < j.number || n > j.attempt {
		t.Errorf("change %d was acknowledged and %d sent last, but the task has %q", j.number, j.attempt, task.Description)
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged writes are lost", lost, len(j.entries))
	}
}

// verifyFiles downloads the files of a resource, or of the runs that it names, and compares them with their digests.
func (j *journal) verifyFiles(u *user, resource []byte) error {
	var shown struct {
		RunIDs        []string
		Truths, Files []struct{ URL, SHA256, State string }
	}
	if err := json.Unmarshal(resource, &shown); err != nil {
		return err
	}
	for _, id := range shown.RunIDs {
		_, _, run, err := j.server.call(u, http.MethodGet, "/v1/runs/"+id, nil)
		if err == nil {
			err = j.verifyFiles(u, run)
		}
		if err != nil {
			return err
		}
	}
	for _, f := range slices.Concat(shown.Truths, shown.Files) {
		if f.State != string(record.FileStored) { // The file was announced and not sent.
			continue
		}
		_, _, content, err := j.server.call(j.server.linkUser, http.MethodGet, strings.TrimPrefix(f.URL, j.server.program.url), nil)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != f.SHA256 {
			return fmt.Errorf("the file with the digest %s has %d other bytes", f.SHA256, len(content))
		}
	}
	return nil
}

// Load of the bystander. In the full profile requests begin at a fixed rate, whether or not earlier ones have been answered (an open
// model), so that a server that stalls delays many of them. The short profile must not depend on how busy the machine is, and sends one
// after the other: at a fixed rate they keep each other waiting when other processes leave the server little time.
const (
	watchInterval = 10 * time.Millisecond
	watchTimeout  = 30 * time.Second // after which a GET counts as that slow
)

// watcher sends the GETs of the bystander, and measures their latencies.
type watcher struct {
	mu       sync.Mutex
	took     []time.Duration
	statuses map[int]int
	pending  sync.WaitGroup
	end      func()
}

// watch begins to send the GETs of a participant.
func (s *server) watch() *watcher {
	w := &watcher{statuses: map[int]int{}}
	paths := []string{
		s.task, "/v1/tasks?limit=20", s.task + "/evaluations?sort=rank&filter[datasetId]=" + path.Base(s.dataset), s.oldRun, "/v1/user",
	}
	get := func(n int) { w.get(s, paths[n%len(paths)]) }
	if s.profile.full {
		get = func(n int) { w.pending.Go(func() { w.get(s, paths[n%len(paths)]) }) }
	}
	w.end = every(watchInterval, get)
	return w
}

func (w *watcher) get(s *server, target string) {
	ctx, cancel := context.WithTimeout(context.Background(), watchTimeout)
	defer cancel()
	began := time.Now()
	status, _, _, err := s.send(ctx, request{from: s.bystander, method: http.MethodGet, path: target}, io.Discard)
	if err != nil {
		status = 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = append(w.took, time.Since(began))
	w.statuses[status]++
}

// stop ends the watcher and returns the p99 of its GETs. A GET that was refused or not answered is a fault.
func (w *watcher) stop(res *results) time.Duration {
	w.end()
	w.pending.Wait()
	for status, n := range w.statuses {
		if status != http.StatusOK {
			res.fault("%d of %d GETs of the bystander were answered with status %d", n, len(w.took), status)
		}
	}
	return p99(w.took)
}
