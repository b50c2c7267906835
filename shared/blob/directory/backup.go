package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"assay/shared/durable"
)

// ErrBackupUnderWay means that another backup has not ended yet.
var ErrBackupUnderWay = errors.New("a backup is being made already: wait until it has ended")

// backup is the state of the backup that is being made.
type backup struct {
	one      sync.Mutex   // held by the backup
	mu       sync.RWMutex // held for reading by each deletion
	underWay bool
}

// Backup copies the files and the key of links into the folder, which Open then opens, and returns how many files there are, with
// how many bytes. Before the first file it calls snapshot, which copies the records. Files that these name are in the backup, also those
// that are deleted meanwhile: they are gone for callers at once, and stay on the disk until the backup is made. Files are links to the
// same bytes, which never change, where the file system allows that.
func (s *Store) Backup(ctx context.Context, to string, snapshot func() error) (files int, bytes int64, err error) {
	if !s.backup.one.TryLock() {
		return 0, 0, ErrBackupUnderWay
	}
	defer s.backup.one.Unlock()
	s.setBackup(true)
	defer func() { err = errors.Join(err, s.endBackup()) }()
	if err := snapshot(); err != nil {
		return 0, 0, err
	}
	objects := filepath.Join(to, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return 0, 0, err
	}
	// A file that is deleted while the first folder is copied is in the second.
	for _, folder := range []string{s.objects, s.deleted} {
		for name, err := range olderThan(folder, time.Unix(1<<40, 0)) {
			if err == nil {
				err = ctx.Err()
			}
			var size int64
			if err == nil {
				size, err = linkOrCopy(filepath.Join(folder, name), filepath.Join(objects, name))
			}
			switch {
			case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return 0, 0, fmt.Errorf("back up the file %s: %w", name, err)
			default:
				files, bytes = files+1, bytes+size
			}
		}
	}
	if err := durable.Sync(objects); err != nil {
		return 0, 0, err
	}
	return files, bytes, durable.WriteBytes(to, filepath.Join(to, linkKeyName), s.key)
}

func (s *Store) setBackup(underWay bool) {
	s.backup.mu.Lock()
	defer s.backup.mu.Unlock()
	s.backup.underWay = underWay
}

// endBackup removes the files that were deleted during the backup.
func (s *Store) endBackup() error {
	s.setBackup(false)
	entries, err := os.ReadDir(s.deleted)
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(s.deleted, e.Name())))
	}
	return err
}

// remove deletes the file of an object. While a backup is made it is kept aside, in place of an earlier one of the same key.
func (s *Store) remove(path string) error {
	s.backup.mu.RLock()
	defer s.backup.mu.RUnlock()
	if s.backup.underWay {
		return os.Rename(path, filepath.Join(s.deleted, filepath.Base(path)))
	}
	return os.Remove(path)
}

// linkOrCopy gives the file the new name too or, on another file system, makes a durable copy. It returns the size.
func linkOrCopy(from, to string) (size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return info.Size(), err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	if size, err = io.Copy(out, in); err == nil && size != info.Size() {
		err = fmt.Errorf("%d of %d bytes were copied", size, info.Size())
	}
	return size, errors.Join(err, out.Sync(), out.Close())
}
