package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/blob/directory"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
	"assay/shared/store/embedded"
	"assay/shared/visibility"
)

// places are where runs are written and how the hub hears of it: by the hook of the one store that all use, by the hook of
// this process's store beside which others could write, or only by asking, because another process writes.
var places = []string{"embedded", "dynamodb", "another process"}

// gallery is a hub that runs, beside the store that runs are written to.
type gallery struct {
	*hub
	writes store.Store
	clock  time.Time
}

type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newGallery(t testing.TB, place string, every time.Duration) *gallery {
	t.Helper()
	g := &gallery{clock: time.Now().Truncate(time.Second)}
	files, err := directory.Open(t.TempDir(), "http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(items []store.Item) { g.hub.changed(items) }
	var own store.Store
	switch place {
	case "embedded":
		s, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{OnChange: changed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		own, g.writes, every = s, s, 0
	default:
		s := dynamotest.Open(t, dynamotest.Start(t))
		own, g.writes = s, s
		if place == "dynamodb" {
			hooked := *s
			hooked.OnChange = changed
			g.writes = &hooked
		}
	}
	h := newHub(own, files, slog.New(slog.DiscardHandler), every)
	g.hub = h
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { h.run(ctx) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
		if len(g.topics) > 0 {
			t.Errorf("%d topics stay behind their watchers", len(g.topics))
		}
	})
	return g
}

// played is a run whose life a test plays.
type played struct {
	*gallery
	t   fatal
	run *record.RunItem
}

const (
	ownerID     = "owner"
	organizerID = "organizer"
)

// play makes a run that is worked on. Its owner and a member of its organizer are named so.
func (g *gallery) play(t fatal) *played {
	t.Helper()
	p := &played{gallery: g, t: t, run: &record.RunItem{Queue: record.QueueWorkers, Type: record.ImageType}}
	p.run.Meta = record.NewMeta(g.clock)
	p.run.State, p.run.TaskID, p.run.DatasetID, p.run.UserID = record.Running, record.NewID(g.clock), record.NewID(g.clock), ownerID
	p.run.Access.OrganizerID = record.NewID(g.clock)
	p.commit(new(records.Tx).Create(p.run).Create(&record.Reservation{Meta: record.NewMeta(g.clock), At: p.membership()}))
	return p
}

func (p *played) membership() store.Key {
	return record.MembershipKey(organizerID, p.run.Access.OrganizerID)
}

func (p *played) commit(tx *records.Tx) {
	p.t.Helper()
	if err := tx.Commit(context.Background(), p.writes); err != nil {
		p.t.Fatal(err)
	}
}

// change makes the next version of the run.
func (p *played) change(how func(*record.RunItem)) {
	p.t.Helper()
	next := *p.run
	how(&next)
	record.Touch(&next, p.clock)
	p.run = &next
	p.commit(new(records.Tx).Replace(p.run))
}

// end ends the run, or begins it again.
func (p *played) end(state record.RunState) {
	p.t.Helper()
	at := record.At(p.clock)
	p.change(func(r *record.RunItem) { r.State, r.QueuedAt, r.FinishedAt = state, &at, &at })
}

func (p *played) append(k record.LogKind, texts ...string) {
	p.t.Helper()
	lines := make([]record.LogLine, len(texts))
	for i, text := range texts {
		lines[i] = record.LogLine{Stream: record.StreamStderr, Text: text}
	}
	next, tx := *p.run, new(records.Tx)
	p.run = &next
	runlog.Append(tx, p.run, k, lines, p.clock)
	p.commit(tx.Replace(p.run))
}

func (p *played) seal() {
	p.t.Helper()
	if err := (runlog.Logs{Store: p.writes, Files: p.files}).Seal(context.Background(), p.clock, p.run.ID); err != nil {
		p.t.Fatal(err)
	}
	r, err := records.Get[record.RunItem](context.Background(), p.writes, store.Strong, p.run.Key())
	if err != nil {
		p.t.Fatal(err)
	}
	p.run = r
}

// carry writes the run without a change that is shown, as the heartbeats of a worker do, and what a task makes private.
func (p *played) carry(how func(*record.RunItem)) {
	p.t.Helper()
	next := *p.run
	how(&next)
	p.run = &next
	p.commit(new(records.Tx).Replace(p.run))
}

// watched returns the images of the run that are kept for those who watch it, by their order.
func (g *gallery) watched(runID string) (orders []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.topics[record.RunKey(runID).Partition]
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.revisions {
		orders = append(orders, m.order)
	}
	return orders
}

// client watches a run and notes what it was sent.
type client struct {
	caller access.Caller
	hub    *hub
	run    string

	mu       sync.Mutex
	came     chan struct{} // closed with each message
	token    string
	versions []int64
	states   []record.RunState
	tails    []string
	last     record.Run
	lines    map[record.LogKind][]string
	wrong    string // the first thing that came in a place where it must not
	messages int

	cut  context.CancelFunc
	done chan error
}

func (g *gallery) client(caller access.Caller, runID string) *client {
	return &client{caller: caller, hub: g.hub, run: runID, lines: map[record.LogKind][]string{}, came: make(chan struct{})}
}

var (
	errLost   = errors.New("the connection broke")
	organizer = access.Caller{ID: organizerID}
	owner     = access.Caller{ID: ownerID}
)

// watch begins to watch where the client is. After so many messages the connection breaks, if that is not negative.
func (c *client) watch(breaks int) { c.watchFor(breaks, time.Hour, time.Now) }

func (c *client) watchFor(breaks int, long time.Duration, now func() time.Time) {
	ctx, cut := context.WithCancel(context.Background())
	c.cut, c.done = cut, make(chan error, 1)
	w := &watcher{hub: c.hub, now: now, viewer: visibility.Viewer{Store: c.hub.store, Caller: c.caller}, servingPollInterval: time.Millisecond}
	if c.token != "" {
		var faults []string
		p, fields := parseToken(c.run, c.token)
		for _, f := range fields {
			faults = append(faults, f.Detail)
		}
		if len(faults) > 0 {
			c.done <- errors.New(faults[0])
			return
		}
		w.position = p
	}
	w.send = func(s watchUpdate) error {
		if breaks == 0 {
			return errLost
		}
		breaks--
		c.take(s)
		return nil
	}
	go func() { c.done <- w.watch(ctx, c.run, long) }()
}

func (c *client) take(s watchUpdate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages++
	c.token = s.token
	if r := s.run; r != nil {
		if n := len(c.versions); n > 0 && (r.Version < c.versions[n-1] || r.Version == c.versions[n-1] && slices.Equal(r.Diagnostics, c.last.Diagnostics)) {
			c.wrong = "a version that is not newer, and the same as before"
		}
		c.versions, c.states, c.last = append(c.versions, r.Version), append(c.states, r.State), *r
		c.tails = append(c.tails, r.LogTail)
	}
	for _, l := range s.lines {
		if int(l.number) != len(c.lines[l.kind]) {
			c.wrong = "a line out of order"
		}
		c.lines[l.kind] = append(c.lines[l.kind], l.Text)
	}
	close(c.came)
	c.came = make(chan struct{})
}

// ends waits until the watching ends.
func (c *client) ends(t fatal) error {
	t.Helper()
	select {
	case err := <-c.done:
		c.done <- err
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("the stream does not end: %v, %d messages", c.versions, c.messages)
		return nil
	}
}

// until waits until what came is enough.
func (c *client) until(t fatal, what string, enough func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		c.mu.Lock()
		ok, came := enough(), c.came
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-came:
		case err := <-c.done:
			t.Fatalf("waiting for %s, the stream ended: %v", what, err)
		case <-deadline:
			t.Fatalf("waiting for %s: %v, %v", what, c.versions, c.states)
		}
	}
}

// sees waits until the client has seen the version.
func (c *client) sees(t fatal, version int64) {
	t.Helper()
	c.until(t, "a version", func() bool { return len(c.versions) > 0 && c.versions[len(c.versions)-1] >= version })
}
