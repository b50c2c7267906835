// Package scratch gives a worker a folder of its own on the machine, and finds what workers left behind that ended without
// tidying up: a folder whose lock nobody holds belongs to nobody who lives.
package scratch

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

const lockName = "lock"

// Folder is the folder of one worker, as long as that lives.
type Folder struct {
	Path string
	lock *os.File
}

// Claim takes the folder for the worker of the name below the root. Before, it hands every folder there that a dead worker
// left, this one's perhaps, to tidy, which removes it, and what else that worker left.
func Claim(root, name string, tidy func(folder string)) (*Folder, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for work cannot be made: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(root, "worker-*", lockName))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if dead, err := Take(filepath.Dir(path)); err == nil {
			tidy(dead.Path)
			dead.Release()
		}
	}
	f, err := Take(filepath.Join(root, "worker-"+url.QueryEscape(name)))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("a worker called %q runs on this machine already: give this one another -name, or the other folder -work", name)
	}
	return f, err
}

// Take makes and locks a folder. A lock on a file that was removed meanwhile, with its folder, is no lock.
func Take(path string) (*Folder, error) {
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
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			lock.Close()
			return nil, err
		}
		locked, err := lock.Stat()
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

// Abandoned reports whether no worker holds the folder: it is gone, or its lock is free.
func Abandoned(folder string) bool {
	lock, err := os.Open(filepath.Join(folder, lockName))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	defer lock.Close() // and with it the lock
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// New makes a fresh folder in the worker's.
func (f *Folder) New(name string) (string, error) {
	path := filepath.Join(f.Path, name)
	return path, os.Mkdir(path, 0o700)
}

// Release lets go of the folder.
func (f *Folder) Release() { f.lock.Close() }
