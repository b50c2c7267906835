package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"

	"pgregory.net/rapid"
)

// TestEveryLineComesOnceWhateverHappens plays a run with any sequence of lines, ends and new beginnings, while clients come,
// break off anywhere and come again: each gets every line of both logs once and in order, versions in order, and the last one.
func TestEveryLineComesOnceWhateverHappens(t *testing.T) {
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			g := newGallery(t, place, 10*time.Millisecond)
			rapid.Check(t, func(rt *rapid.T) { playAny(rt, g) })
		})
	}
}

func playAny(rt *rapid.T, g *gallery) {
	p := g.play(rt)
	want := map[record.LogKind][]string{}
	clients := make([]*client, 3)
	for i := range clients {
		clients[i] = g.client(organizer, p.run.ID)
	}
	rt.Repeat(map[string]func(*rapid.T){
		"append": func(rt *rapid.T) {
			if p.run.State.Ended() {
				return
			}
			k, n := rapid.SampledFrom(record.LogKinds).Draw(rt, "log"), rapid.SampledFrom([]int{1, 1, 2, 3, 3, 3, 90, 700}).Draw(rt, "lines")
			size := rapid.SampledFrom([]int{0, 0, 10, 10, 10, 500, 4000}).Draw(rt, "bytes")
			var texts []string
			for range min(n, 600_000/(size+1)) {
				texts = append(texts, fmt.Sprintf("%s %d%s", k, len(want[k])+len(texts), strings.Repeat("x", size)))
			}
			p.append(k, texts...)
			want[k] = append(want[k], texts...)
		},
		"change": func(*rapid.T) { p.change(func(r *record.RunItem) { r.Label += "." }) },
		"extend": func(*rapid.T) { p.carry(func(*record.RunItem) {}) },
		"end":    func(*rapid.T) { p.end(record.Failed) },
		"again":  func(*rapid.T) { p.end(record.Running) },
		"seal":   func(*rapid.T) { p.seal() },
		"come": func(rt *rapid.T) {
			c := rapid.SampledFrom(clients).Draw(rt, "client")
			if c.done != nil {
				if len(c.done) == 0 {
					return // it watches
				}
				_ = c.ends(rt)
			}
			c.watch(rapid.IntRange(-1, 4).Draw(rt, "messages"))
		},
		"go": func(rt *rapid.T) {
			if c := rapid.SampledFrom(clients).Draw(rt, "client"); c.done != nil {
				c.cut()
				_ = c.ends(rt)
			}
		},
	})
	p.end(record.Completed)
	for _, c := range clients {
		if c.done != nil {
			c.cut()
			_ = c.ends(rt)
		}
		c.watch(-1)
		if err := c.ends(rt); err != nil {
			rt.Fatal(err)
		}
		if c.wrong != "" || c.last.State != record.Completed || c.last.Version != p.run.Version {
			rt.Fatalf("%s; at the end %s, version %d of %d", c.wrong, c.last.State, c.last.Version, p.run.Version)
		}
		for _, k := range record.LogKinds {
			if !slices.Equal(c.lines[k], want[k]) {
				rt.Fatalf("the %s log has %d lines, of which %d came", k, len(want[k]), len(c.lines[k]))
			}
		}
	}
}

// TestNoStateIsSkipped changes a run faster than anybody could ask.
func TestNoStateIsSkipped(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	c := g.client(organizer, p.run.ID)
	c.watch(-1)
	c.sees(t, 1)
	states := []record.RunState{record.Running, record.Queued, record.Running, record.Evaluating, record.Queued, record.Running, record.Evaluating, record.Completed}
	for _, s := range states[1:] {
		p.end(s)
	}
	if err := c.ends(t); err != nil || !slices.Equal(c.states, states) {
		t.Errorf("%v, want %v; %v", c.states, states, err)
	}
}

// TestTheStoreIsReadOnceForAll has many who watch one run, which is written here and then elsewhere.
func TestTheStoreIsReadOnceForAll(t *testing.T) {
	for _, tt := range []struct {
		place string
		logs  int64 // calls for the log, by all together
	}{{"embedded", 0}, {"another process", 3 * 10}} {
		t.Run(tt.place, func(t *testing.T) {
			g := newGallery(t, tt.place, 5*time.Millisecond)
			p := g.play(t)
			counted := &counting{Store: g.store}
			g.store = counted
			clients := make([]*client, 50)
			for i := range clients {
				clients[i] = g.client(organizer, p.run.ID)
				clients[i].watch(-1)
				clients[i].sees(t, 1)
			}
			counted.gets.Store(0)
			queries := counted.queries.Load()
			for n := range 10 {
				p.append(record.ExecutionLog, "a line", "another")
				for _, c := range clients {
					c.until(t, "lines", func() bool { return len(c.lines[record.ExecutionLog]) == 2*n+2 })
				}
			}
			if n := counted.queries.Load() - queries; n > tt.logs {
				t.Errorf("%d queries for 10 times two lines to 50 watchers; want at most %d", n, tt.logs)
			}
			if n := counted.gets.Load(); tt.place == "embedded" && n > 0 {
				t.Errorf("%d reads of runs that were told of", n)
			}
			p.end(record.Cancelled)
			for _, c := range clients {
				if err := c.ends(t); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestAnEndedRunIsNotPolled has a client who does not take what comes, so that the topic stays.
func TestAnEndedRunIsNotPolled(t *testing.T) {
	g := newGallery(t, "another process", time.Hour)
	p := g.play(t)
	topic := g.join(p.run.ID)
	defer g.leave(topic)
	if len(g.unfinished()) != 0 {
		t.Error("a run is polled that nobody knows to be there")
	}
	topic.add(revisionOf(p.run))
	if keys := g.unfinished(); !slices.Equal(keys, []store.Key{p.run.Key()}) {
		t.Errorf("%v", keys)
	}
	p.end(record.Completed)
	if err := g.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(g.unfinished()) != 0 {
		t.Error("a run is polled that has ended")
	}
}

func TestASlowWatcherHoldsUpNobody(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	slow, quick := g.client(organizer, p.run.ID), g.client(organizer, p.run.ID)
	wake := make(chan struct{})
	slow.mu.Lock() // so that it does not take its first message
	go func() {
		<-wake
		slow.mu.Unlock()
	}()
	slow.watch(-1)
	quick.watch(-1)
	quick.sees(t, 1)
	const changes = 100
	for n := range changes {
		p.append(record.ExecutionLog, strings.Repeat("x", record.MaxLineBytes))
		quick.sees(t, int64(n)+2)
	}
	p.end(record.Completed)
	if err := quick.ends(t); err != nil || len(quick.versions) != changes+2 {
		t.Errorf("%d versions, %v", len(quick.versions), err)
	}
	close(wake)
	if err := slow.ends(t); err != nil || slow.wrong != "" || len(slow.lines[record.ExecutionLog]) != changes {
		t.Errorf("%d lines, %s, %v", len(slow.lines[record.ExecutionLog]), slow.wrong, err)
	}
	if n := len(slow.versions); n > maxRevisions+1 || slow.last.Version != p.run.Version {
		t.Errorf("%d versions were kept for it, the last %d of %d", n, slow.last.Version, p.run.Version)
	}
}

func TestADeletedRunEndsTheStream(t *testing.T) {
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			g := newGallery(t, place, 5*time.Millisecond)
			p := g.play(t)
			c := g.client(organizer, p.run.ID)
			c.watch(-1)
			c.sees(t, 1)
			p.commit(new(records.Tx).Delete(p.run))
			if err := c.ends(t); !errors.Is(err, visibility.Missing) {
				t.Error(err)
			}
		})
	}
}

func TestAStreamIsTakenUpAgain(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	c := g.client(organizer, p.run.ID)
	c.watchFor(-1, 50*time.Millisecond, time.Now)
	if err := c.ends(t); !errors.Is(err, errResume) || c.messages != 1 {
		t.Errorf("a stream that has lasted: %v after %d messages", err, c.messages)
	}
	c.watch(-1)
	p.append(record.ExecutionLog, "line")
	c.sees(t, 2)
	if !slices.Equal(c.versions, []int64{1, 2}) {
		t.Errorf("%v: a version came again", c.versions)
	}
	c.cut()
	if err := c.ends(t); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who leaves: %v", err)
	}
}

// late hides the chunks of logs from a number of queries, as who reads while DynamoDB applies a transaction may miss them.
type late struct {
	store.Store
	hides atomic.Int64
}

func (l *late) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	if strings.HasPrefix(q.Partition, "RUN#") && l.hides.Add(-1) >= 0 {
		return nil, nil
	}
	return l.Store.Query(ctx, q)
}

func TestALineThatIsNotThereYetIsAwaited(t *testing.T) {
	g := newGallery(t, "another process", 5*time.Millisecond)
	p := g.play(t)
	hiding := &late{Store: g.store}
	g.store = hiding
	hiding.hides.Store(4) // each look takes two
	c := g.client(organizer, p.run.ID)
	p.append(record.ExecutionLog, "line")
	c.watch(-1)
	c.until(t, "the line", func() bool { return len(c.lines[record.ExecutionLog]) == 1 })
	if hiding.hides.Load() >= 0 {
		t.Error("nothing was hidden")
	}
	c.cut()
	_ = c.ends(t)
	p.commit(new(records.Tx).DeleteKey(record.LogKey(p.run.ID, record.ExecutionLog, 0)))
	again := g.client(organizer, p.run.ID)
	again.watch(-1)
	if err := again.ends(t); err == nil || !strings.Contains(err.Error(), "misses line 0") {
		t.Errorf("a stream of a log that is not whole ends with %v", err)
	}
}
