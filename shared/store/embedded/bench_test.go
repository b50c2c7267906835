package embedded

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"assay/shared/store"
)

func openBench(b *testing.B) *Store {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "store.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

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

// fill puts n items, many in a commit.
func fill(tb testing.TB, s *Store, n int) {
	tb.Helper()
	for i := 0; i < n; i += store.MaxWrites {
		var writes []store.Write
		for j := i; j < min(n, i+store.MaxWrites); j++ {
			writes = append(writes, store.Create(benchItem(int64(j))))
		}
		if err := s.Write(tb.Context(), writes...); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkWrite is the rate of synced writes of one item each.
func BenchmarkWrite(b *testing.B) {
	for _, clients := range []int{1, 32, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s := openBench(b)
			var n atomic.Int64
			if clients == 1 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
			}
			b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
			write := func() {
				if err := s.Write(b.Context(), store.Create(benchItem(n.Add(1)))); err != nil {
					b.Error(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			if clients == 1 {
				for range b.N {
					write()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						write()
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

func BenchmarkReplace(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s := openBench(b)
			fill(b, s, 10000)
			var n atomic.Int64
			b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := n.Add(1) - 1
					it := benchItem((i * 7919) % 10000)
					it.Version = 1 + i/10000
					if err := s.Write(b.Context(), store.Replace(it)); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	s := openBench(b)
	fill(b, s, 100_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		items, err := s.Get(b.Context(), store.Strong, benchItem(int64(i*7919%100_000)).Key)
		if err != nil || !items[0].Exists() {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuery is a page of 50 from the middle of an index partition of 1,000 and of 100,000 items.
func BenchmarkQuery(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("items=%d", size), func(b *testing.B) {
			s := openBench(b)
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
