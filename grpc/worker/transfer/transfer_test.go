package transfer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/transfer"
)

const content = "1 Q0 d1 1 0.5 lakeside\n"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// TestTransfer_RetriesTransientFailures interrupts and refuses transfers before it lets them succeed.
func TestTransfer_RetriesTransientFailures(t *testing.T) {
	var calls atomic.Int32
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch calls.Add(1) {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case 2:
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, content[:5])
			panic(http.ErrAbortHandler)
		}
		if r.Method == http.MethodPut {
			got, _ = io.ReadAll(r.Body)
			if r.ContentLength != int64(len(content)) || r.Header.Get("Content-Type") != "text/plain" || len(r.Header["Authorization"]) > 0 {
				t.Errorf("the upload has %d bytes and the headers %v", r.ContentLength, r.Header)
			}
			return
		}
		io.WriteString(w, content)
	}))
	defer server.Close()
	c := transfer.NewClient()
	folder := filepath.Join(t.TempDir(), "input")
	file := &assayv1.File{Name: "run.txt", Size: int64(len(content)), Sha256: digest(content), Url: server.URL}
	must(t, c.Download(t.Context(), []*assayv1.File{file}, folder))
	if b, err := os.ReadFile(filepath.Join(folder, "run.txt")); err != nil || string(b) != content || calls.Load() != 3 {
		t.Errorf("%q %v after %d calls", b, err, calls.Load())
	}
	calls.Store(0)
	root, err := os.OpenRoot(folder)
	must(t, err)
	defer root.Close()
	to := &assayv1.Upload{Name: "run.txt", Method: http.MethodPut, Url: server.URL, Headers: map[string]string{
		"Content-Type": "text/plain", "Content-Length": "23",
	}}
	if err := c.Upload(t.Context(), to, root); err != nil || string(got) != content || calls.Load() != 3 {
		t.Errorf("%q %v after %d calls", got, err, calls.Load())
	}
	to.Name = "../run.txt"
	if err := c.Upload(t.Context(), to, root); err == nil {
		t.Error("a file outside of the folder was sent")
	}
}

// A gateway in front of the server answers without a problem document.
func TestTransfer_UnderstandsAnswersOfAGateway(t *testing.T) {
	var began time.Time
	answers := map[string]int{"Too Many Requests": http.StatusTooManyRequests, "Request Entity Too Large": http.StatusRequestEntityTooLarge}
	next := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		message := <-next
		if answers[message] == http.StatusTooManyRequests {
			began = time.Now()
		} else if took := time.Since(began); took < time.Second {
			t.Errorf("the next request came %s after an answer that asks to wait for a second", took)
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(answers[message])
		fmt.Fprintf(w, `{"message":%q}`, message)
	}))
	defer server.Close()
	next <- "Too Many Requests"
	next <- "Request Entity Too Large"
	file := &assayv1.File{Name: "run.txt", Size: 1, Url: server.URL}
	err := transfer.NewClient().Download(t.Context(), []*assayv1.File{file}, filepath.Join(t.TempDir(), "input"))
	if err == nil || !strings.HasSuffix(err.Error(), "413 Request Entity Too Large Request Entity Too Large") {
		t.Errorf("%v", err)
	}
}

// After an upload with a lost answer, the store refuses the repeated upload. That counts as success.
func TestUpload_TreatsAStoredFileAsSent(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		if r.Header.Get("Expect") != "100-continue" {
			t.Error("the body is sent before the answer that refuses it")
		}
		w.WriteHeader(http.StatusPreconditionFailed)
	}))
	defer server.Close()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "run.txt"), []byte("run"), 0o600))
	root, err := os.OpenRoot(folder)
	must(t, err)
	defer root.Close()
	to := &assayv1.Upload{Name: "run.txt", Method: http.MethodPut, Url: server.URL, Headers: map[string]string{"If-None-Match": "*"}}
	if err := transfer.NewClient().Upload(t.Context(), to, root); err != nil || calls.Load() != 2 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestTransfer_DoesNotRetryRefusals(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	file := &assayv1.File{Name: "a", Size: 1, Sha256: digest("a"), Url: server.URL + "/?signature=secret"}
	err := transfer.NewClient().Download(t.Context(), []*assayv1.File{file}, filepath.Join(t.TempDir(), "input"))
	if err == nil || !strings.Contains(err.Error(), "403") || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	server.Close()
	file.Url = "http://127.0.0.1:1\x00/?signature=secret"
	if err := transfer.NewClient().Download(t.Context(), []*assayv1.File{file}, filepath.Join(t.TempDir(), "input")); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("the link stands in the error: %v", err)
	}
}

func TestCollect_DescribesFiles(t *testing.T) {
	folder := t.TempDir()
	root, err := os.OpenRoot(folder)
	must(t, err)
	defer root.Close()
	var ofRun *failure.RunError
	if _, _, err := transfer.Collect(root); !errors.As(err, &ofRun) {
		t.Errorf("of an empty folder: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(folder, "run.tsv"), []byte(content), 0o600))
	must(t, os.Mkdir(filepath.Join(folder, "models"), 0o700))
	files, folders, err := transfer.Collect(root)
	if err != nil || len(files) != 1 || len(folders) != 1 || folders[0] != "models" {
		t.Fatalf("%v %v %v", files, folders, err)
	}
	if f := files[0]; f.GetName() != "run.tsv" || f.GetSize() != int64(len(content)) || f.GetSha256() != digest(content) ||
		f.GetMediaType() != "text/tab-separated-values" {
		t.Errorf("collected %v", f)
	}
}
