package main

import "golang.org/x/sys/unix"

// hideMemory keeps other processes of this user from reading the worker's memory and its files in /proc.
func hideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
