//go:build s3 || container

package main

import (
	"io"
	"net/http"
	"testing"

	"assay/shared/testing/waittest"
)

// readOps returns the body of an answer to operators.
func readOps(t *testing.T, addr, path string) string {
	t.Helper()
	return waittest.Value(t, path+" answers", func() (string, bool) {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			return err.Error(), false
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		return string(body), err == nil
	})
}
