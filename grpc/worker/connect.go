package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"assay/shared/service/config"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
)

// connect returns a client connection. gRPC establishes it with the first call, and again whenever it breaks.
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
		grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name)), // makes logs and measures much smaller
		// A server that comes back is found within the time of a lease.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 250 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		// A call that waits notices a silently broken connection.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 15 * time.Second, Timeout: 5 * time.Second}),
	)
}

// loopback reports whether an address belongs to the loopback interface.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && config.Loopback(host)
}

// token implements credentials.PerRPCCredentials with a bearer token.
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
