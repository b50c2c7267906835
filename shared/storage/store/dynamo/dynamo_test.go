package dynamo_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"
)

func TestConformance(t *testing.T) {
	cfg := dynamotest.Start(t)
	storetest.Run(t, func(t *testing.T) store.Scanner { return dynamotest.Open(t, cfg) })
}

// TestCapacity_IsWhatAWSDocuments compares calls with DynamoDB's prices in units: half a unit for each 4 KB read, twice that for strong
// reads, and two units for each KB of an item in a transaction.
func TestCapacity_IsWhatAWSDocuments(t *testing.T) {
	s := dynamotest.Open(t, dynamotest.Start(t))
	item := func(sort string, bytes int) store.Item {
		return store.Item{Key: store.Key{Partition: "P", Sort: sort}, Version: 1, Data: make([]byte, bytes)}
	}
	small, large := item("small", 100), item("large", 7000)
	get := func(c store.Consistency, keys ...store.Key) func(context.Context) error {
		return func(ctx context.Context) error { _, err := s.Get(ctx, c, keys...); return err }
	}
	for _, step := range []struct {
		name          string
		call          func(context.Context) error
		read, written int64 // in thousandths
	}{
		{"create", func(ctx context.Context) error { return s.Write(ctx, store.Create(small), store.Create(large)) }, 0, 2000 + 14000},
		{"read", get(store.Eventual, small.Key), 500, 0},
		{"strong read", get(store.Strong, small.Key), 1000, 0},
		{"read of two", get(store.Eventual, small.Key, large.Key), 500 + 1000, 0},
		{"list", func(ctx context.Context) error {
			_, err := s.Query(ctx, store.Query{Partition: "P", Limit: 10})
			return err
		}, 1000, 0},
	} {
		var u dynamotest.Units
		if err := step.call(dynamotest.WithUnits(t.Context(), &u)); err != nil {
			t.Fatal(err)
		}
		if u.Read.Load() != step.read || u.Written.Load() != step.written {
			t.Errorf("%s consumed %d and %d thousandths of units, want %d and %d", step.name, u.Read.Load(), u.Written.Load(), step.read,
				step.written)
		}
	}
}

// BenchmarkCreate measures the rate of creations of one item each, by 64 writers, in the tests' server.
func BenchmarkCreate(b *testing.B) {
	s := dynamotest.Open(b, dynamotest.Start(b))
	var next atomic.Int64
	var writers sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		writers.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				it := store.Item{Key: store.Key{Partition: "P", Sort: strconv.FormatInt(n, 10)}, Data: make([]byte, 600)}
				it.Indexes[0] = store.Key{Partition: "LIST", Sort: it.Sort}
				if err := s.Write(b.Context(), store.Create(it)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// TestGet_RetriesUnprocessedKeys lets the server leave out all but one key of each batch, as DynamoDB does under load.
func TestGet_RetriesUnprocessedKeys(t *testing.T) {
	var batches atomic.Int64
	s := openBehindProxy(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".BatchGetItem") {
				server.ServeHTTP(w, r)
				return
			}
			batches.Add(1)
			leaveOut(t, server, w, r)
		})
	})
	var keys []store.Key
	for i := range 5 {
		keys = append(keys, store.Key{Partition: "P", Sort: strconv.Itoa(i)})
		storetest.Write(t, s, store.Create(store.Item{Key: keys[i], Data: []byte{byte(i)}}))
	}
	items, err := s.Get(t.Context(), store.Strong, keys...)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if it.Key != keys[i] || !it.Exists() || it.Data[0] != byte(i) {
			t.Errorf("item %d is %+v", i, it)
		}
	}
	if batches.Load() != 5 {
		t.Errorf("%d batches, want 5", batches.Load())
	}
}

// leaveOut processes the first key of a BatchGetItem, and answers that the others are unprocessed.
func leaveOut(t *testing.T, proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	var in struct {
		RequestItems map[string]struct {
			ConsistentRead bool
			Keys           []json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		t.Error(err)
		return
	}
	unprocessed := map[string]any{}
	for table, batch := range in.RequestItems {
		if rest := batch.Keys[1:]; len(rest) > 0 {
			unprocessed[table] = map[string]any{"ConsistentRead": batch.ConsistentRead, "Keys": rest}
		}
		batch.Keys = batch.Keys[:1]
		in.RequestItems[table] = batch
	}
	body, err := json.Marshal(in)
	if err != nil {
		t.Error(err)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	r.ContentLength = int64(len(body))
	answer := httptest.NewRecorder()
	proxy.ServeHTTP(answer, r)
	var out map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
		t.Errorf("%s: %v", answer.Body, err)
		return
	}
	out["UnprocessedKeys"] = unprocessed
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	if err := json.NewEncoder(w).Encode(out); err != nil {
		t.Error(err)
	}
}

// TestRetry_TruncatedAnswer ends a connection within an answer, and checks that the call is sent again.
func TestRetry_TruncatedAnswer(t *testing.T) {
	var queries atomic.Int64
	s := openBehindProxy(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query") || queries.Add(1) > 1 {
				server.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"Items":[`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
	})
	items, err := s.Query(t.Context(), store.Query{Partition: "TASK#1", Limit: 1})
	if err != nil || len(items) > 0 || queries.Load() != 2 {
		t.Errorf("%v, %v after %d calls, want none after 2", items, err, queries.Load())
	}
}
