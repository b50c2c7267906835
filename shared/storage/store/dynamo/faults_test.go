package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/nightlytest"
)

// faultInjector is a proxy between the store and the server. Each of these happens to one request in ten: it is throttled, gets a 500,
// loses its connection before or after the server has it, or is delayed.
type faultInjector struct {
	server   http.Handler
	random   *rand.Rand
	on       atomic.Bool
	requests atomic.Int64
	done     [6]atomic.Int64
}

// openBehindProxy opens a store whose requests go to the handler. The handler can pass them to a server.
func openBehindProxy(t *testing.T, handler func(server http.Handler) http.Handler) *dynamo.Store {
	t.Helper()
	cfg := dynamotest.Start(t)
	server, err := url.Parse(*cfg.BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler(httputil.NewSingleHostReverseProxy(server)))
	t.Cleanup(s.Close)
	cfg.BaseEndpoint = &s.URL
	return dynamotest.Open(t, cfg)
}

func (f *faultInjector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := 5
	if f.on.Load() {
		f.requests.Add(1)
		kind = min(f.random.IntN(10), 5)
		f.done[kind].Add(1)
	}
	switch kind {
	case 0:
		answer(w, http.StatusBadRequest, "ProvisionedThroughputExceededException")
	case 1:
		answer(w, http.StatusInternalServerError, "InternalServerError")
	case 2:
		panic(http.ErrAbortHandler)
	case 3:
		f.server.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 4:
		time.Sleep(time.Duration(f.random.IntN(50)) * time.Millisecond)
		f.server.ServeHTTP(w, r)
	default:
		f.server.ServeHTTP(w, r)
	}
}

func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"injected"}`)
}

// TestStore_SurvivesFaults makes ten thousand calls through a server that fails half of the time. Each client has items that no other
// client uses, so that it knows the answer to every call: a conflict there could only be with itself. All clients also increment shared
// counters, whose final values must equal the acknowledged increments.
func TestStore_SurvivesFaults(t *testing.T) {
	const counters = 10
	clients := nightlytest.Count(20, 50)
	rounds := nightlytest.Count(13, 26)
	f := &faultInjector{random: storetest.Random(t)}
	s := openBehindProxy(t, func(server http.Handler) http.Handler {
		f.server = server
		return f
	})
	var start []store.Write
	for i := range counters {
		start = append(start, store.Create(store.Item{Key: counter(i), Data: []byte("0")}))
	}
	storetest.Write(t, s, start...)
	f.on.Store(true)
	load := &faultyLoad{t: t, s: s}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for n := range rounds {
				load.own(fmt.Sprintf("%d-%d", c, n))
				load.count(counter(f.random.IntN(counters)))
			}
		})
	}
	wg.Wait()
	f.on.Store(false)
	sum := 0
	for i := range counters {
		sum += load.value(counter(i))
	}
	acknowledged, unknown := int(load.acknowledged.Load()), int(load.unknown.Load())
	if sum < acknowledged || sum > acknowledged+unknown {
		t.Errorf("the counters say %d; %d additions were acknowledged, and %d may or may not have been made", sum, acknowledged, unknown)
	}
	calls, requests := load.calls.Load(), f.requests.Load()
	t.Logf("%d calls took %d requests: %d throttled, %d answered 500, %d dropped before and %d after the server had them, %d delayed; %d "+
		"calls gave up",
		calls, requests, f.done[0].Load(), f.done[1].Load(), f.done[2].Load(), f.done[3].Load(), f.done[4].Load(), load.unavailable.Load())
	if calls < int64(nightlytest.Count(1_500, 10_000)) || requests < calls*3/2 {
		t.Errorf("%d calls and %d requests show too little", calls, requests)
	}
}

func counter(i int) store.Key { return store.Key{Partition: "COUNTER", Sort: strconv.Itoa(i)} }

type faultyLoad struct {
	t                                         *testing.T
	s                                         store.Store
	calls, unavailable, acknowledged, unknown atomic.Int64
}

// do makes a call, and reports whether it was answered.
func (l *faultyLoad) do(what string, call func(context.Context) error) bool {
	l.calls.Add(1)
	err := call(l.t.Context())
	if errors.Is(err, store.ErrUnavailable) {
		l.unavailable.Add(1)
		return false
	}
	if err != nil {
		l.t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

// own creates, replaces and deletes an item of its own, until a call fails.
func (l *faultyLoad) own(name string) {
	it := store.Item{Key: store.Key{Partition: "OWN", Sort: name}, Version: 1, Data: []byte(name)}
	it.Indexes[0] = store.Key{Partition: "LIST", Sort: name}
	other := store.Item{Key: store.Key{Partition: "OTHER", Sort: name}, Version: 1, Data: []byte(name)}
	write := func(writes ...store.Write) func(context.Context) error {
		return func(ctx context.Context) error { return l.s.Write(ctx, writes...) }
	}
	changed := it
	changed.Version++
	_ = l.do("create", write(store.Create(it), store.Create(other))) && l.reads(it, other) &&
		l.do("replace", write(store.Replace(it), store.Check(other))) && l.reads(changed, other) &&
		l.do("delete", write(store.DeleteIf(changed), store.Delete(other.Key))) &&
		l.reads(store.Item{Key: it.Key}, store.Item{Key: other.Key})
}

func (l *faultyLoad) reads(want ...store.Item) bool {
	return l.do("read", func(ctx context.Context) error {
		got, err := l.s.Get(ctx, store.Strong, want[0].Key, want[1].Key)
		if err != nil {
			return err
		}
		if wrong := storetest.Diff(got, want); wrong != "" {
			return errors.New(wrong)
		}
		return nil
	})
}

// count increments a shared counter.
func (l *faultyLoad) count(k store.Key) {
	for {
		var got []store.Item
		if !l.do("read a counter", func(ctx context.Context) (err error) { got, err = l.s.Get(ctx, store.Strong, k); return err }) {
			return
		}
		n, _ := strconv.Atoi(string(got[0].Data))
		got[0].Data = strconv.AppendInt(nil, int64(n+1), 10)
		l.calls.Add(1)
		switch err := l.s.Write(l.t.Context(), store.Replace(got[0])); {
		case err == nil:
			l.acknowledged.Add(1)
			return
		case errors.Is(err, store.ErrUnavailable):
			l.unavailable.Add(1)
			l.unknown.Add(1)
			return
		case !store.IsConflict(err):
			l.t.Error(err)
			return
		}
	}
}

func (l *faultyLoad) value(k store.Key) int {
	got, err := l.s.Get(l.t.Context(), store.Strong, k)
	if err != nil {
		l.t.Fatal(err)
	}
	n, err := strconv.Atoi(string(got[0].Data))
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestStore_RetriesUnansweredCalls leaves a request unanswered, and checks that it is sent again before the deadline.
func TestStore_RetriesUnansweredCalls(t *testing.T) {
	t.Parallel()
	var unanswered atomic.Int64
	s := openBehindProxy(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if unanswered.Add(-1) == 0 {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			server.ServeHTTP(w, r)
		})
	})
	unanswered.Store(1)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := s.Write(ctx, store.Create(store.Item{Key: counter(0)})); err != nil {
		t.Fatal(err)
	}
}
