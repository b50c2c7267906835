package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"assay/grpc/assayv1"
)

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
	req.Header.Set("Expect", "100-continue") // S3 answers 412 without reading the body; a client that is sending it can lose the answer
	for name, value := range to.GetHeaders() {
		switch strings.ToLower(name) {
		case "host":
			req.Host = value
		case "content-length": // net/http sends it, from the size
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
