package attack

import (
	"context"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"
)

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
	end      chan struct{}
	ended    chan struct{}
}

// watch begins to read what a participant reads.
func (s *site) watch() *watcher {
	w := &watcher{end: make(chan struct{}), ended: make(chan struct{}), statuses: map[int]int{}}
	paths := []string{
		s.task, "/v1/tasks?limit=20", s.task + "/evaluations?sort=rank&filter[datasetId]=" + path.Base(s.dataset), s.oldRun, "/v1/user",
	}
	go func() {
		defer close(w.ended)
		var asked sync.WaitGroup
		defer asked.Wait()
		pace := time.NewTicker(watchPace)
		defer pace.Stop()
		for n := 0; ; n++ {
			asked.Go(func() { w.ask(s, paths[n%len(paths)]) })
			select {
			case <-pace.C:
			case <-w.end:
				return
			}
		}
	}()
	return w
}

func (w *watcher) ask(s *site, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), watchTime)
	defer cancel()
	began := time.Now()
	status, _, _, err := s.send(ctx, request{from: s.bystander, method: http.MethodGet, path: path})
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
	close(w.end)
	<-w.ended
	for status, n := range w.statuses {
		if status != http.StatusOK {
			y.fault("%d of %d GETs of the bystander were answered with status %d", n, len(w.took), status)
		}
	}
	slices.Sort(w.took)
	return w.took[(len(w.took)*99+99)/100-1]
}
