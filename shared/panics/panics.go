// Package panics turns panics into errors, so that one evaluation, job or call that has a fault ends by itself alone.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic.
type Error struct {
	value any
	stack []byte
}

func (e *Error) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// Catch returns the error of do, or an *Error when it panics.
func Catch(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{value, debug.Stack()}
		}
	}()
	return do()
}
