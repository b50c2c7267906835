//go:build !linux && !windows

package sandbox

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// groupAttributes make a process the first of a group.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// listenInNamespace needs network namespaces.
func listenInNamespace(context.Context, int) (net.Listener, error) {
	return nil, errors.New("repositories are built on Linux alone")
}
