package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"

	"assay/grpc/assayv1"
)

// Download downloads the files into a new folder, readable for all users.
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
