package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay/shared/storage/durable"
)

func TestWrite_ReplacesAWholeFileOrNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	failed := errors.New("no more")
	for _, c := range []struct {
		content, want string
		err           error
	}{{"first", "first", nil}, {"second", "first", failed}, {"third", "third", nil}} {
		err := durable.Write(folder, path, func(f *os.File) error {
			_, err := f.WriteString(c.content)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.content, err, c.err)
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != c.want {
			t.Errorf("%s: the file has %q: %v", c.content, content, err)
		}
		if names, err := os.ReadDir(folder); err != nil || len(names) != 1 {
			t.Errorf("%s: the folder has %v: %v", c.content, names, err)
		}
	}
}
