package embedded

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

// benchItem is like a registration: about 600 bytes, in four lists.
func benchItem(n int64) store.Item {
	id := fmt.Sprintf("01JZ%022d", n)
	it := store.Item{Key: store.Key{Partition: "TASK#01JZ3V7Q0D8T5RZ0S6R1W9C4XK", Sort: "REGISTRATION#" + id}, Data: make([]byte, 600)}
	it.Indexes[0] = store.Key{Partition: "REGISTRATION", Sort: id}
	it.Indexes[1] = store.Key{Partition: "TASK#01JZ3V7Q0D8T5RZ0S6R1W9C4XK#REGISTRATION", Sort: id}
	it.Indexes[3] = store.Key{Partition: fmt.Sprintf("USER#%d", n%1000), Sort: id}
	it.Indexes[4] = store.Key{Partition: "ORGANIZER#01JZ3V7Q0D8T5RZ0S6R1W9C4XK#REGISTRATION", Sort: id}
	return it
}

// fill creates n items, many in each commit.
func fill(tb testing.TB, s *Store, n int) {
	tb.Helper()
	for i := 0; i < n; i += store.MaxWrites {
		var writes []store.Write
		for j := i; j < min(n, i+store.MaxWrites); j++ {
			writes = append(writes, store.Create(benchItem(int64(j))))
		}
		storetest.Write(tb, s, writes...)
	}
}

// runClients calls do from n goroutines, b.N times in all, and reports the rate.
func runClients(b *testing.B, n int, do func(i int64) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range n {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}

// BenchmarkCreate measures the rate of synced creations of one item each.
func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{1, 32, 64} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			s := openEmpty(b, Options{})
			runClients(b, n, func(i int64) error { return s.Write(b.Context(), store.Create(benchItem(i))) })
		})
	}
}

// BenchmarkReplace measures the rate of synced replacements, spread over 10,000 items.
func BenchmarkReplace(b *testing.B) {
	const size = 10_000
	for _, n := range []int{1, 32, 64} {
		b.Run(fmt.Sprintf("clients=%d", n), func(b *testing.B) {
			s := openEmpty(b, Options{})
			fill(b, s, size)
			runClients(b, n, func(i int64) error {
				it := benchItem(i * 7919 % size)
				it.Version = 1 + i/size
				return s.Write(b.Context(), store.Replace(it))
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	s := openEmpty(b, Options{})
	fill(b, s, 100_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		items, err := s.Get(b.Context(), store.Strong, benchItem(int64(i*7919%100_000)).Key)
		if err != nil || !items[0].Exists() {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuery reads a page of 50 items from the middle of an index partition of 1,000 and of 100,000 items.
func BenchmarkQuery(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("items=%d", size), func(b *testing.B) {
			s := openEmpty(b, Options{})
			fill(b, s, size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				after := benchItem(int64(60 + i*7919%(size-60)))
				items, err := s.Query(b.Context(), store.Query{Index: 1, Partition: "REGISTRATION", Descending: true, After: &after, Limit: 50})
				if err != nil || len(items) != 50 {
					b.Fatal(len(items), err)
				}
			}
		})
	}
}
