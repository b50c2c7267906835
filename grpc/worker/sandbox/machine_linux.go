package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttributes makes a process the leader of a new process group that is killed when the worker ends.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// listenInNamespace listens in the network namespace of a process.
func listenInNamespace(ctx context.Context, pid int) (l net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread remains in the namespace, and ends with this goroutine
		var namespace *os.File
		if namespace, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
			return
		}
		defer namespace.Close()
		if err = os.NewSyscallError("setns", unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)); err != nil {
			return
		}
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", proxyListen)
	}()
	<-done
	return l, err
}
