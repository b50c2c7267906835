// Package scratch gives each worker a locked folder of its own on the machine, and finds the folders of workers that ended without
// cleaning up: those whose lock is free.
package scratch

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

const lockName = "lock"

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
	locks, err := filepath.Glob(filepath.Join(root, "worker-*", lockName))
	if err != nil {
		return nil, err
	}
	for _, path := range locks {
		if abandoned, err := Lock(filepath.Dir(path)); err == nil {
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

// Lock makes and locks a folder. It tries again when another process removed the folder meanwhile.
func Lock(path string) (*Folder, error) {
	for {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
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
		if there, err := os.Stat(lock.Name()); err == nil && os.SameFile(locked, there) {
			return &Folder{Path: path, lock: lock}, nil
		}
		lock.Close()
	}
}

// Abandoned reports whether no worker has locked the folder, or it does not exist.
func Abandoned(folder string) bool {
	lock, err := os.Open(filepath.Join(folder, lockName))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer lock.Close() // which unlocks it
	return tryLock(lock) == nil
}

// Release unlocks the folder.
func (f *Folder) Release() { f.lock.Close() }
