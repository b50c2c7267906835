// Package diskfull recognizes that a write failed because there is no room on the disk. Table, files and temporary files fail
// with it, each with words of their own around it; an edge asks once, and answers what callers can do.
package diskfull

import (
	"errors"
	"syscall"
	"time"

	"assay/shared/problem"
)

// Errors are those of a full file system, a quota that is used up, and a file that may not grow further.
var Errors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// retryAfter is how long somebody takes to make room.
const retryAfter = time.Minute

// Problem returns the problem that a caller gets for err, if that came of a full disk; otherwise nil. What failed was not
// acknowledged, and what was acknowledged before is there.
func Problem(err error) *problem.Error {
	for _, full := range Errors {
		if errors.Is(err, full) {
			return problem.StorageFull.Wrap(err, "The server has no room left to store anything; what is stored can still be read. "+
				"Ask those who run it to make room, and try again.").After(retryAfter)
		}
	}
	return nil
}
