//go:build linux || darwin

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"assay/shared/storage/diskfull"
	"assay/shared/storage/store"
)

func init() { children["fill"] = fillDisk }

// TestStore_SurvivesFullDisk fills the disk up to a limit of the process, raises the limit, and writes again.
func TestStore_SurvivesFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	cmd, stderr := child(t, "fill", path, "")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	s := open(t, path, Options{})
	checkFile(t, s)
	checkPages(t, s)
}

// fillDisk runs in its own process, because the limit applies to a whole process.
func fillDisk(path, _ string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	limit := func(bytes uint64) error {
		var l syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			return err
		}
		l.Cur = bytes
		if bytes == 0 {
			l.Cur = l.Max
		}
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l)
	}
	ctx := context.Background()
	n := 0
	write := func() error {
		it := named(fmt.Sprintf("%04d", n), string(make([]byte, 300<<10)))
		return s.Write(ctx, store.Create(it), store.Create(named(it.Sort+" too", "")))
	}
	for _, room := range []uint64{1 << 20, 8 << 20, 40 << 20} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := limit(uint64(info.Size()) + room); err != nil {
			return err
		}
		for err = nil; err == nil && n < 1000; {
			if err = write(); err == nil {
				n++
			}
		}
		if !errors.Is(err, store.ErrUnavailable) || diskfull.Problem(err) == nil {
			return fmt.Errorf("a write to a full disk, after %d: %w", n, err)
		}
		items, err := s.Query(ctx, store.Query{Index: 1, Partition: "L", Limit: 1 << 20})
		if err != nil || len(items) != 2*n {
			return fmt.Errorf("%d items are there after %d writes: %w", len(items), n, err)
		}
		if err := limit(0); err != nil {
			return err
		}
		if err := write(); err != nil {
			return fmt.Errorf("a write when there is room again: %w", err)
		}
		n++
	}
	return s.Close()
}
