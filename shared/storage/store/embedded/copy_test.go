package embedded

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"assay/shared/storage/store"
)

// TestWriteTo_CopiesOneState checks that every copy has both or none of the changes of each write.
func TestWriteTo_CopiesOneState(t *testing.T) {
	s := openEmpty(t, Options{})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			data := fmt.Sprint(n)
			writes := []store.Write{store.Delete(named("one", "").Key), store.Delete(named("two", "").Key)}
			if n%2 == 0 {
				writes = []store.Write{store.Create(named("one", data)), store.Create(named("two", data)), store.Create(named(data, data))}
			}
			if err := s.Write(t.Context(), writes...); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 20 {
		path := filepath.Join(t.TempDir(), "copy.db")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		size, err := s.WriteTo(f)
		if info, statErr := f.Stat(); err != nil || statErr != nil || size != info.Size() {
			t.Fatalf("%d bytes: %v, %v", size, err, statErr)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		made := open(t, path, Options{})
		checkFile(t, made)
		checkPages(t, made)
		pair, err := made.Get(t.Context(), store.Strong, named("one", "").Key, named("two", "").Key)
		if err != nil || !bytes.Equal(pair[0].Data, pair[1].Data) || pair[0].Exists() != pair[1].Exists() {
			t.Errorf("copy %d: %+v: %v", n, pair, err)
		}
	}
	close(stop)
	writer.Wait()
}

// BenchmarkWrite_DuringACopy reports by how much the file grows for each write, with and without a copy that takes as long as the
// writes. Use -benchtime 300x. With thousands of writes the file outgrows its mapping, and writes wait for the end of the copy, which
// does not come here.
func BenchmarkWrite_DuringACopy(b *testing.B) {
	for _, copying := range []bool{false, true} {
		b.Run(fmt.Sprintf("copying=%v", copying), func(b *testing.B) {
			s := openEmpty(b, Options{})
			for n := range 20_000 {
				if n%100 == 0 {
					var writes []store.Write
					for i := range 100 {
						writes = append(writes, store.Create(named(fmt.Sprintf("%07d", n+i), string(make([]byte, 1000)))))
					}
					if err := s.Write(b.Context(), writes...); err != nil {
						b.Fatal(err)
					}
				}
			}
			if copying {
				tx, err := s.db.Begin(false)
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
			}
			used := func() int64 {
				tx, err := s.db.Begin(false)
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = tx.Rollback() }()
				return tx.Size()
			}
			before := used()
			b.ResetTimer()
			for n := range b.N {
				it := named(fmt.Sprintf("%07d", n*7919%20_000), string(make([]byte, 1000)))
				it.Version = int64(n/20_000 + 1)
				if err := s.Write(b.Context(), store.Replace(it)); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(used()-before)/float64(b.N)/1024, "grown-KiB/op")
		})
	}
}
