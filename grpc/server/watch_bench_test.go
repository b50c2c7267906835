package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/service/visibility"
)

// The load of BenchmarkWatchRun.
const (
	benchRuns    = maxWatches / watchersEach
	watchersEach = 10 // each with a connection that watches every run
	settlingTime = 50 * time.Millisecond
)

// BenchmarkWatchRun has 200 watchers of 20 runs, over gRPC on this machine. Each iteration changes one run and appends a line, for
// ten watchers. It reports the latencies from the start and from the end of the write until a client has the message, the memory of a
// watcher, with and without gRPC, and the calls of the store.
func BenchmarkWatchRun(b *testing.B) {
	for _, source := range []string{hooked, hookedDynamoDB, polledDynamoDB} {
		b.Run(source, func(b *testing.B) { benchWatch(b, source) })
	}
}

// seen is a version of a run that reached a watcher.
type seen struct {
	run     int
	version int64
	at      time.Time
	err     error
}

func benchWatch(b *testing.B, source string) {
	s := startWatchServer(b, source)
	counted := &countingStore{Store: s.pages.logs.Store}
	s.setReads(counted)
	all := make([]*testRun, benchRuns)
	for i := range all {
		all[i] = s.newRun()
	}
	came := make(chan seen, benchRuns*watchersEach)
	alone := watchAlone(b, s, all)
	ctx, cancel := context.WithCancel(b.Context())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer cancel()
	before := memory()
	for range watchersEach {
		client, _ := s.dial(b)
		for i, p := range all {
			stream, err := client.WatchRun(as(ctx, organizer), &assayv1.WatchRunRequest{RunId: p.run.ID})
			must(b, err)
			ended.Go(func() {
				for {
					m, err := stream.Recv()
					came <- seen{run: i, version: m.GetRun().GetVersion(), at: time.Now(), err: err}
					if err != nil {
						return
					}
				}
			})
		}
		for range all { // before more are opened: a user may have only so many calls whose first message is under way
			must(b, (<-came).err)
		}
	}
	each := float64(memory()-before) / (benchRuns * watchersEach)
	counted.gets.Store(0)
	counted.keys.Store(0)
	counted.queries.Store(0)
	var fromBegin, fromEnd []time.Duration
	begun := time.Now()
	n := 0
	for b.Loop() {
		i := n % benchRuns
		n++
		p := all[i]
		if source == polledDynamoDB {
			time.Sleep(rand.N(watchInterval)) // or each change would come right after a poll
		}
		start := time.Now()
		p.append(record.ExecutionLog, "A line as programs write it: epoch 3 of 10, loss 0.7312")
		written := time.Now()
		for range watchersEach {
			m := <-came
			must(b, m.err)
			if m.run != i || m.version != p.run.Version {
				b.Fatalf("run %d came in version %d, and run %d was changed to %d", m.run, m.version, i, p.run.Version)
			}
			fromBegin = append(fromBegin, m.at.Sub(start))
			fromEnd = append(fromEnd, m.at.Sub(written))
		}
	}
	took := time.Since(begun).Seconds()
	report(b, "begin", fromBegin)
	report(b, "end", fromEnd)
	b.ReportMetric(each, "B/watcher")
	b.ReportMetric(alone, "B/watcher-without-gRPC")
	b.ReportMetric(float64(counted.queries.Load())/float64(n), "queries/change")
	b.ReportMetric(float64(counted.gets.Load())/took, "gets/s")
	b.ReportMetric(float64(counted.keys.Load())/took, "keys/s")
}

// watchAlone returns the memory of a watcher and its goroutine without gRPC.
func watchAlone(b *testing.B, s *watchServer, all []*testRun) float64 {
	ctx, cancel := context.WithCancel(b.Context())
	var began, ended sync.WaitGroup
	before := memory()
	for range watchersEach {
		for _, p := range all {
			began.Add(1)
			w := &watchStream{now: time.Now, viewer: visibility.Viewer{Store: s.pages.logs.Store, Caller: organizer}}
			w.send = func(*assayv1.WatchRunResponse) error {
				began.Done()
				return nil
			}
			ended.Go(func() { _ = w.watch(ctx, s.watchedRuns, p.run.ID, time.Hour) })
		}
	}
	began.Wait()
	each := float64(memory()-before) / (benchRuns * watchersEach)
	cancel()
	ended.Wait()
	return each
}

// report adds the percentiles of latencies to what the benchmark reports.
func report(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	for _, p := range []int{50, 99} {
		b.ReportMetric(all[len(all)*p/100].Seconds()*1e3, fmt.Sprintf("ms-p%d-from-%s", p, name))
	}
}

// memory returns the heap and stacks in use after a garbage collection.
func memory() uint64 {
	time.Sleep(settlingTime)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
