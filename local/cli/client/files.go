package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/wait"
)

// Progress is called with the number of bytes that were transferred, and the total number.
type Progress func(name string, done, total int64)

// Digest returns the name, size and SHA-256 of an opened file, and closes the file. It returns err if this is not nil.
func Digest(f *os.File, err error) (file record.File, _ error) {
	if err != nil {
		return file, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() { // A pipe, for example, can be read only once.
		return file, errors.Join(err, fmt.Errorf("%w: %s is no file, which it has to be saved in first", ErrRefused, f.Name()))
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	return record.File{Name: filepath.Base(f.Name()), Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// ErrRefused is the error of a file that cannot be sent.
var ErrRefused = errors.New("it cannot be sent")

// Send sends a file to the object store. It calls link for an upload link before each attempt, because links expire. link returns nil if
// the file is stored already.
func (c *Client) Send(ctx context.Context, path string, link func(context.Context) (*record.Upload, error), progress Progress) error {
	return c.again(ctx, path, func() (final bool, err error) {
		to, err := link(ctx)
		if err != nil || to == nil {
			return true, err
		}
		status, err := put(ctx, path, to, progress)
		switch {
		case err != nil:
			_, here := errors.AsType[*fs.PathError](err) // an error of this machine, for example a missing file
			return here, err
		case status < 300, status == http.StatusPreconditionFailed: // 412: an earlier attempt whose answer got lost has stored the file
			return true, nil
		case status == http.StatusBadRequest:
			return true, fmt.Errorf("%w: %s has changed since it was announced, or arrived damaged. Submit it again", ErrRefused, path)
		}
		return refuses(status), fmt.Errorf("the store answered %d %s", status, http.StatusText(status))
	})
}

// refuses reports whether another attempt with a new link does not help. Links expire, which stores answer with 403.
func refuses(status int) bool {
	passing := []int{http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests}
	return status < 500 && !slices.Contains(passing, status) || status == http.StatusInsufficientStorage
}

// again calls do until it succeeds or its error is final, with growing waits between the attempts.
func (c *Client) again(ctx context.Context, path string, do func() (final bool, err error)) error {
	var err error
	for attempt := range attempts {
		var final bool
		if final, err = do(); final || err == nil {
			return err
		}
		if f, ok := errors.AsType[*fault](err); ok && f.final || ctx.Err() != nil {
			break
		}
		if attempt == attempts-1 {
			break
		}
		pause := min(shortest<<attempt, longest)
		c.notify(fmt.Sprintf("%s did not pass: %s", path, err), pause)
		if !wait.Sleep(ctx, pause) {
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s did not pass: %w. The same command goes on with it", path, err)
}

// objects is the client for object stores. It sends no token.
var objects = &http.Client{Transport: patient(http.DefaultTransport)}

// Plain returns a client without tokens, for servers that are not Assay's. It names proxies that refuse, and waits at most silence.
func Plain() *http.Client { return objects }

// request sends a request to the object store. The caller closes the answer.
func request(ctx context.Context, method, to string, headers map[string]string, body io.Reader, size int64) (*http.Response, error) {
	if size == 0 {
		body = http.NoBody
	}
	r, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return nil, err
	}
	r.ContentLength = size
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := objects.Do(r)
	switch {
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("%s cannot be reached: %w", r.URL.Host, faultOf(err, r, proxyOf(objects, r)))
	case err != nil:
		err = ctx.Err()
	case res.StatusCode == http.StatusProxyAuthRequired:
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s cannot be reached: %w", r.URL.Host, refusedBy(proxyOf(objects, r), r.URL, res))
	}
	return res, err
}

func put(ctx context.Context, path string, to *record.Upload, progress Progress) (status int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	body := &counted{Reader: f, name: filepath.Base(path), total: info.Size(), progress: progress}
	res, err := request(ctx, http.MethodPut, to.URL, to.Headers, body, info.Size())
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, errors.Join(err, res.Body.Close())
}

// counted is a reader that reports its progress.
type counted struct {
	io.Reader
	name        string
	done, total int64
	progress    Progress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.done += int64(n)
	c.progress(c.name, c.done, c.total)
	return n, err
}

// ErrNoLink is the error for a file that the caller may not read.
var ErrNoLink = errors.New("there is no link to it")

// Fetch downloads a file to the path in a folder, and checks its digest. Neither the path nor a symbolic link can leave the folder. It
// continues a partial download in path.part, and renames it to path when the file is complete. It calls link for a download link before
// each attempt, because links expire.
func (c *Client) Fetch(ctx context.Context, in *os.Root, path string, file record.File, link func(context.Context) (string, error),
	progress Progress) error {
	if has, err := Digest(in.Open(path)); err == nil && has.Size == file.Size && has.SHA256 == file.SHA256 {
		return nil
	}
	return c.again(ctx, path, func() (final bool, err error) {
		from, err := link(ctx)
		if err == nil && from == "" {
			err = ErrNoLink
		}
		if err != nil {
			return true, err
		}
		if err := fetchRest(ctx, in, path+".part", from, file.Size, progress); err != nil {
			_, here := errors.AsType[*fs.PathError](err) // an error of this machine, for example a full disk
			return here, err
		}
		if has, err := Digest(in.Open(path + ".part")); err != nil || has.SHA256 != file.SHA256 {
			return false, errors.Join(err, errors.New("what arrived does not have the digest that was announced"), in.Remove(path+".part"))
		}
		return true, in.Rename(path+".part", path)
	})
}

// fetchRest downloads the missing end of the file, and appends it.
func fetchRest(ctx context.Context, in *os.Root, path, from string, size int64, progress Progress) (err error) {
	f, err := in.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	have, err := f.Seek(0, io.SeekEnd)
	if err != nil || have == size {
		return err
	}
	rest := map[string]string{}
	if have > 0 && have < size {
		rest["Range"] = fmt.Sprintf("bytes=%d-", have)
	}
	res, err := request(ctx, http.MethodGet, from, rest, nil, 0)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK:
		have, err = f.Seek(0, io.SeekStart)
		if err := errors.Join(err, f.Truncate(0)); err != nil {
			return err
		}
	default:
		return &fault{text: "the store answered " + res.Status, final: refuses(res.StatusCode)}
	}
	body := &counted{Reader: res.Body, name: filepath.Base(path), done: have, total: size, progress: progress}
	_, err = io.Copy(f, io.LimitReader(body, size-have+1))
	return err
}

// Copy writes the content behind a link. It refuses content that is longer than the bound of an answer.
func Copy(ctx context.Context, w io.Writer, from string) error {
	res, err := request(ctx, http.MethodGet, from, nil, nil, 0)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the store answered %s", res.Status)
	}
	_, err = io.Copy(w, io.LimitReader(res.Body, mostBytes))
	return err
}
