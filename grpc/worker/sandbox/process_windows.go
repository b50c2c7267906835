package sandbox

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// groupAttributes make a process the first of a group.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// sessionAttributes let a process outlive the worker.
func sessionAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// killGroup ends a process and those that it started; one that has ended has left none that Windows still knows as its own.
func killGroup(cmd *exec.Cmd) error {
	if cmd.ProcessState != nil {
		return nil
	}
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() //nolint:gosec,noctx // the context has ended
}

func exitCode(exit *exec.ExitError) int { return exit.ExitCode() }

// free is 0, as where it is not known: Podman's image store is within its virtual machine.
func (c *Container) free() Bytes { return 0 }

// openFiles are the limits of open files, of which Windows has none.
func openFiles() string { return "1024:1024" }

// listenInNamespace needs network namespaces.
func listenInNamespace(context.Context, int) (net.Listener, error) {
	return nil, errors.New("repositories are built on Linux alone")
}
