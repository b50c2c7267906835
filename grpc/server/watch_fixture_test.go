package server

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/compute"
	"assay/shared/service/records"
	"assay/shared/service/runlog"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// How streams learn of writes: by the hook of the embedded store, by the hook of DynamoDB, or by reading the run in an interval, because
// another process writes.
const (
	hooked         = "embedded"
	polled         = "embedded, polled"
	hookedDynamoDB = "dynamodb"
	polledDynamoDB = "another process"
)

// watchFixture has watched runs, and a dataset in the store to which runs are written.
type watchFixture struct {
	*watchedRuns
	*recordtest.Builder
	dataset  *recordtest.Dataset
	notified atomic.Pointer[watchedRuns] // of each write; nil in the beginning
}

func newWatchFixture(t testing.TB, source string, interval time.Duration) *watchFixture {
	t.Helper()
	f := &watchFixture{}
	changed := func(items []store.Item) {
		if w := f.notified.Load(); w != nil {
			w.changed(items)
		}
	}
	var reads, writes store.Store
	switch source {
	case hooked:
		reads = recordtest.OpenStore(t, embedded.Options{OnChange: changed})
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
	f.use(newWatchedRuns(runlog.Logs{Store: reads, Files: recordtest.OpenFiles(t)}), interval)
	t.Cleanup(func() {
		if len(f.by) > 0 {
			t.Errorf("%d runs stay without streams", len(f.by))
		}
	})
	return f
}

// use makes the fixture notify w of each write.
func (f *watchFixture) use(w *watchedRuns, interval time.Duration) {
	w.interval = interval
	f.watchedRuns = w
	f.notified.Store(w)
}

// setReads replaces the store from which streams read.
func (f *watchFixture) setReads(s store.Store) { f.pages.logs.Store = s }

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testRun is a run that a test writes.
type testRun struct {
	*watchFixture
	run *record.RunItem
}

// newRun makes a run of the owner that is executed.
func (f *watchFixture) newRun() *testRun {
	return &testRun{f, f.dataset.Run("ann", recordtest.OfImage, recordtest.InState(record.Running)).RunItem}
}

// newTestRun makes a run in a store of its own, whose hook wakes streams.
func newTestRun(t testing.TB) *testRun {
	t.Helper()
	return newWatchFixture(t, hooked, watchInterval).newRun()
}

// write writes the run without a new version, as heartbeats do.
func (r *testRun) write(alter func(*record.RunItem)) {
	next := *r.run
	alter(&next)
	r.run = &next
	r.Replace(r.run)
}

// change writes the next version of the run.
func (r *testRun) change(alter func(*record.RunItem)) {
	r.write(func(run *record.RunItem) {
		alter(run)
		record.Touch(run, r.Now())
	})
}

func (r *testRun) setState(state record.RunState) {
	at := record.At(r.Now())
	r.change(func(run *record.RunItem) {
		run.State = state
		run.QueuedAt = &at
		run.FinishedAt = &at
	})
}

func (r *testRun) append(k record.LogKind, texts ...string) {
	lines := make([]record.LogLine, len(texts))
	for i, text := range texts {
		lines[i] = record.LogLine{Stream: record.StreamStderr, Text: text}
	}
	next, tx := *r.run, new(records.Tx)
	r.run = &next
	runlog.Append(tx, r.run, k, lines, r.Now())
	r.Commit(tx.Replace(r.run))
}

func (r *testRun) seal(t rapid.TB) {
	t.Helper()
	must(t, (runlog.Logs{Store: r.Builder.Store, Files: r.pages.logs.Files}).Seal(context.Background(), r.Now(), r.run.ID))
	r.run = recordtest.Get[record.RunItem](t, r.Builder.Store, r.run.Key())
}

// watchClient watches a run, and records what it receives.
type watchClient struct {
	caller access.Caller
	all    *watchedRuns
	run    string
	first  chan struct{} // closed with the first message
	resume chan struct{} // closed to let the client receive; nil: it receives at once

	mu       sync.Mutex // while a message is received
	token    string
	versions []int64
	states   []record.RunState
	tails    []string
	last     *assayv1.Run
	lines    map[record.LogKind][]string
	fault    string // in the order of messages
	messages int

	cancel context.CancelFunc
	done   chan error
}

func (r *testRun) client(caller access.Caller) *watchClient {
	return &watchClient{caller: caller, all: r.watchedRuns, run: r.run.ID, lines: map[record.LogKind][]string{}, first: make(chan struct{})}
}

// watch makes the caller watch the run until it ends.
func (r *testRun) watch(caller access.Caller) *watchClient {
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
	s := &watchStream{now: time.Now, viewer: visibility.Viewer{Store: c.all.pages.logs.Store, Caller: c.caller},
		caller: compute.Caller{Name: c.caller.ID, LoggedIn: true}}
	if c.token != "" {
		p, faults := parseToken(c.run, c.token)
		if len(faults) > 0 {
			c.done <- errors.New(faults[0].Detail)
			return
		}
		s.position = p
	}
	s.send = func(m *assayv1.WatchRunResponse) error {
		if messages == 0 {
			return errLost
		}
		messages--
		c.receive(m)
		return nil
	}
	go func() { c.done <- s.watch(ctx, c.all, c.run, d) }()
}

func (c *watchClient) receive(m *assayv1.WatchRunResponse) {
	if c.resume != nil {
		<-c.resume
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages++
	if c.messages == 1 {
		close(c.first)
	}
	c.token = m.GetResumeToken()
	if r := m.GetRun(); r != nil {
		if n := len(c.versions); n > 0 && (r.GetVersion() < c.versions[n-1] || r.GetVersion() == c.versions[n-1] &&
			slices.EqualFunc(r.GetDiagnostics(), c.last.GetDiagnostics(), func(a, b *assayv1.Diagnostic) bool { return proto.Equal(a, b) })) {
			c.fault = "a version that is not newer, and the same as before"
		}
		state, _ := keyOf(states, r.GetState())
		c.versions = append(c.versions, r.GetVersion())
		c.states = append(c.states, state)
		c.last = r
		c.tails = append(c.tails, r.GetLogTail())
	}
	for _, l := range m.GetLines() {
		kind, _ := keyOf(logNames, l.GetLog())
		if int(l.GetNumber()) != len(c.lines[kind]) {
			c.fault = "a line out of order"
		}
		c.lines[kind] = append(c.lines[kind], l.GetText())
	}
}

// shown is the run as the client was shown it last.
func (c *watchClient) shown() *assayv1.Run {
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
