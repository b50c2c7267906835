package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"assay/shared/storage/durable"
)

// ErrBackupUnderWay means that another backup is in progress.
var ErrBackupUnderWay = errors.New("a backup is being made already: wait until it has ended")

// farFuture is after the last change of every file.
var farFuture = time.Unix(1<<40, 0)

// backup is the state of the backup in progress.
type backup struct {
	one      sync.Mutex   // held during a backup
	mu       sync.RWMutex // read-locked during each deletion
	underWay bool
}

// Backup copies the files and the signing key into the folder to, which Open can then open. It returns the number and the total size of
// the files. It first calls snapshot, which copies the records. All files that these records name are in the backup, even those that are
// deleted meanwhile. Deleted files become invisible to callers at once, but remain on disk until the backup ends. Where the file system
// allows it, the copies are hard links, because the bytes of a file never change.
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
	// The second folder contains files that are deleted while the first one is copied.
	for _, folder := range []string{s.objects, s.deleted} {
		copied, size, err := copyFolder(ctx, folder, objects)
		if err != nil {
			return 0, 0, err
		}
		files += copied
		bytes += size
	}
	if err := durable.Sync(objects); err != nil {
		return 0, 0, err
	}
	return files, bytes, durable.WriteBytes(to, filepath.Join(to, linkKeyName), s.key)
}

// copyFolder copies the files of a folder, and returns their number and total size. It skips files that were copied before, and files that
// are deleted meanwhile.
func copyFolder(ctx context.Context, from, to string) (files int, bytes int64, err error) {
	for name, err := range olderThan(from, farFuture) {
		err = cmp.Or(err, ctx.Err())
		if err != nil {
			return 0, 0, fmt.Errorf("back up the folder %s: %w", from, err)
		}
		size, err := linkOrCopy(filepath.Join(from, name), filepath.Join(to, name))
		switch {
		case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return 0, 0, fmt.Errorf("back up the file %s: %w", name, err)
		}
		files++
		bytes += size
	}
	return files, bytes, nil
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

// remove deletes the file of an object. During a backup it moves the file to the folder deleted, where it replaces an earlier file of
// the key.
func (s *Store) remove(path string) error {
	s.backup.mu.RLock()
	defer s.backup.mu.RUnlock()
	if s.backup.underWay {
		return os.Rename(path, filepath.Join(s.deleted, filepath.Base(path)))
	}
	return os.Remove(path)
}

// linkOrCopy makes a hard link to the file. On another file system it makes a durable copy. It returns the size.
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
	err = os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return info.Size(), err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(out, in)
	if err == nil && size != info.Size() {
		err = fmt.Errorf("%d of %d bytes were copied", size, info.Size())
	}
	return size, errors.Join(err, out.Sync(), out.Close())
}
