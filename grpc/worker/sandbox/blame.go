package sandbox

import (
	"bytes"
	"strings"
)

// side is whose fault something is.
type side int

const (
	theWorkers side = iota // or nobody's that is known: trying again may help
	theRuns
)

// What git and the container runtimes say, in part, when trying again cannot help because the image or the repository is
// not there, not readable by everyone, or not for this machine.
var hopeless = []string{
	"access to the resource is denied", "authentication failed", "authentication required", "couldn't find remote ref",
	"could not read username", "invalid reference format", "manifest unknown", "name unknown", "no image found in",
	"no matching manifest", "not found", "pull access denied", "reading manifest", "repository name not known",
	"requested access", "terminal prompts disabled", "unauthorized", "unsupported media type", "unsupported manifest",
}

// What they say when it is the network or the machine.
var passing = []string{
	"connection refused", "connection reset", "connection timed out", "context deadline exceeded", "could not resolve",
	"cannot connect to the docker daemon", "error: 5", "failed to connect", "i/o timeout", "network is unreachable",
	"no route to host", "no space left", "no such host", "operation timed out", "server misbehaving", "service unavailable",
	"status code 5", "status: 5", "temporary failure", "tls handshake", "too many requests", "toomanyrequests", "unexpected eof",
}

// faultOf tells from what a program said before it failed whether trying again may help.
func faultOf(said string) side {
	said = strings.ToLower(said)
	for _, s := range passing {
		if strings.Contains(said, s) {
			return theWorkers
		}
	}
	for _, s := range hopeless {
		if strings.Contains(said, s) {
			return theRuns
		}
	}
	return theWorkers
}

// short keeps the beginning of what a program says.
type short struct{ to *bytes.Buffer }

const shortest = 2000

// Write implements io.Writer.
func (s *short) Write(b []byte) (int, error) {
	s.to.Write(b[:max(min(len(b), shortest-s.to.Len()), 0)])
	return len(b), nil
}
