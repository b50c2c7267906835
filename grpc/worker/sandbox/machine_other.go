//go:build !linux && !windows

package sandbox

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// groupAttributes makes a process the leader of a new process group.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// listenInNamespace fails, because it needs network namespaces.
func listenInNamespace(context.Context, int) (net.Listener, error) {
	return nil, errors.New("repositories are built on Linux alone")
}
