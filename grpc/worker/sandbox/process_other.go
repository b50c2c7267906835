//go:build !linux

package sandbox

import "syscall"

// groupAttributes make a process the first of a group.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
