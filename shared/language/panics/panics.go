// Package panics turns panics into errors, so that a panic ends only the evaluation, job or call that caused it.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is the error of a panic, with its stack.
type Error struct {
	value any
	stack []byte
}

func (e *Error) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// Catch returns the error of do, or an *Error if do panics.
func Catch(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{value, debug.Stack()}
		}
	}()
	return do()
}
