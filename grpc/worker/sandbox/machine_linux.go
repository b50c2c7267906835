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

// groupAttributes make a process the first of a group, and let it end when the worker is killed.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// listenInNamespace listens in the network namespace of a process.
func listenInNamespace(ctx context.Context, pid int) (l net.Listener, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread stays in the namespace, and ends with this function
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
