//go:build linux || darwin

package main

import "syscall"

// diskSize returns the size of the folder's file system in bytes, or 0 if it is unknown.
func diskSize(folder string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0
	}
	return int64(s.Blocks) * int64(s.Bsize) //nolint:unconvert // the types differ by system
}
