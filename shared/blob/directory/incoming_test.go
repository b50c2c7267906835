package directory

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestUpload_ReplacesTheOneBefore sends the same file on several connections, each of which stops before the end: one of them at
// most keeps bytes on the disk, and the upload that comes last is stored.
func TestUpload_ReplacesTheOneBefore(t *testing.T) {
	s := serve(t, t.TempDir(), recorded)
	content := strings.Repeat("content ", 1000)
	link := signPut(t, s, declare("a", content))
	addr, path, _ := strings.Cut(strings.TrimPrefix(link.URL, "http://"), "/")
	files := func() int {
		left, err := os.ReadDir(s.uploads)
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: there are %d files", what, files())
			}
		}
	}
	for n := 1; n <= 3; n++ {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "PUT /%s HTTP/1.1\r\nHost: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", path, addr, len(content), content[:2000*n])
		if err != nil {
			t.Fatal(err)
		}
		until("after an upload has begun", func() bool {
			entries, err := os.ReadDir(s.uploads)
			if err != nil || len(entries) != 1 {
				return false
			}
			info, err := entries[0].Info()
			return err == nil && info.Size() > int64(2000*n) // with what says which object it is
		})
	}
	if res := do(t, http.MethodPut, link.URL, strings.NewReader(content), int64(len(content)), link.Headers); res.StatusCode != http.StatusOK {
		t.Errorf("the last upload: %s", res.Status)
	}
	until("after the last upload", func() bool { return files() == 0 })
}
