package attack

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
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
	end     chan struct{}
	ended   chan struct{}
}

// entry is a resource that was acknowledged, with what its representation must have.
type entry struct {
	user       *user
	path, want string
}

// journalPace is how often the journal writes. A user who does so is far from every limit of rate.
const journalPace = 250 * time.Millisecond

func newJournal(s *site) *journal {
	j := &journal{site: s, end: make(chan struct{}), ended: make(chan struct{})}
	s.journal = j
	go func() {
		defer close(j.ended)
		pace := time.NewTicker(journalPace)
		defer pace.Stop()
		for {
			j.write()
			select {
			case <-pace.C:
			case <-j.end:
				return
			}
		}
	}()
	return j
}

func (j *journal) stop() {
	close(j.end)
	<-j.ended
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

// number is the description that has a number.
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
