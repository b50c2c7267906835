// Package scratch gives each worker a locked folder of its own on the machine. It also finds the folders of workers that ended without
// cleaning up, because their locks are free.
package scratch

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// lockPrefix is the prefix of the lock of a folder. The lock is next to the folder, because Windows cannot remove a folder with an open
// file.
const lockPrefix = "lock-"

// Folder is the locked folder of a worker.
type Folder struct {
	Path string
	lock *os.File
}

// Claim creates and locks the folder for the worker with the name below the root. It first calls cleanUp with every folder there that a
// dead worker left.
func Claim(root, name string, cleanUp func(folder string)) (*Folder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("the folder -work cannot be created: %w", err)
	}
	locks, err := filepath.Glob(filepath.Join(root, lockPrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, path := range locks {
		if abandoned, err := Lock(filepath.Join(root, strings.TrimPrefix(filepath.Base(path), lockPrefix))); err == nil {
			cleanUp(abandoned.Path)
			abandoned.Release()
		}
	}
	f, err := Lock(filepath.Join(root, "worker-"+url.QueryEscape(name)))
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("a worker with the name %q already runs on this machine: give this one another -name or another -work", name)
	}
	return f, err
}

// Lock creates and locks a folder. It tries again if another process removes the lock meanwhile.
func Lock(path string) (*Folder, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := lockPrefix + filepath.Base(path)
	for {
		lock, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) // unlike os.OpenFile, it lets Windows remove the open file
		if err != nil {
			return nil, err
		}
		locked, err := lock.Stat()
		if err == nil {
			err = tryLock(lock)
		}
		if err != nil {
			lock.Close()
			return nil, err
		}
		if there, err := root.Stat(name); err == nil && os.SameFile(locked, there) {
			return &Folder{Path: path, lock: lock}, os.MkdirAll(path, 0o700)
		}
		lock.Close()
	}
}

// Abandoned reports whether no worker has locked the folder. It also reports true for a missing folder.
func Abandoned(folder string) bool {
	lock, err := os.Open(filepath.Join(filepath.Dir(folder), lockPrefix+filepath.Base(folder)))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer lock.Close() // also unlocks it
	return tryLock(lock) == nil
}

// Release unlocks the folder. If the folder still exists, its lock file remains, so that another worker finds the folder.
func (f *Folder) Release() {
	if _, err := os.Stat(f.Path); errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(f.lock.Name())
	}
	f.lock.Close()
}
