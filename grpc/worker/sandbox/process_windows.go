package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// groupAttributes makes a process the leader of a new process group.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// sessionAttributes lets a process outlive the worker.
func sessionAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// shellCommand returns a command for the shell, which gets the line unchanged.
func shellCommand(ctx context.Context, line string) *exec.Cmd {
	cmd := groupCommand(ctx, "cmd")
	cmd.SysProcAttr.CmdLine = `cmd /d /s /c "` + line + `"`
	return cmd
}

// killOnClose makes a job object end its processes when its last handle is closed. It is a package variable, because the system call
// gets its address as an uintptr.
var killOnClose = windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
	BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
}

var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// startGroup starts a command of groupCommand in a job object. kill kills all processes of the job. They also end with the worker, which
// has the only handle. The command remains suspended until it belongs to the job, so that all its child processes belong to the job too.
func startGroup(cmd *exec.Cmd) (kill func() error, err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	kill = func() error { return windows.CloseHandle(job) }
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&killOnClose)), uint32(unsafe.Sizeof(killOnClose))) //nolint:gosec // the call takes a C structure
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("SetInformationJobObject", err), kill())
	}
	cmd.Cancel = func() error { return windows.TerminateJobObject(job, 1) }
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, kill())
	}
	var failed error
	err = cmd.Process.WithHandle(func(process uintptr) {
		failed = windows.AssignProcessToJobObject(job, windows.Handle(process))
		if failed == nil {
			_, _, _ = resumeProcess.Call(process)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait(), kill())
	}
	return kill, nil
}

func exitCode(exit *exec.ExitError) int { return exit.ExitCode() }

// free returns 0, which means unknown, because Podman's image store is within its virtual machine.
func (c *Container) free() Bytes { return 0 }

// openFiles returns limits of open files for containers. Windows has none for the worker.
func openFiles() string { return "1024:1024" }

// listenInNamespace fails, because it needs network namespaces.
func listenInNamespace(context.Context, int) (net.Listener, error) {
	return nil, errors.New("repositories are built on Linux alone")
}
