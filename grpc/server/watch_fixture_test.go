package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/compute"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/records"
	"assay/shared/runlog"
	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
	"assay/shared/store/embedded"
	"assay/shared/visibility"

	"pgregory.net/rapid"
)

// How a hub learns of writes: by the hook of the embedded store, by that of DynamoDB, or by polling, because another process writes.
const (
	hooked         = "embedded"
	polled         = "embedded, polled"
	hookedDynamoDB = "dynamodb"
	polledDynamoDB = "another process"
)

// hubFixture is a hub that runs, and a dataset in the store to which runs are written.
type hubFixture struct {
	*hub
	*recordtest.Builder
	dataset  *recordtest.Dataset
	notified atomic.Pointer[hub] // of what is written; nil while the hub is made
}

func newHubFixture(t testing.TB, source string, pollInterval time.Duration) *hubFixture {
	t.Helper()
	f := &hubFixture{}
	changed := func(items []store.Item) {
		if h := f.notified.Load(); h != nil {
			h.changed(items)
		}
	}
	var reads, writes store.Store
	switch source {
	case hooked:
		reads = recordtest.OpenStore(t, embedded.Options{OnChange: changed})
		pollInterval = 0
		writes = reads
	case polled:
		reads = recordtest.OpenStore(t, embedded.Options{})
		writes = reads
	default:
		s := dynamotest.Open(t, dynamotest.Start(t))
		reads, writes = s, s
		if source == hookedDynamoDB {
			withHook := *s
			withHook.OnChange = changed
			writes = &withHook
		}
	}
	f.Builder = recordtest.New(t, writes)
	now := time.Now().Truncate(time.Second)
	f.Now = func() time.Time { return now }
	f.dataset = f.Task().Dataset()
	h := newHub(reads, recordtest.OpenFiles(t), slog.New(slog.DiscardHandler), pollInterval)
	f.use(h)
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { h.run(ctx) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
		if len(f.topics) > 0 {
			t.Errorf("%d topics stay without watchers", len(f.topics))
		}
	})
	return f
}

// use has the hub be notified of what is written.
func (f *hubFixture) use(h *hub) {
	f.hub = h
	f.notified.Store(h)
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// watchedRun is a run that a test writes.
type watchedRun struct {
	*hubFixture
	run *record.RunItem
}

// newRun makes a run of the owner that is executed.
func (f *hubFixture) newRun() *watchedRun {
	return &watchedRun{f, f.dataset.Run("ann", recordtest.OfImage, recordtest.InState(record.Running)).RunItem}
}

// newWatchedRun makes a run in a store of its own, whose hook notifies the hub.
func newWatchedRun(t testing.TB) *watchedRun {
	t.Helper()
	return newHubFixture(t, hooked, 0).newRun()
}

// write writes the run without a new version, as heartbeats do.
func (r *watchedRun) write(alter func(*record.RunItem)) {
	next := *r.run
	alter(&next)
	r.run = &next
	r.Replace(r.run)
}

// change writes the next version of the run.
func (r *watchedRun) change(alter func(*record.RunItem)) {
	r.write(func(run *record.RunItem) {
		alter(run)
		record.Touch(run, r.Now())
	})
}

func (r *watchedRun) setState(state record.RunState) {
	at := record.At(r.Now())
	r.change(func(run *record.RunItem) {
		run.State = state
		run.QueuedAt = &at
		run.FinishedAt = &at
	})
}

func (r *watchedRun) append(k record.LogKind, texts ...string) {
	lines := make([]record.LogLine, len(texts))
	for i, text := range texts {
		lines[i] = record.LogLine{Stream: record.StreamStderr, Text: text}
	}
	next, tx := *r.run, new(records.Tx)
	r.run = &next
	runlog.Append(tx, r.run, k, lines, r.Now())
	r.Commit(tx.Replace(r.run))
}

func (r *watchedRun) seal(t rapid.TB) {
	t.Helper()
	must(t, (runlog.Logs{Store: r.Builder.Store, Files: r.files}).Seal(context.Background(), r.Now(), r.run.ID))
	r.run = recordtest.Get[record.RunItem](t, r.Builder.Store, r.run.Key())
}

// watchClient watches a run, and records what it receives.
type watchClient struct {
	caller access.Caller
	hub    *hub
	run    string
	first  chan struct{} // closed with the first message
	resume chan struct{} // closed to let the client receive; nil: it receives at once

	mu       sync.Mutex // while a message is received
	token    string
	versions []int64
	states   []record.RunState
	tails    []string
	last     record.Run
	lines    map[record.LogKind][]string
	fault    string // in the order of messages
	messages int

	cancel context.CancelFunc
	done   chan error
}

func (r *watchedRun) client(caller access.Caller) *watchClient {
	return &watchClient{caller: caller, hub: r.hub, run: r.run.ID, lines: map[record.LogKind][]string{}, first: make(chan struct{})}
}

// watch has the caller watch the run until it ends.
func (r *watchedRun) watch(caller access.Caller) *watchClient {
	c := r.client(caller)
	c.watch(-1)
	return c
}

var (
	errLost   = errors.New("the connection broke")
	organizer = access.Caller{ID: recordtest.UserID(recordtest.OrganizerUser)}
	owner     = access.Caller{ID: recordtest.UserID("ann")}
)

// watch watches from the last token on. The connection breaks after the number of messages, unless that is negative.
func (c *watchClient) watch(messages int) { c.watchFor(messages, time.Hour) }

func (c *watchClient) watchFor(messages int, d time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.done = cancel, make(chan error, 1)
	w := &watcher{hub: c.hub, now: time.Now, viewer: visibility.Viewer{Store: c.hub.store, Caller: c.caller},
		caller: compute.Caller{Name: c.caller.ID, LoggedIn: true}, servingPollInterval: time.Second}
	if c.token != "" {
		p, faults := parseToken(c.run, c.token)
		if len(faults) > 0 {
			c.done <- errors.New(faults[0].Detail)
			return
		}
		w.position = p
	}
	w.send = func(update watchUpdate) error {
		if messages == 0 {
			return errLost
		}
		messages--
		c.receive(update)
		return nil
	}
	go func() { c.done <- w.watch(ctx, c.run, d) }()
}

func (c *watchClient) receive(update watchUpdate) {
	if c.resume != nil {
		<-c.resume
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages++
	if c.messages == 1 {
		close(c.first)
	}
	c.token = update.token
	if r := update.run; r != nil {
		if n := len(c.versions); n > 0 && (r.Version < c.versions[n-1] || r.Version == c.versions[n-1] &&
			slices.Equal(r.Diagnostics, c.last.Diagnostics)) {
			c.fault = "a version that is not newer, and the same as before"
		}
		c.versions = append(c.versions, r.Version)
		c.states = append(c.states, r.State)
		c.last = *r
		c.tails = append(c.tails, r.LogTail)
	}
	for _, l := range update.lines {
		if int(l.number) != len(c.lines[l.kind]) {
			c.fault = "a line out of order"
		}
		c.lines[l.kind] = append(c.lines[l.kind], l.Text)
	}
}

// shown is the run as the client was shown it last.
func (c *watchClient) shown() record.Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// ends returns how watching ended, once it has.
func (c *watchClient) ends() error {
	err := <-c.done
	c.done <- err
	return err
}

// leave ends watching by the client.
func (c *watchClient) leave() {
	c.cancel()
	_ = c.ends()
}

// countingStore counts calls of a store.
type countingStore struct {
	store.Store
	gets, keys, queries atomic.Int64
}

func (c *countingStore) Get(ctx context.Context, k store.Consistency, keys ...store.Key) ([]store.Item, error) {
	c.gets.Add(1)
	c.keys.Add(int64(len(keys)))
	return c.Store.Get(ctx, k, keys...)
}

func (c *countingStore) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	c.queries.Add(1)
	return c.Store.Query(ctx, q)
}
