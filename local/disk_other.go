//go:build !linux && !darwin

package main

// diskSize returns 0, because the size of the file system is unknown on this system.
func diskSize(string) int64 { return 0 }
