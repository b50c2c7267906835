package embedded

import (
	"path/filepath"
	"testing"

	"assay/shared/store"
	"assay/shared/store/storetest"
)

// open opens the store at the path, and closes it when the test ends.
func open(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t testing.TB, o Options) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "store.db"), o)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return fresh(t, Options{}) })
}
