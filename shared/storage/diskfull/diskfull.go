// Package diskfull recognizes writes that failed because the disk is full. Table, files and temporary files wrap that error in different
// ways. The servers check for it in one place and tell callers what to do.
package diskfull

import (
	"errors"
	"syscall"
	"time"

	"assay/shared/language/problem"
)

// Errors lists the errors of a full file system, an exhausted disk quota, and an exceeded file size limit.
var Errors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// retryAfter is the delay after which callers may try again. It is about the time that an operator needs to free space.
const retryAfter = time.Minute

// Problem returns the problem for err if a full disk caused it; otherwise nil. The failed change was not acknowledged. All acknowledged
// changes are stored.
func Problem(err error) *problem.Error {
	for _, full := range Errors {
		if errors.Is(err, full) {
			return problem.StorageFull.Wrap(err, "The server has no room left to store anything; what is stored can still be read. "+
				"Ask those who run it to make room, and try again.").After(retryAfter)
		}
	}
	return nil
}
