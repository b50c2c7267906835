//go:build linux || darwin

package main

import "syscall"

// diskSpace returns the space of the folder's file system in bytes, and the part of it that is free for this process.
func diskSpace(folder string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, 0, err
	}
	block := int64(s.Bsize) //nolint:unconvert // the types differ by system
	return int64(s.Bavail) * block, int64(s.Blocks) * block, nil
}
