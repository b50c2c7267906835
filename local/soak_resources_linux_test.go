//go:build soak

package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Bounds of the growth of a process under load, between two measurements at rest. The number of connections to the object store and of
// their goroutines varies. The heap has sorted leaderboards, so that each submission may add to it, and a cache of entries as JSON with at
// most 40 MiB, which fills slowly. The process keeps a part of the largest heap.
const (
	soakGrowthGoroutines = 60
	soakGrowthFiles      = 40
	soakGrowthHeap       = 48 << 20
	soakGrowthMemory     = 128 << 20
	soakGrowthSubmission = 8 << 10
)

// soakResources is the resources that the process of a server uses.
type soakResources struct {
	goroutines, files int
	heap, memory      int64 // heap after a collection, and resident memory without mapped files
	submissions       int   // number of acknowledged submissions
}

func (r soakResources) String() string {
	return fmt.Sprintf("%d goroutines, %d open files, %.1f MiB of heap, %.1f MiB resident, %d submissions", r.goroutines, r.files,
		float64(r.heap)/(1<<20), float64(r.memory)/(1<<20), r.submissions)
}

// resources returns the resources of the server at rest: every run has ended, and the clients have closed their connections. It reads every
// leaderboard first, so that a server that was started recently also has them in memory.
func (s *soak) resources() soakResources {
	s.t.Helper()
	s.pause.Lock()
	defer s.pause.Unlock()
	s.settle()
	for _, c := range s.clients {
		for _, task := range c.tasks {
			c.readBoard(task)
		}
		c.http.CloseIdleConnections()
	}
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(min(s.span, 2*time.Second)) // The server needs a moment to release closed connections.
	for range 2 {                          // The first collection runs finalizers.
		if err := s.opsLines("/debug/pprof/heap?gc=1", func(string) {}); err != nil {
			s.t.Fatal(err)
		}
	}
	r := soakResources{submissions: s.acknowledged()["submission"]}
	values := map[string]*int64{"go_goroutines": new(int64), "process_open_fds": new(int64), "go_memstats_heap_alloc_bytes": &r.heap}
	err := s.opsLines("/metrics", func(line string) {
		name, value, _ := strings.Cut(line, " ")
		if into := values[name]; into != nil {
			v, _ := strconv.ParseFloat(value, 64)
			*into = int64(v)
		}
	})
	if err != nil || r.heap == 0 {
		s.t.Fatal("the metrics lack what the process takes", err)
	}
	r.goroutines = int(*values["go_goroutines"])
	r.files = int(*values["process_open_fds"])
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.server.process.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	kib, _, _ := strings.Cut(after, " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(kib), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	r.memory = n << 10
	return r
}

func (s *soak) opsLines(path string, line func(string)) error {
	resp, err := http.Get("http://" + s.ops + path)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		line(lines.Text())
	}
	return lines.Err()
}

// checkGrowth fails the test if the process has grown too much since before.
func (r soakResources) checkGrowth(t testing.TB, before soakResources) {
	t.Helper()
	more := int64(r.submissions-before.submissions) * soakGrowthSubmission
	for _, g := range []struct {
		what                  string
		before, after, growth int64
	}{
		{"goroutines", int64(before.goroutines), int64(r.goroutines), soakGrowthGoroutines},
		{"open files", int64(before.files), int64(r.files), soakGrowthFiles},
		{"bytes of heap", before.heap, r.heap, soakGrowthHeap + more},
		{"resident bytes", before.memory, r.memory, soakGrowthMemory + 2*more},
	} {
		if g.after > g.before+g.growth {
			t.Errorf("%s grew from %d to %d, by more than %d", g.what, g.before, g.after, g.growth)
		}
	}
}
