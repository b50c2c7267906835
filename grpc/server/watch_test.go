package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/compute"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// TestWatch_DeliversEachLineOnceInOrder writes any sequence of lines, ends and restarts, while clients come, break off and resume: each
// receives every line of both logs once and in order, versions in order, and the last one.
func TestWatch_DeliversEachLineOnceInOrder(t *testing.T) {
	for _, source := range []string{hooked, hookedDynamoDB, polledDynamoDB} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			f := newWatchFixture(t, source, 10*time.Millisecond)
			nightlytest.Check(t, func(rt *rapid.T) { watchAnySequence(rt, f) })
		})
	}
}

func watchAnySequence(rt *rapid.T, f *watchFixture) {
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
		if c.fault != "" || c.last.GetState() != assayv1.RunState_RUN_STATE_COMPLETED || c.last.GetVersion() != r.run.Version {
			rt.Fatalf("%s; at the end %s, version %d of %d", c.fault, c.last.GetState(), c.last.GetVersion(), r.run.Version)
		}
		for _, k := range record.LogKinds {
			if !slices.Equal(c.lines[k], want[k]) {
				rt.Fatalf("the %s log has %d lines, of which %d came", k, len(want[k]), len(c.lines[k]))
			}
		}
	}
}

// TestWatch_SendsEachChangeAtOnce changes the run as soon as the client has the change before.
func TestWatch_SendsEachChangeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		began := time.Now()
		c := r.watch(organizer)
		synctest.Wait()
		changes := []record.RunState{record.Running, record.Queued, record.Running, record.Evaluating, record.Queued, record.Running,
			record.Evaluating, record.Completed}
		for _, state := range changes[1:] {
			r.setState(state)
			synctest.Wait()
		}
		if err := c.ends(); err != nil || !slices.Equal(c.states, changes) || time.Since(began) > 0 {
			t.Errorf("%v after %v, want %v; %v", c.states, time.Since(began), changes, err)
		}
	})
}

// TestWatch_SeesWritesOfOtherProcessesWithinASecond opens two streams that read the run at different times. One of them always finds that
// the other has just read it.
func TestWatch_SeesWritesOfOtherProcessesWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWatchFixture(t, polled, watchInterval).newRun()
		first := r.watch(organizer)
		time.Sleep(600 * time.Millisecond)
		second := r.watch(owner)
		time.Sleep(watchInterval + time.Millisecond)
		r.setState(record.Evaluating)
		time.Sleep(watchInterval)
		synctest.Wait()
		for _, c := range []*watchClient{first, second} {
			if !slices.Equal(c.states, []record.RunState{record.Running, record.Evaluating}) {
				t.Errorf("after %s a stream has sent %v", watchInterval, c.states)
			}
		}
		r.setState(record.Completed)
		must(t, first.ends())
		must(t, second.ends())
	})
}

// TestWatch_ReadsTheStoreOnceForAllStreams opens streams of many users. Each user has a share of the reads.
func TestWatch_ReadsTheStoreOnceForAllStreams(t *testing.T) {
	const streams, changes = 50, 10
	for _, source := range []string{hooked, polled} {
		synctest.Test(t, func(t *testing.T) {
			r := newWatchFixture(t, source, watchInterval).newRun()
			r.change(func(run *record.RunItem) { run.Access.Public, run.Access.Published = true, true })
			counted := &countingStore{Store: r.Store}
			r.setReads(counted)
			clients := make([]*watchClient, streams)
			for i := range clients {
				clients[i] = r.watch(access.Caller{ID: recordtest.UserID(fmt.Sprint(i))})
			}
			synctest.Wait()
			counted.gets.Store(0)
			counted.queries.Store(0)
			for n := range changes {
				r.append(record.ExecutionLog, "a line", "another")
				time.Sleep(watchInterval)
				synctest.Wait()
				for _, c := range clients {
					if len(c.lines[record.ExecutionLog]) != 2*n+2 {
						t.Fatalf("%s: %d lines after %d changes", source, len(c.lines[record.ExecutionLog]), n+1)
					}
				}
			}
			if gets, queries := counted.gets.Load(), counted.queries.Load(); gets > 3*changes || queries > changes {
				t.Errorf("%s: %d reads of the run and its dataset, and %d of the log, for %d changes and %d streams", source, gets, queries,
					changes, streams)
			}
			r.setState(record.Cancelled)
			for _, c := range clients {
				must(t, c.ends())
			}
		})
	}
}

func TestWatch_SlowClientDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
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
		if n := len(slow.versions); n != 2 || slow.last.GetVersion() != r.run.Version {
			t.Errorf("it received %d versions, the last %d of %d; want the first and the last", n, slow.last.GetVersion(), r.run.Version)
		}
	})
}

// TestWatch_UnreadStreamsKeepNothing opens three unread streams of one user in the middle of a long log. They keep neither a turn
// to read the store nor a page, and continue when the page has been forgotten.
func TestWatch_UnreadStreamsKeepNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		const lines = 100 // of several pages
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
		for _, caller := range []access.Caller{owner, organizer} {
			if err := r.watch(caller).ends(); err != nil || time.Since(began) > 0 {
				t.Errorf("another stream ends after %v: %v", time.Since(began), err)
			}
		}
		for _, page := range r.pages.kept.Values() {
			if len(page) > 1+maxPageBytes/record.MaxLineBytes {
				t.Errorf("a page of %d lines of %d bytes is kept", len(page), record.MaxLineBytes)
			}
		}
		r.pages.kept.Purge()
		close(resume)
		for _, c := range slow {
			if err := c.ends(); err != nil || c.fault != "" || len(c.lines[record.ExecutionLog]) != lines {
				t.Errorf("%d lines, %s, %v", len(c.lines[record.ExecutionLog]), c.fault, err)
			}
		}
	})
}

// TestWatch_ReadsTheStoreInTurn keeps all turns of a user. The user's next stream waits for one, and another user's stream does not.
func TestWatch_ReadsTheStoreInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		r.append(record.ExecutionLog, "line")
		r.setState(record.Completed)
		var turns []*compute.Slot
		for range userPageReads {
			slot, err := r.pages.reads.Acquire(t.Context(), compute.Caller{Name: organizer.ID, LoggedIn: true}, compute.Amount{Slots: 1})
			must(t, err)
			turns = append(turns, slot)
		}
		began := time.Now()
		if err := r.watch(organizer).ends(); !errors.Is(err, errBusy) || time.Since(began) != pageReadWait {
			t.Errorf("a stream without a turn ends after %v with %v", time.Since(began), err)
		}
		c := r.watch(organizer)
		synctest.Wait()
		turns[0].Release()
		began = time.Now()
		if err := c.ends(); err != nil || len(c.lines[record.ExecutionLog]) != 1 || time.Since(began) > 0 {
			t.Errorf("after a turn became free: %v, %d lines", err, len(c.lines[record.ExecutionLog]))
		}
		r.pages.kept.Purge()
		slot, err := r.pages.reads.Acquire(t.Context(), compute.Caller{Name: organizer.ID, LoggedIn: true}, compute.Amount{Slots: 1})
		must(t, err)
		defer slot.Release()
		defer turns[1].Release()
		if err := r.watch(owner).ends(); err != nil || time.Since(began) > 0 {
			t.Errorf("another user's stream ends after %v: %v", time.Since(began), err)
		}
	})
}

func TestWatch_DeletionOfTheRunEndsTheStream(t *testing.T) {
	for _, source := range []string{hooked, hookedDynamoDB, polledDynamoDB} {
		r := newWatchFixture(t, source, 5*time.Millisecond).newRun()
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
		r := newTestRun(t)
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
