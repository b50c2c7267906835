// Package transfer downloads and uploads files over signed links. It trusts neither names, which cannot lead out of a folder, nor
// bytes, whose size and SHA-256 it checks.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/shared/wait"
)

const (
	maxAttempts   = 8 // within half a minute or so
	maxRetryDelay = 15 * time.Second
	readTimeout   = time.Minute // without a byte, after which a transfer is given up
	maxNameBytes  = 200         // bytes of a file name
)

// Client sends and gets files.
type Client struct{ http *http.Client }

// NewClient returns a client. Links carry their own permission, so it sends no token.
func NewClient() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the bytes must be as they are stored
	transport.ResponseHeaderTimeout = readTimeout
	return &Client{http: &http.Client{Transport: transport}}
}

// checkName refuses a name that is not that of a file in a folder.
func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%q is not the name of a file", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the file name %q has characters that are not text", name)
	case len(name) > maxNameBytes:
		return fmt.Errorf("the file name %q has more than %d bytes", name, maxNameBytes)
	}
	return nil
}

// permanentError is an error that a retry cannot fix.
type permanentError struct{ error }

func checkStatus(resp *http.Response) error {
	err := errors.New("the file store answers " + resp.Status)
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout:
		return err
	}
	return permanentError{err}
}

// retry calls do until it succeeds or fails for good. A signed link is a secret, so the error contains none.
func retry(ctx context.Context, do func() error) error {
	for failures := 1; ; failures++ {
		err := do()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err
		}
		if _, no := errors.AsType[permanentError](err); no || failures == maxAttempts || !wait.Sleep(ctx, wait.Backoff(failures, maxRetryDelay)) {
			return err
		}
	}
}

// idleTimeout cancels a context when nothing was transferred for readTimeout.
type idleTimeout struct{ timer *time.Timer }

func withIdleTimeout(ctx context.Context) (_ context.Context, t idleTimeout, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t = idleTimeout{time.AfterFunc(readTimeout, func() { cancel(fmt.Errorf("nothing came for %s", readTimeout)) })}
	return ctx, t, func() {
		t.timer.Stop()
		cancel(nil)
	}
}

// Write implements io.Writer, for the transferred bytes.
func (t idleTimeout) Write(b []byte) (int, error) {
	t.timer.Reset(readTimeout)
	return len(b), nil
}
