//go:build !windows

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// sessionAttributes lets a process outlive the worker.
func sessionAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// shellCommand returns a command for the shell.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	return groupCommand(ctx, "sh", "-c", line)
}

// startGroup starts a command of groupCommand. kill kills its process group.
func startGroup(cmd *exec.Cmd) (kill func() error, err error) {
	cmd.Cancel = func() error { return killGroup(cmd) }
	return cmd.Cancel, cmd.Start()
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) && cmd.ProcessState != nil {
		return nil // no process of the group is left
	}
	return os.NewSyscallError("kill", err)
}

// exitCode returns the exit code of a process. After a signal, it is the code that a shell would return.
func exitCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// free returns the free space of Podman's image store.
func (c *Container) free() Bytes {
	var s syscall.Statfs_t
	if syscall.Statfs(c.machine.Store.GraphRoot, &s) != nil {
		return 0
	}
	return Bytes(s.Bavail) * Bytes(s.Bsize)
}

// openFiles returns the worker's own limits of open files. A container may not exceed them on every machine.
func openFiles() string {
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own); err != nil {
		return "1024:1024"
	}
	return fmt.Sprintf("%d:%d", own.Max, own.Max)
}
