// Package scratch gives each worker a locked folder of its own on the machine, and finds the folders of workers that ended without
// cleaning up: those whose lock is free.
package scratch

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// lockPrefix begins the name of the lock of a folder. It is next to the folder: Windows removes no folder with an open file in it.
const lockPrefix = "lock-"

// Folder is the locked folder of a worker.
type Folder struct {
	Path string
	lock *os.File
}

// Claim makes and locks the folder for the worker of the name below the root. Before, it calls cleanUp with every folder there that
// a worker abandoned.
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

// Lock locks a folder, and makes it. It tries again when another process removed the lock meanwhile.
func Lock(path string) (*Folder, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := lockPrefix + filepath.Base(path)
	for {
		lock, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) // unlike os.OpenFile, this lets Windows remove it while it is open
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

// Abandoned reports whether no worker has locked the folder, or it does not exist.
func Abandoned(folder string) bool {
	lock, err := os.Open(filepath.Join(filepath.Dir(folder), lockPrefix+filepath.Base(folder)))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer lock.Close() // which unlocks it
	return tryLock(lock) == nil
}

// Release unlocks the folder. The lock of one that still exists stays, by which another worker finds it.
func (f *Folder) Release() {
	if _, err := os.Stat(f.Path); errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(f.lock.Name())
	}
	f.lock.Close()
}
