// Package transfer brings files to the worker and back over signed links, and believes nobody: names cannot lead out of a
// folder, and bytes count only with the size and the SHA-256 that they should have.
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
	tries       = 8 // within half a minute or so
	longest     = 15 * time.Second
	readTimeout = time.Minute // without a byte, after which a transfer is given up
	maxNames    = 200         // bytes of a file name
)

// Client sends and gets files.
type Client struct{ http *http.Client }

// NewClient returns a client. Links carry their own permission: no token travels with them.
func NewClient() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the bytes are to come as they are stored
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
	case len(name) > maxNames:
		return fmt.Errorf("the file name %q has more than %d bytes", name, maxNames)
	}
	return nil
}

// permanentError is an error that trying again cannot change.
type permanentError struct{ error }

func answered(resp *http.Response) error {
	err := errors.New("the file store answers " + resp.Status)
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout:
		return err
	}
	return permanentError{err}
}

// persist tries several times what the network may spoil. Links are as good as the files behind them, so none stands in
// the error.
func persist(ctx context.Context, try func() error) error {
	for failures := 1; ; failures++ {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err
		}
		if _, no := errors.AsType[permanentError](err); no || failures == tries || !wait.Sleep(ctx, wait.Backoff(failures, longest)) {
			return err
		}
	}
}

// patient ends the context when nothing was read or written for so long.
type patient struct{ timer *time.Timer }

func newPatient(ctx context.Context) (_ context.Context, p patient, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p = patient{time.AfterFunc(readTimeout, func() { cancel(fmt.Errorf("nothing came for %s", readTimeout)) })}
	return ctx, p, func() {
		p.timer.Stop()
		cancel(nil)
	}
}

// Write implements io.Writer: bytes move.
func (p patient) Write(b []byte) (int, error) {
	p.timer.Reset(readTimeout)
	return len(b), nil
}
