package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// groupCommand is a command in a process group of its own, all of which is killed when the context ends.
func groupCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // running what others wrote is what this package is for
	cmd.SysProcAttr = groupAttributes()
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = patience
	cmd.Env = environment()
	return cmd
}

// runGroup runs a command of groupCommand and leaves nothing of its group running.
func runGroup(cmd *exec.Cmd) error {
	// The process is to end with the worker, and Linux ties that to the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	return errors.Join(err, killGroup(cmd))
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) && cmd.ProcessState != nil {
		return nil // nobody is left of it
	}
	return os.NewSyscallError("kill", err)
}

// exitCode is the exit code of a process, for one that a signal ended the code that a shell returns.
func exitCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
