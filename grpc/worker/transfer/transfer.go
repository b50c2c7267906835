// Package transfer downloads and uploads files with signed links. It checks names, which must not lead out of a folder, and the size and
// SHA-256 of the bytes.
package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/shared/language/wait"
	"assay/shared/storage/blob"
)

const (
	maxAttempts   = 8 // within about half a minute
	maxRetryDelay = 15 * time.Second
	readTimeout   = time.Minute // a transfer fails after this time without a byte
	maxNameBytes  = 200         // of a file name
)

// Client uploads and downloads files.
type Client struct{ http *http.Client }

// NewClient returns a client. It sends no token, because links contain their own permission.
func NewClient() *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the SHA-256 covers the stored bytes
	transport.ResponseHeaderTimeout = readTimeout
	return &Client{http: &http.Client{Transport: transport}}
}

// checkName returns an error if a name is not a valid file name within a folder.
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

// delayedError is an error after which the file store asks for a pause.
type delayedError struct {
	error
	after time.Duration
}

// maxReason bounds the part of an answer that is searched for an explanation.
const maxReason = 16 << 10

func checkStatus(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	var said struct{ Detail, Message string } // members of a problem document, and of a gateway's answer
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxReason)).Decode(&said)
	err := errors.New(strings.TrimSpace("the file store answers " + resp.Status + " " + cmp.Or(said.Detail, said.Message)))
	switch {
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return delayedError{err, min(time.Duration(max(seconds, 0))*time.Second, maxRetryDelay)}
	}
	return permanentError{err}
}

// retry calls do until it succeeds or fails permanently. Its errors contain no signed link, because a link is a secret.
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
		later, _ := errors.AsType[delayedError](err)
		delay := later.after + wait.Backoff(failures, maxRetryDelay) // the random part spreads workers with equal answers
		if _, no := errors.AsType[permanentError](err); no || failures == maxAttempts || !wait.Sleep(ctx, delay) {
			return err
		}
	}
}

// idleTimeout cancels a context when no byte was transferred for readTimeout.
type idleTimeout struct{ timer *time.Timer }

func withIdleTimeout(ctx context.Context) (_ context.Context, t idleTimeout, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t = idleTimeout{time.AfterFunc(readTimeout, func() { cancel(fmt.Errorf("nothing came for %s", readTimeout)) })}
	return ctx, t, func() {
		t.timer.Stop()
		cancel(nil)
	}
}

// Write implements io.Writer. It gets the transferred bytes and resets the timeout.
func (t idleTimeout) Write(b []byte) (int, error) {
	t.timer.Reset(readTimeout)
	return len(b), nil
}

// Download downloads the files into a new folder that all users may read.
func (c *Client) Download(ctx context.Context, files []*assayv1.File, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // programs in containers are other users
		return err
	}
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // whatever the worker's own mask is
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if err := checkName(f.GetName()); err != nil {
			return err
		}
		if err := retry(ctx, func() error { return c.get(ctx, f, root) }); err != nil {
			return fmt.Errorf("the file %s cannot be downloaded: %w", f.GetName(), err)
		}
		if err := root.Chmod(f.GetName(), 0o444); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) get(ctx context.Context, f *assayv1.File, root *os.Root) error {
	ctx, p, end := withIdleTimeout(ctx)
	defer end()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.GetUrl(), http.NoBody)
	if err != nil {
		return permanentError{errors.New("its link is not a URL")}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := checkStatus(resp); err != nil {
		return err
	}
	out, err := root.OpenFile(f.GetName(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return permanentError{err}
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum, p), io.LimitReader(resp.Body, f.GetSize()+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, root.Remove(f.GetName()))
	}
	return verify(f, n, sum)
}

func verify(f *assayv1.File, n int64, sum hash.Hash) error {
	if n != f.GetSize() {
		return permanentError{fmt.Errorf("it has other bytes than the %d that were announced", f.GetSize())}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.GetSha256() {
		return permanentError{fmt.Errorf("its SHA-256 is %s and not %s as announced", got, f.GetSha256())}
	}
	return nil
}

// Upload uploads a file of the folder.
func (c *Client) Upload(ctx context.Context, to *assayv1.Upload, folder *os.Root) error {
	if err := retry(ctx, func() error { return c.put(ctx, to, folder) }); err != nil {
		return fmt.Errorf("the file %s cannot be uploaded: %w", to.GetName(), err)
	}
	return nil
}

func (c *Client) put(ctx context.Context, to *assayv1.Upload, folder *os.Root) error {
	f, err := folder.Open(to.GetName())
	if err != nil {
		return permanentError{err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	ctx, p, end := withIdleTimeout(ctx)
	defer end()
	req, err := http.NewRequestWithContext(ctx, to.GetMethod(), to.GetUrl(), io.TeeReader(f, p))
	if err != nil {
		return permanentError{errors.New("its link is not a URL")}
	}
	req.ContentLength = info.Size()
	req.Header.Set("Expect", "100-continue") // S3 answers 412 without reading the body, and a sending client may miss that answer
	for name, value := range to.GetHeaders() {
		switch strings.ToLower(name) {
		case "host":
			req.Host = value
		case "content-length": // net/http sets it from the size
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusPreconditionFailed {
		return nil // an earlier attempt stored the file, but its answer was lost
	}
	return checkStatus(resp)
}

// maxFiles is the greatest number of files of a run.
const maxFiles = 20

// Collect describes the files at the top of an output folder. It also returns the names of the folders there, which are not uploaded.
func Collect(folder *os.Root) (files []*assayv1.File, folders []string, err error) {
	top, err := folder.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	entries, err := top.ReadDir(maxFiles * maxFiles)
	// For an empty folder, ReadDir returns io.EOF itself. A program may also have removed the folder.
	if err != nil && err != io.EOF && !errors.Is(err, os.ErrNotExist) { //nolint:errorlint // see above
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			folders = append(folders, e.Name())
			continue
		case !e.Type().IsRegular():
			return nil, nil, failure.New("%q in the output folder is a link or a device: only files are taken.", e.Name())
		case checkName(e.Name()) != nil:
			return nil, nil, failure.New("A file in the output folder cannot be taken: %s.", checkName(e.Name()))
		case len(files) == maxFiles:
			return nil, nil, failure.New("There are more than the %d files in the output folder that a run may have.", maxFiles)
		}
		f, err := describe(folder, e.Name())
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, nil, failure.New("It ended well but left no file in its output folder: write the run as a file into the folder that " +
			"ASSAY_OUTPUT names (in a container /assay/output).")
	}
	return files, folders, nil
}

func describe(folder *os.Root, name string) (*assayv1.File, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, failure.InFile(name, "The output file %s is empty.", name)
	}
	return &assayv1.File{Name: name, Size: n, Sha256: hex.EncodeToString(sum.Sum(nil)), MediaType: blob.MediaTypeOf(name)}, nil
}
