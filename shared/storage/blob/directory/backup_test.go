package directory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"
)

// The records in a backup may name files that were deleted after the records were copied.
func TestBackup_HasFilesThatAreDeletedMeanwhile(t *testing.T) {
	for name, folder := range map[string]string{"same file system": t.TempDir(), "another": onAnotherFileSystem(t)} {
		t.Run(name, func(t *testing.T) {
			s := reopen(t, t.TempDir())
			for _, key := range []string{"deleted", "replaced", "stays"} {
				put(t, s, key, key)
			}
			link, err := s.SignGet(t.Context(), "stays", "a", "", time.Now().Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(folder, "files")
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
			files, bytes, err := s.Backup(t.Context(), to, func() error {
				if _, _, err := s.Backup(t.Context(), to, nil); !errors.Is(err, ErrBackupUnderWay) {
					t.Errorf("a second backup at once: %v", err)
				}
				if err := s.Delete(t.Context(), "deleted", "replaced", "missing"); err != nil {
					t.Error(err)
				}
				if _, err := s.Stat(t.Context(), "deleted"); !errors.Is(err, blob.ErrNotFound) {
					t.Errorf("the deleted file: %v", err)
				}
				put(t, s, "replaced", "replaced")
				return s.Delete(t.Context(), "replaced")
			})
			if err != nil || files != 3 || bytes < int64(len("deleted")+len("replaced")+len("stays")) {
				t.Errorf("%d files of %d bytes, %v; want three", files, bytes, err)
			}
			if left, err := os.ReadDir(s.deleted); err != nil || len(left) > 0 {
				t.Errorf("afterwards there is %v, %v", left, err)
			}
			if err := s.Delete(t.Context(), "stays"); err != nil {
				t.Fatal(err)
			}
			restored := reopen(t, to)
			for _, key := range []string{"deleted", "replaced", "stays"} {
				if got, err := restored.Stat(t.Context(), key); err != nil || got != blobtest.Declare(key, key) {
					t.Errorf("the backup has %s as %+v, %v", key, got, err)
				}
			}
			if _, err := restored.verify("GET", "stays", link.URL[len("http://127.0.0.1/files/stays?"):]); err != nil {
				t.Errorf("a link from before: %v", err)
			}
		})
	}
}

// onAnotherFileSystem returns a folder on another file system than t.TempDir, if the machine has one. Hard links cannot cross file
// systems.
func onAnotherFileSystem(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "assay") //nolint:usetesting // t.TempDir is on the same file system
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func TestBackup_EndsWithItsContextOrSnapshot(t *testing.T) {
	s := reopen(t, t.TempDir())
	put(t, s, "a", "content")
	ctx, cancel := context.WithCancel(t.Context())
	failed := errors.New("no records")
	for _, c := range []struct {
		snapshot func() error
		want     error
	}{{func() error { return failed }, failed}, {func() error { cancel(); return nil }, context.Canceled}} {
		if _, _, err := s.Backup(ctx, t.TempDir(), c.snapshot); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(s.deleted); err != nil || len(left) > 0 {
			t.Errorf("a deletion after the backup keeps %v, %v", left, err)
		}
		put(t, s, "a", "content")
	}
}

func TestOpen_RemovesWhatAnInterruptedBackupKept(t *testing.T) {
	root := t.TempDir()
	s := reopen(t, root)
	put(t, s, "a", "content")
	s.setBackup(true)
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(reopen(t, root).deleted); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
