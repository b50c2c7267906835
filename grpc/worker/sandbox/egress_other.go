//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"net"
)

// listenIn needs network namespaces.
func listenIn(context.Context, int) (net.Listener, error) {
	return nil, errors.New("repositories are built on Linux alone")
}
