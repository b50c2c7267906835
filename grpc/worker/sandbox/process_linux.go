package sandbox

import "syscall"

// groupAttributes make a process the first of a group, and let it end when the worker is killed.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
