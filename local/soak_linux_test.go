//go:build soak

package main

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/storage/store/storetest"

	"golang.org/x/time/rate"
)

// The duration of the soak. ASSAY_SOAK sets a longer duration, such as 20m.
const (
	soakVariable = "ASSAY_SOAK"
	soakShort    = 6 * time.Second
)

const (
	soakClients  = 12
	soakShare    = 0.7         // load as a share of the capacity
	soakPatience = time.Minute // time after a fault for which requests may be refused
)

// TestServer_KeepsWhatItAcknowledgesInASoak sends a mixed load at 70 % of the server's capacity, which it measures first. Meanwhile the
// server is killed, its disk is full or slow, its clock jumps, its issuer does not answer, and its object store fails. A model has all
// acknowledged changes. In the end the test compares the whole state with the model, before and after one more kill. Memory, open files
// and goroutines must not grow from some time after the last kill until the end of the load.
func TestServer_KeepsWhatItAcknowledgesInASoak(t *testing.T) {
	duration := soakShort
	if s := os.Getenv(soakVariable); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	s := newSoak(t, min(max(duration/40, 150*time.Millisecond), 10*time.Second))
	began := time.Now()
	stop := s.load()
	capacity := s.measure(duration / 10)
	s.limit.SetLimit(rate.Limit(soakShare * capacity))
	s.disrupt(s.faults, duration*5/10)
	others, part := s.faults[1:], duration*2/10 // without the kill
	s.disrupt(others, part)
	before := s.resources()
	s.disrupt(others, part)
	after := s.resources()
	stop()
	t.Logf("%.0f requests a second are the capacity; %d were answered in %v, at %.0f a second at most, over the faults %v", capacity,
		s.done.Load(), time.Since(began).Round(time.Second), soakShare*capacity, s.applied)
	errors, races := s.server.log.counts()
	t.Logf("acknowledged: %v; sent again: %d; errors in the log: %d", s.acknowledged(), s.asked.Load(), errors)
	if races > 0 {
		t.Errorf("the race detector reports %d races in the server", races)
	}
	t.Logf("at rest: %v; after %v more of load: %v", before, part, after)
	after.checkGrowth(t, before)
	s.verify()
	s.server.kill(t)
	s.server.start(t)
	s.verify()
	if t.Failed() {
		t.Logf("the server logged last:\n%.8000s", &s.server.log)
	}
}

// measure returns the number of requests per second that the server answers if the clients wait only for its answers.
func (s *soak) measure(d time.Duration) float64 {
	first, began := s.done.Load(), time.Now()
	time.Sleep(d)
	return float64(s.done.Load()-first) / time.Since(began).Seconds()
}

// load lets all clients send requests until stop is called.
func (s *soak) load() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	for _, c := range s.clients {
		clients.Go(func() { c.run(ctx) })
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

// settle waits until every run has ended.
func (s *soak) settle() {
	s.t.Helper()
	server, began := s.server.server(), time.Now()
	for _, c := range s.clients {
		for _, task := range c.tasks {
			server.awaitRuns(s.t, c.organizer, task.path)
		}
	}
	s.t.Logf("every run had ended %v after the load", time.Since(began).Round(10*time.Millisecond))
}

func newSoak(t *testing.T, span time.Duration) *soak {
	t.Helper()
	s := &soak{t: t, server: newServerProcess(t), random: storetest.Random(t), limit: rate.NewLimiter(rate.Inf, 1), applied: map[string]int{},
		span: span}
	s.issuer = issuertest.Start(t, audience)
	s.server.args += " -issuer " + s.issuer.URL + " -audience " + audience + " -quotas " + soakQuotas + " -rates " + soakRates
	s.objects = newSoakObjects(t, s.random)
	s.server.args += s.objects.flags
	s.ops = opsAddress(t, s.server)
	s.faults = s.allFaults()
	s.server.start(t)
	for n := range soakClients {
		s.clients = append(s.clients, newSoakClient(s, n))
	}
	return s
}
