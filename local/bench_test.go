package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/computation/measure/measuretest"
	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"

	"golang.org/x/sync/errgroup"
)

// BenchmarkREST gets tasks, the first page of a list of tasks, and later pages, with several numbers of tasks and connections. With a
// million tasks a request should cost about as much as with a thousand.
func BenchmarkREST(b *testing.B) {
	for _, tasks := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := start(b, "-demo=false")
			ids := fillTasks(b, s, tasks)
			for _, connections := range []int{1, 16, 128} {
				for name, path := range map[string]func(n int) string{
					"task":     func(n int) string { return "/v1/tasks/" + ids[n*7919%len(ids)] },
					"first":    func(int) string { return "/v1/tasks?limit=50" },
					"anywhere": func(n int) string { return "/v1/tasks?limit=50&cursor=" + ids[50+n*7919%(len(ids)-50)] },
				} {
					b.Run(fmt.Sprintf("%s/connections=%d", name, connections), func(b *testing.B) {
						load(b, connections, func(n int) *http.Request { return request(b, http.MethodGet, s.url+path(n), nil) })
					})
				}
			}
		})
	}
}

// BenchmarkRegister creates registrations from 64 clients. Each is durable before it is acknowledged.
func BenchmarkRegister(b *testing.B) {
	s := start(b, "-demo=false")
	owner := s.token(b, "owner")
	task := s.task(b, owner, "Load")
	tokens := make([]string, b.N+1)
	for i := range tokens {
		tokens[i] = s.token(b, fmt.Sprintf("user%d", i))
	}
	load(b, 64, func(n int) *http.Request {
		r := request(b, http.MethodPost, s.url+task+"/registrations", map[string]any{"team": fmt.Sprintf("Team %d", n)})
		r.Header.Set("Authorization", "Bearer "+tokens[n%len(tokens)])
		return r
	})
}

// load sends b.N requests from a number of clients, and reports requests per second and latencies.
func load(b *testing.B, clients int, next func(n int) *http.Request) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	took := make([]time.Duration, b.N)
	var sent atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range clients {
		all.Go(func() {
			for {
				n := int(sent.Add(1)) - 1
				if n >= b.N {
					return
				}
				r := next(n)
				began := time.Now()
				resp, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || resp.StatusCode >= http.StatusBadRequest {
					b.Errorf("status %d, %v: %s", resp.StatusCode, err, body)
					return
				}
				took[n] = time.Since(began)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(took[b.N/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds()), "p99-µs")
}

// fillTasks writes public tasks to the store and returns their ids, the oldest first.
func fillTasks(b *testing.B, s *testServer, n int) []string {
	b.Helper()
	ids := make([]string, 0, n)
	organizer := record.NewID(time.Now())
	var writers errgroup.Group
	writers.SetLimit(64) // Concurrent writers share writes to the disk.
	var writes []store.Write
	for i := range n {
		t := &record.TaskItem{Task: record.Task{Meta: record.NewMeta(time.Now()), TaskDraft: record.TaskDraft{
			OrganizerID: organizer, Name: fmt.Sprintf("Task %d", i),
			Description: "A task of the load, with a text of the usual length of a first paragraph.",
		}}}
		t.Normalize()
		it, err := record.Item(t)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, t.ID)
		writes = append(writes, store.Create(it))
		if len(writes) == store.MaxWrites || i == n-1 {
			full := writes
			writers.Go(func() error { return s.program.table.Write(context.Background(), full...) })
			writes = nil
		}
	}
	if err := writers.Wait(); err != nil {
		b.Fatal(err)
	}
	return ids
}

// BenchmarkGetTask_WithMetrics gets a task over 16 connections with metrics, to compare with BenchmarkREST.
func BenchmarkGetTask_WithMetrics(b *testing.B) {
	s := start(b, "-demo=false", "-ops-addr", "127.0.0.1:0")
	ids := fillTasks(b, s, 1000)
	load(b, 16, func(n int) *http.Request { return request(b, http.MethodGet, s.url+"/v1/tasks/"+ids[n%len(ids)], nil) })
}

// BenchmarkSubmission submits a run, uploads its file by the link in the answer, and waits until the score can be read.
func BenchmarkSubmission(b *testing.B) {
	for _, lines := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := start(b, "-demo=false", "-rates", noRates, "-quotas", `{"user":{"perDay":{"runs":0}}}`)
			owner, user := s.token(b, "owner"), s.token(b, "user")
			runName, qrelsName, _ := measuretest.Ranked(b, lines/1000)
			run, err := os.ReadFile(runName)
			if err != nil {
				b.Fatal(err)
			}
			qrels, err := os.ReadFile(qrelsName)
			if err != nil {
				b.Fatal(err)
			}
			task := s.task(b, owner, "Load")
			dataset := s.dataset(b, owner, task, string(qrels), nil)
			s.post(b, user, task+"/registrations", map[string]any{"team": "Team"})
			draft := servertest.Upload(dataset, servertest.Announced("run.txt", string(run)))
			for b.Loop() {
				var made struct{ RunIDs []string }
				s.call(b, user, http.MethodPost, task+"/submissions", draft, &made)
				address := "/v1/runs/" + made.RunIDs[0]
				var r record.Run
				s.get(b, user, address, &r)
				s.call(b, "", http.MethodPut, r.Files[0].Upload.URL, run, nil)
				for r.State != record.Completed {
					s.get(b, user, address, &r)
					if r.State.Ended() && r.State != record.Completed {
						b.Fatal(r.State, r.Diagnostics)
					}
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
}

// makers returns users who create tasks. Each has an organizer or, if shared, all have the same organizer.
func makers(t testing.TB, s *testServer, users int, shared bool) (tokens, organizers []string) {
	t.Helper()
	for i := range users {
		tokens = append(tokens, s.token(t, fmt.Sprintf("user%d", i)))
		if shared && i > 0 {
			invitation := s.object(t, tokens[0], http.MethodPost, "/v1/organizers/"+organizers[0]+"/invitations", map[string]any{"role": "editor"})
			s.post(t, tokens[i], "/v1/user/memberships", map[string]any{"secret": invitation["secret"]})
			organizers = append(organizers, organizers[0])
		} else {
			organizers = append(organizers, id(s.post(t, tokens[i], "/v1/organizers", map[string]any{"name": "Load"})))
		}
	}
	return tokens, organizers
}

// BenchmarkCreateTask creates tasks from 64 clients of different users, in 64 organizers and in one organizer.
func BenchmarkCreateTask(b *testing.B) {
	for name, shared := range map[string]bool{"organizers=64": false, "organizers=1": true} {
		b.Run(name, func(b *testing.B) {
			s := start(b, "-demo=false", "-rates", noRates, "-quotas", `{"server":{"perDay":{"tasks":1000000}},"user":{"perDay":{"tasks":1000000}}}`)
			tokens, organizers := makers(b, s, 64, shared)
			load(b, len(tokens), func(n int) *http.Request {
				i := n % len(tokens)
				r := request(b, http.MethodPost, s.url+"/v1/tasks", map[string]any{"organizerId": organizers[i], "name": fmt.Sprint("Task ", n)})
				r.Header.Set("Authorization", "Bearer "+tokens[i])
				return r
			})
		})
	}
}
