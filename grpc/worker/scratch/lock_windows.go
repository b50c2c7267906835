package scratch

import (
	"os"

	"golang.org/x/sys/windows"
)

// errLocked is the error for a file that another process has locked.
const errLocked = windows.ERROR_LOCK_VIOLATION

// tryLock locks a file until it is closed.
func tryLock(f *os.File) error {
	const atOnce = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), atOnce, 0, 1, 0, new(windows.Overlapped))
}
