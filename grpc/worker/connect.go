package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
)

// connect returns a client connection, which gRPC establishes with the first call, and again whenever it breaks.
func (s *settings) connect(getenv func(string) string) (*grpc.ClientConn, error) {
	if !s.tls && !loopback(s.server) {
		return nil, fmt.Errorf("-tls=false is refused for %s: the token would travel in plain text to another machine", s.server)
	}
	t := token{file: s.tokenFile, fixed: strings.TrimSpace(getenv(tokenVariable)), secure: s.tls}
	if _, err := t.read(); err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	switch {
	case s.tls && s.ca != "":
		var err error
		if transport, err = credentials.NewClientTLSFromFile(s.ca, ""); err != nil {
			return nil, fmt.Errorf("-ca: no certificates in PEM can be read from %s: %w", s.ca, err)
		}
	case s.tls:
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	return grpc.NewClient(s.server,
		grpc.WithTransportCredentials(transport),
		grpc.WithPerRPCCredentials(t),
		grpc.WithUserAgent("assay-worker"),
		grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name)), // logs and measures become much smaller
		// A server that comes back is found within a lease.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 250 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		// A connection that was lost silently is noticed while a call waits.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 15 * time.Second, Timeout: 5 * time.Second}),
	)
}

// loopback reports whether an address is of the loopback interface.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// token is the bearer token of every call, as credentials.PerRPCCredentials.
type token struct {
	file, fixed string
	secure      bool
}

func (t token) read() (string, error) {
	if t.file == "" {
		if t.fixed == "" {
			return "", fmt.Errorf("a token is needed: put it into the variable %s, or name a file that has it with -token-file", tokenVariable)
		}
		return t.fixed, nil
	}
	b, err := os.ReadFile(t.file)
	if err != nil {
		return "", err
	}
	read := strings.TrimSpace(string(b))
	if read == "" {
		return "", errors.New("the file " + t.file + " has no token in it")
	}
	return read, nil
}

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	read, err := t.read()
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + read}, nil
}

func (t token) RequireTransportSecurity() bool { return t.secure }

// pipeVariable names the file descriptor from which a re-executed worker reads its token.
const pipeVariable = prefix + "TOKEN_PIPE"

const maxToken = 32 << 10 // fits into a pipe that nobody reads yet

// hideToken hides the token from other processes of this user, which can read in /proc the variables that a process was started with.
// So a worker that was started with its token executes itself again without it, and passes the token through a pipe.
func hideToken() error {
	passed := os.Getenv(pipeVariable)
	if passed == "" {
		return errors.Join(reexec(), hideMemory())
	}
	fd, err := strconv.ParseUint(passed, 10, 31)
	if err != nil {
		return errors.New(pipeVariable + " is the worker's own: unset it, and set " + tokenVariable)
	}
	pipe := os.NewFile(uintptr(fd), "token")
	token, err := io.ReadAll(pipe)
	return errors.Join(err, pipe.Close(), os.Unsetenv(pipeVariable), os.Setenv(tokenVariable, string(token)), hideMemory())
}

// reexec returns when there is no token to hide, or with an error.
func reexec() error {
	token := os.Getenv(tokenVariable)
	if token == "" {
		return nil
	}
	if len(token) > maxToken {
		return errors.New("the token in " + tokenVariable + " is too long to be one")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var pipe [2]int // unlike those of os.Pipe, these stay open across exec
	if err := syscall.Pipe(pipe[:]); err != nil {
		return err
	}
	if _, err := syscall.Write(pipe[1], []byte(token)); err != nil {
		return err
	}
	if err := errors.Join(syscall.Close(pipe[1]), os.Unsetenv(tokenVariable), os.Setenv(pipeVariable, strconv.Itoa(pipe[0]))); err != nil {
		return err
	}
	return os.NewSyscallError("exec", syscall.Exec(self, os.Args, os.Environ())) //nolint:gosec // it is this program itself
}
