package directory

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"
	"assay/shared/testing/waittest"
)

// TestUpload_ReplacesTheOneBefore sends the same file on several connections, each of which stops before the end. At most one of them
// keeps bytes on the disk. The last upload is complete and is stored.
func TestUpload_ReplacesTheOneBefore(t *testing.T) {
	s := serve(t)
	content := strings.Repeat("content ", 1000)
	link := signPut(t, s, blobtest.Declare("a", content))
	for n := 1; n <= 3; n++ {
		sendSome(t, link, content, 2000*n)
		awaitUploads(t, s, "after an upload has begun", func(uploads []os.DirEntry) bool {
			if len(uploads) != 1 {
				return false
			}
			info, err := uploads[0].Info()
			return err == nil && info.Size() > int64(2000*n) // the header adds to the received bytes
		})
	}
	if res := do(t, link, strings.NewReader(content), int64(len(content))); res.StatusCode != http.StatusOK {
		t.Errorf("the last upload: %s", res.Status)
	}
	awaitUploads(t, s, "after the last upload", func(uploads []os.DirEntry) bool { return len(uploads) == 0 })
}

// TestUpload_EndsWhenNoLongerExpected deletes a file during its upload, or the record of the file. The received bytes are removed from
// the disk although the client keeps the connection, because no quota counts them any more.
func TestUpload_EndsWhenNoLongerExpected(t *testing.T) {
	for _, what := range []string{"file", "record"} {
		t.Run(what, func(t *testing.T) {
			var deleted atomic.Bool
			s := serveExpecting(t, recorded, func(context.Context, string) bool { return !deleted.Load() })
			content := strings.Repeat("content ", 1000)
			sendSome(t, signPut(t, s, blobtest.Declare("a", content)), content, 2000)
			awaitUploads(t, s, "after the upload has begun", func(uploads []os.DirEntry) bool { return len(uploads) == 1 })
			if what == "record" {
				deleted.Store(true)
			} else if err := s.Delete(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			awaitUploads(t, s, "after it was deleted", func(uploads []os.DirEntry) bool { return len(uploads) == 0 })
		})
	}
}

// TestUploadAgain_IsAnswered sends a large stored file again. Many clients read no answer before they have sent the whole body.
func TestUploadAgain_IsAnswered(t *testing.T) {
	s := serve(t)
	content := strings.Repeat("content ", 2<<20)
	link := signPut(t, s, blobtest.Declare("a", content))
	for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
		res, err := http.ReadResponse(bufio.NewReader(sendSome(t, link, content, len(content))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != want {
			t.Errorf("an upload of %d bytes: %s, want %d; %v", len(content), res.Status, want, err)
		}
	}
}

// sendSome sends the start of an upload over a new connection, stops after n bytes, and returns the connection.
func sendSome(t *testing.T, link blob.Link, content string, n int) net.Conn {
	t.Helper()
	address, path, _ := strings.Cut(strings.TrimPrefix(link.URL, "http://"), "/")
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "PUT /%s HTTP/1.1\r\nHost: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", path, address,
		len(content), content[:n])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// awaitUploads waits until holds accepts the files that are being written.
func awaitUploads(t *testing.T, s *Store, when string, holds func([]os.DirEntry) bool) {
	t.Helper()
	waittest.Value(t, "the uploads are as expected "+when, func() (files int, expected bool) {
		uploads, err := os.ReadDir(s.uploads)
		if err != nil {
			t.Fatal(err)
		}
		return len(uploads), holds(uploads)
	})
}
