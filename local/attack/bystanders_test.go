package attack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"time"
)

// journal writes while everything is attacked, and keeps what was acknowledged: submissions with their runs, and the numbers that
// the description of a task was given one after the other.
type journal struct {
	site    *site
	mu      sync.Mutex
	kept    []entry
	number  int // that was acknowledged last
	attempt int // that was sent last
	stop    func()
}

// entry is a resource that was acknowledged, with what its representation must have.
type entry struct {
	user       *user
	path, want string
}

// journalPace is how often the journal writes. A user who does so is far from every limit of rate.
const journalPace = 250 * time.Millisecond

func newJournal(s *site) *journal {
	j := &journal{site: s}
	s.journal = j
	j.stop = every(journalPace, func(int) { j.write() })
	return j
}

// every calls do at the pace, with the number of the call, until stop is called, which waits for the call under way.
func every(pace time.Duration, do func(n int)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(pace)
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
	return len(j.kept) + 1
}

// acknowledged keeps a resource that the server says is stored.
func (j *journal) acknowledged(u *user, path, want string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = append(j.kept, entry{u, path, want})
}

// write changes a number and submits a file. What is refused is no matter of the journal.
func (j *journal) write() {
	s := j.site
	j.attempt++
	status, _, _, err := s.call(s.organizer, http.MethodPatch, s.task, object{"description": fmt.Sprintf(number, j.attempt)})
	if err == nil && status == http.StatusOK {
		j.number = j.attempt
	}
	file := inline("run.txt", []byte("1 Q0 d1 1 2.5 journal\n"))
	file["datasetId"] = path.Base(s.dataset)
	status, header, _, err := s.call(s.participant, http.MethodPost, s.task+"/submissions", object{"type": "upload", "files": []any{file}})
	if err == nil && status == http.StatusCreated {
		j.acknowledged(s.participant, header.Get("Location"), `"type":"upload"`)
	}
}

const number = "Change %d of the journal."

// verify asks for everything that was acknowledged.
func (j *journal) verify(t *testing.T) {
	t.Helper()
	lost := 0
	for _, e := range j.kept {
		status, _, body, err := j.site.call(e.user, http.MethodGet, e.path, nil)
		if err != nil || status != http.StatusOK || !bytes.Contains(body, []byte(e.want)) {
			if lost++; lost <= maxFaults {
				t.Errorf("%s was acknowledged, and is answered with status %d, %v: %.200s", e.path, status, err, body)
			}
		}
	}
	var task struct{ Description string }
	j.site.decode(t, j.site.organizer, http.MethodGet, j.site.task, nil, &task)
	var n int
	// one without an answer may have been made
	if _, err := fmt.Sscanf(task.Description, number, &n); err != nil || n < j.number || n > j.attempt {
		t.Errorf("change %d was acknowledged and %d sent last, but the task has %q", j.number, j.attempt, task.Description)
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged writes are lost", lost, len(j.kept))
	}
}

// Pace of the bystander. Requests begin when their time has come, whether or not those before have been answered, so that a
// server that stands still delays many of them.
const (
	watchPace = 10 * time.Millisecond
	watchTime = 30 * time.Second // after which a GET counts as that slow
)

// watcher is a bystander who reads, and measures how long it takes.
type watcher struct {
	mu       sync.Mutex
	took     []time.Duration
	statuses map[int]int
	asked    sync.WaitGroup
	end      func()
}

// watch begins to read what a participant reads.
func (s *site) watch() *watcher {
	w := &watcher{statuses: map[int]int{}}
	paths := []string{
		s.task, "/v1/tasks?limit=20", s.task + "/evaluations?sort=rank&filter[datasetId]=" + path.Base(s.dataset), s.oldRun, "/v1/user",
	}
	w.end = every(watchPace, func(n int) { w.asked.Go(func() { w.ask(s, paths[n%len(paths)]) }) })
	return w
}

func (w *watcher) ask(s *site, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), watchTime)
	defer cancel()
	began := time.Now()
	status, _, _, err := s.send(ctx, request{from: s.bystander, method: http.MethodGet, path: path}, io.Discard)
	if err != nil {
		status = 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = append(w.took, time.Since(began))
	w.statuses[status]++
}

// stop ends the watcher and returns the p99 of what it asked. A GET that was refused or not answered is a fault.
func (w *watcher) stop(y *tally) time.Duration {
	w.end()
	w.asked.Wait()
	for status, n := range w.statuses {
		if status != http.StatusOK {
			y.fault("%d of %d GETs of the bystander were answered with status %d", n, len(w.took), status)
		}
	}
	slices.Sort(w.took)
	return w.took[(len(w.took)*99+99)/100-1]
}
