package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/compute"
	"assay/shared/nightlytest"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"

	"pgregory.net/rapid"
)

// TestWatch_DeliversEachLineOnceInOrder writes any sequence of lines, ends and restarts, while clients come, break off and resume: each
// receives every line of both logs once and in order, versions in order, and the last one.
func TestWatch_DeliversEachLineOnceInOrder(t *testing.T) {
	for _, source := range []string{hooked, hookedDynamoDB, polledDynamoDB} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			f := newHubFixture(t, source, 10*time.Millisecond)
			nightlytest.Check(t, func(rt *rapid.T) { watchAnySequence(rt, f) })
		})
	}
}

func watchAnySequence(rt *rapid.T, f *hubFixture) {
	r := f.newRun()
	want := map[record.LogKind][]string{}
	clients := make([]*watchClient, 3)
	for i := range clients {
		clients[i] = r.client(organizer)
	}
	rt.Repeat(map[string]func(*rapid.T){
		"append": func(rt *rapid.T) {
			if r.run.State.Ended() {
				return
			}
			k := rapid.SampledFrom(record.LogKinds).Draw(rt, "log")
			n := rapid.SampledFrom([]int{1, 1, 2, 3, 3, 3, 90, 700}).Draw(rt, "lines")
			size := rapid.SampledFrom([]int{0, 0, 10, 10, 10, 500, 4000}).Draw(rt, "bytes")
			var texts []string
			for range min(n, 600_000/(size+1)) {
				texts = append(texts, fmt.Sprintf("%s %d%s", k, len(want[k])+len(texts), strings.Repeat("x", size)))
			}
			r.append(k, texts...)
			want[k] = append(want[k], texts...)
		},
		"change":  func(*rapid.T) { r.change(func(run *record.RunItem) { run.Label += "." }) },
		"extend":  func(*rapid.T) { r.write(func(*record.RunItem) {}) },
		"end":     func(*rapid.T) { r.setState(record.Failed) },
		"restart": func(*rapid.T) { r.setState(record.Running) },
		"seal":    func(rt *rapid.T) { r.seal(rt) },
		"come": func(rt *rapid.T) {
			c := rapid.SampledFrom(clients).Draw(rt, "client")
			if c.done != nil {
				if len(c.done) == 0 {
					return // it watches
				}
				_ = c.ends()
			}
			c.watch(rapid.IntRange(-1, 4).Draw(rt, "messages"))
		},
		"leave": func(rt *rapid.T) {
			if c := rapid.SampledFrom(clients).Draw(rt, "client"); c.done != nil {
				c.leave()
			}
		},
	})
	r.setState(record.Completed)
	for _, c := range clients {
		if c.done != nil {
			c.leave()
		}
		c.watch(-1)
		if err := c.ends(); err != nil {
			rt.Fatal(err)
		}
		if c.fault != "" || c.last.State != record.Completed || c.last.Version != r.run.Version {
			rt.Fatalf("%s; at the end %s, version %d of %d", c.fault, c.last.State, c.last.Version, r.run.Version)
		}
		for _, k := range record.LogKinds {
			if !slices.Equal(c.lines[k], want[k]) {
				rt.Fatalf("the %s log has %d lines, of which %d came", k, len(want[k]), len(c.lines[k]))
			}
		}
	}
}

func TestWatch_SkipsNoState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWatchedRun(t)
		c := r.watch(organizer)
		synctest.Wait()
		states := []record.RunState{record.Running, record.Queued, record.Running, record.Evaluating, record.Queued, record.Running,
			record.Evaluating, record.Completed}
		for _, s := range states[1:] {
			r.setState(s)
		}
		if err := c.ends(); err != nil || !slices.Equal(c.states, states) {
			t.Errorf("%v, want %v; %v", c.states, states, err)
		}
	})
}

func TestHub_ReadsTheStoreOnceForAllWatchers(t *testing.T) {
	const pollInterval, changes = time.Second, 10
	for source, most := range map[string]int64{hooked: 0, polled: 3 * changes} { // queries of the log
		synctest.Test(t, func(t *testing.T) {
			r := newHubFixture(t, source, pollInterval).newRun()
			counted := &countingStore{Store: r.hub.store}
			r.hub.store = counted
			clients := make([]*watchClient, 50)
			for i := range clients {
				clients[i] = r.watch(organizer)
			}
			synctest.Wait()
			counted.gets.Store(0)
			queries := counted.queries.Load()
			for n := range changes {
				r.append(record.ExecutionLog, "a line", "another")
				time.Sleep(pollInterval)
				synctest.Wait()
				for _, c := range clients {
					if len(c.lines[record.ExecutionLog]) != 2*n+2 {
						t.Fatalf("%s: %d lines after %d changes", source, len(c.lines[record.ExecutionLog]), n+1)
					}
				}
			}
			if n := counted.queries.Load() - queries; n > most {
				t.Errorf("%s: %d queries for %d watchers; want at most %d", source, n, len(clients), most)
			}
			if n := counted.gets.Load(); source == hooked && n > 0 {
				t.Errorf("%d reads of a run that the hook reports", n)
			}
			r.setState(record.Cancelled)
			for _, c := range clients {
				must(t, c.ends())
			}
		})
	}
}

// TestHub_DoesNotPollEndedRuns keeps the topic without a client.
func TestHub_DoesNotPollEndedRuns(t *testing.T) {
	r := newHubFixture(t, polled, time.Hour).newRun()
	topic := r.join(r.run.ID)
	defer r.leave(topic)
	if len(r.unfinished()) != 0 {
		t.Error("a run is polled that was not read yet")
	}
	topic.add(revisionOf(r.run))
	if keys := r.unfinished(); !slices.Equal(keys, []store.Key{r.run.Key()}) {
		t.Errorf("%v", keys)
	}
	r.setState(record.Completed)
	must(t, r.poll(t.Context()))
	if len(r.unfinished()) != 0 {
		t.Error("a run is polled that has ended")
	}
}

func TestWatch_SlowClientDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWatchedRun(t)
		slow, quick := r.client(organizer), r.client(organizer)
		slow.resume = make(chan struct{})
		slow.watch(-1)
		quick.watch(-1)
		synctest.Wait()
		const changes = 100
		for range changes {
			r.append(record.ExecutionLog, strings.Repeat("x", record.MaxLineBytes))
			synctest.Wait()
		}
		r.setState(record.Completed)
		if err := quick.ends(); err != nil || len(quick.versions) != changes+2 {
			t.Errorf("%d versions, %v", len(quick.versions), err)
		}
		close(slow.resume)
		if err := slow.ends(); err != nil || slow.fault != "" || len(slow.lines[record.ExecutionLog]) != changes {
			t.Errorf("%d lines, %s, %v", len(slow.lines[record.ExecutionLog]), slow.fault, err)
		}
		if n := len(slow.versions); n > maxRevisions+1 || slow.last.Version != r.run.Version {
			t.Errorf("%d versions were kept for it, the last %d of %d", n, slow.last.Version, r.run.Version)
		}
	})
}

// TestWatch_UnreadStreamsKeepNoPlaceInTheStore has three streams of one user that are far behind and that nobody reads. Two of them have
// the user's places in the store, which another user does not need to wait for, and which they give back.
func TestWatch_UnreadStreamsKeepNoPlaceInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWatchedRun(t)
		const lines = 100 // more than a topic keeps
		for range lines {
			r.append(record.ExecutionLog, strings.Repeat("x", record.MaxLineBytes))
		}
		r.setState(record.Completed)
		resume := make(chan struct{})
		var slow []*watchClient
		for range 3 {
			c := r.client(organizer)
			c.resume = resume
			c.watch(-1)
			slow = append(slow, c)
		}
		synctest.Wait()
		began := time.Now()
		if err := r.watch(owner).ends(); err != nil || time.Since(began) > 0 {
			t.Errorf("another user's stream ends after %v: %v", time.Since(began), err)
		}
		if err := r.watch(organizer).ends(); err != nil || time.Since(began) < storedReadTime || time.Since(began) > 2*storedReadTime {
			t.Errorf("the user's own next stream ends after %v: %v", time.Since(began), err)
		}
		time.Sleep(2 * storedReadTime)
		began = time.Now()
		var places []*compute.Slot
		for i := range allStoredReads {
			caller := compute.Caller{Name: string(rune('a' + i)), LoggedIn: true}
			slot, err := r.hub.storedReads.Acquire(t.Context(), caller, compute.Amount{Slots: 1})
			if err != nil || time.Since(began) > 0 {
				t.Fatalf("streams that nobody reads keep places: %v after %v", err, time.Since(began))
			}
			places = append(places, slot)
		}
		for _, slot := range places {
			slot.Release()
		}
		close(resume)
		for _, c := range slow {
			if err := c.ends(); err != nil || c.fault != "" || len(c.lines[record.ExecutionLog]) != lines {
				t.Errorf("%d lines, %s, %v", len(c.lines[record.ExecutionLog]), c.fault, err)
			}
		}
	})
}

func TestWatch_DeletionOfTheRunEndsTheStream(t *testing.T) {
	for _, source := range []string{hooked, hookedDynamoDB, polledDynamoDB} {
		r := newHubFixture(t, source, 5*time.Millisecond).newRun()
		c := r.watch(organizer)
		<-c.first
		r.Commit(new(records.Tx).Delete(r.run))
		if err := c.ends(); !errors.Is(err, visibility.Missing) {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestWatch_ResumesAfterTheMaximumDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWatchedRun(t)
		c := r.client(organizer)
		c.watchFor(-1, time.Minute)
		if err := c.ends(); !errors.Is(err, errResume) || c.messages != 1 {
			t.Errorf("after its duration: %v, %d messages", err, c.messages)
		}
		c.watch(-1)
		r.append(record.ExecutionLog, "line")
		synctest.Wait()
		if !slices.Equal(c.versions, []int64{1, 2}) {
			t.Errorf("versions %v", c.versions)
		}
		c.cancel()
		if err := c.ends(); !errors.Is(err, context.Canceled) {
			t.Errorf("after the client left: %v", err)
		}
	})
}

// laggingStore hides the chunks of logs from a number of queries, as DynamoDB may while it applies a transaction.
type laggingStore struct {
	store.Store
	hides atomic.Int64
}

func (l *laggingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if strings.HasPrefix(q.Partition, "RUN#") && l.hides.Add(-1) >= 0 {
		return nil, nil
	}
	return l.Store.Query(ctx, q)
}

func TestWatch_AwaitsLinesThatTheRunCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHubFixture(t, polled, time.Second).newRun()
		lagging := &laggingStore{Store: r.hub.store}
		lagging.hides.Store(4) // two for each look
		r.hub.store = lagging
		c := r.client(organizer)
		r.append(record.ExecutionLog, "line")
		c.watch(-1)
		time.Sleep(longestPause)
		synctest.Wait()
		if len(c.lines[record.ExecutionLog]) != 1 || lagging.hides.Load() >= 0 {
			t.Errorf("%v; %d queries are still to hide chunks", c.lines, lagging.hides.Load())
		}
		c.leave()
		r.Commit(new(records.Tx).DeleteKeys(record.LogKey(r.run.ID, record.ExecutionLog, 0)))
		again := r.watch(organizer)
		if err := again.ends(); err == nil || !strings.Contains(err.Error(), "misses line 0") {
			t.Errorf("a stream of an incomplete log ends with %v", err)
		}
	})
}
