package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// groupCommand returns a command in a process group of its own, which is killed when the context ends.
func groupCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // running programs of others is the purpose of this package
	cmd.SysProcAttr = groupAttributes()
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = outputWaitDelay
	cmd.Env = environment()
	return cmd
}

// runGroup runs a command of groupCommand, and kills what is left of its group.
func runGroup(cmd *exec.Cmd) error {
	// The process must end with the worker, and Linux ties that to the thread that started it.
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
		return nil // no process of it is left
	}
	return os.NewSyscallError("kill", err)
}

// exitCode returns the exit code of a process; after a signal, the one that a shell returns.
func exitCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
