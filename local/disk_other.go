//go:build !linux && !darwin

package main

import "errors"

// diskSpace returns an error, because the space of the file system is unknown on this system.
func diskSpace(string) (free, size int64, err error) { return 0, 0, errors.ErrUnsupported }
