//go:build !windows

package scratch

import (
	"os"
	"syscall"
)

// errLocked is the error for a file that another process has locked.
const errLocked = syscall.EWOULDBLOCK

// tryLock locks a file until it is closed.
func tryLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
