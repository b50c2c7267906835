package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/store"
)

// clients is how many clients a load has, unless a benchmark says otherwise; they share the machine with the server.
const clients = 8

// BenchmarkGetTask gets one public task over loopback.
func BenchmarkGetTask(b *testing.B) {
	s := start(b, "-demo=false")
	ids := fillTasks(b, s, 1000)
	load(b, clients, func(n int) *http.Request { return request(b, http.MethodGet, s.url+"/v1/tasks/"+ids[n%len(ids)], nil) })
}

// BenchmarkPage gets pages of 50 tasks from all over a list. With 100,000 tasks it is to cost about what it costs with 1,000.
func BenchmarkPage(b *testing.B) {
	for _, tasks := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("of=%d", tasks), func(b *testing.B) {
			s := start(b, "-demo=false")
			ids := fillTasks(b, s, tasks)
			load(b, clients, func(n int) *http.Request {
				return request(b, http.MethodGet, s.url+"/v1/tasks?limit=50&cursor="+ids[50+n*7919%(len(ids)-50)], nil)
			})
		})
	}
}

// BenchmarkRegister creates registrations from 64 clients, each acknowledged once it is durable.
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

// load sends b.N requests from so many clients, and reports requests a second and latencies.
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

// fillTasks puts public tasks straight into the store and returns their ids, the oldest first.
func fillTasks(b *testing.B, s *testServer, n int) []string {
	b.Helper()
	ids := make([]string, 0, n)
	organizer := record.NewID(time.Now())
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
		if writes = append(writes, store.Create(it)); len(writes) == store.MaxWrites || i == n-1 {
			if err := s.program.table.Write(context.Background(), writes...); err != nil {
				b.Fatal(err)
			}
			writes = nil
		}
	}
	return ids
}

// BenchmarkGetTask_WithMetrics is BenchmarkGetTask with metrics, to compare.
func BenchmarkGetTask_WithMetrics(b *testing.B) {
	s := start(b, "-demo=false", "-ops-addr", "127.0.0.1:0")
	ids := fillTasks(b, s, 1000)
	load(b, clients, func(n int) *http.Request { return request(b, http.MethodGet, s.url+"/v1/tasks/"+ids[n%len(ids)], nil) })
}

// makers are users who create tasks, each in an organizer of theirs, or all in one.
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

// BenchmarkCreateTask creates tasks from 64 clients, of users of their own: in 64 organizers, and in one.
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
