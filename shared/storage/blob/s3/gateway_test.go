//go:build s3

// These tests need the Versity S3 Gateway, which takes minutes to build. `make test-s3` builds it once and runs them.

package s3_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/blob/s3/s3test"
)

// TestMain disables the reuse of connections. When the gateway refuses an upload without reading its body, it parses the body as the
// next request.
func TestMain(m *testing.M) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	http.DefaultClient.Transport = retryTransport{transport}
	os.Exit(m.Run())
}

// retryTransport repeats a request if the gateway closes the connection before its answer can be read. That happens occasionally when
// the gateway refuses a request without reading the body.
type retryTransport struct{ transport *http.Transport }

func (t retryTransport) RoundTrip(r *http.Request) (res *http.Response, err error) {
	for range 20 {
		again := r.Clone(r.Context())
		if r.GetBody != nil {
			if again.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		res, err = t.transport.RoundTrip(again)
		if r.GetBody == nil || !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			break
		}
	}
	return res, err
}

func TestConformance(t *testing.T) {
	cfg, _ := s3test.Start(t)
	blobtest.Run(t, func(t *testing.T) blob.Store {
		return &gatewayStore{Store: s3.New(cfg, s3test.Bucket(t, cfg))}
	})
}

// gatewayStore maps each key to a key that is a valid file path. The gateway stores objects as files, so unlike in S3, "a" and "a/b"
// cannot both exist, and a segment has at most 255 bytes.
type gatewayStore struct {
	*s3.Store
	keys sync.Map // from the gateway's keys to the caller's
}

func (s *gatewayStore) path(key string) string {
	if blob.CheckKey(key) != nil {
		return key
	}
	folder, name := path.Split(key)
	if len(name) > 200 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	p := folder + name + "-" // no folder of the suite ends in a hyphen
	s.keys.Store(p, key)
	return p
}

func (s *gatewayStore) Put(ctx context.Context, o blob.Object, r io.Reader) error {
	o.Key = s.path(o.Key)
	return s.Store.Put(ctx, o, r)
}

func (s *gatewayStore) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.Store.Open(ctx, s.path(key))
}

func (s *gatewayStore) Stat(ctx context.Context, key string) (blob.Object, error) {
	o, err := s.Store.Stat(ctx, s.path(key))
	if err == nil {
		o.Key = key
	}
	return o, err
}

func (s *gatewayStore) Delete(ctx context.Context, keys ...string) error {
	paths := make([]string, len(keys))
	for i, key := range keys {
		paths[i] = s.path(key)
	}
	return s.Store.Delete(ctx, paths...)
}

func (s *gatewayStore) List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for p, err := range s.Store.List(ctx, prefix, after, before) {
			key, _ := s.keys.LoadOrStore(p, p)
			if name, ok := key.(string); !ok || !yield(name, err) {
				return
			}
		}
	}
}

func (s *gatewayStore) SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (blob.Link, error) {
	return s.Store.SignGet(ctx, s.path(key), filename, mediaType, expires)
}

func (s *gatewayStore) SignPut(ctx context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	o.Key = s.path(o.Key)
	return s.Store.SignPut(ctx, o, expires)
}

// TestList_ReadsManyPages lists more keys than a page contains, and deletes more than a request may contain.
func TestList_ReadsManyPages(t *testing.T) {
	s := s3.New(s3test.Start(t))
	const n = 1003
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("runs/%d/output", i)
		if err := s.Put(t.Context(), blobtest.Declare(keys[i], ""), strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	count := func(after string) (n int) {
		for _, err := range s.List(t.Context(), "runs/", after, time.Now().Add(time.Hour)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if got := count(""); got != n {
		t.Errorf("%d files are listed, want %d", got, n)
	}
	if got, want := count(slices.Sorted(slices.Values(keys))[1]), n-2; got != want {
		t.Errorf("%d files are listed after the second, want %d", got, want)
	}
	if err := s.Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if got := count(""); got != 0 {
		t.Errorf("%d files are left, want none", got)
	}
}

// TestLinks_WorkInCurl uploads and downloads with the commands in the documentation.
func TestLinks_WorkInCurl(t *testing.T) {
	s := s3.New(s3test.Start(t))
	file := strings.Repeat("line\n", 100_000)
	put, putErr := s.SignPut(t.Context(), blobtest.Declare("runs/1/output", file), time.Now().Add(time.Hour))
	get, getErr := s.SignGet(t.Context(), "runs/1/output", "output.txt", "", time.Now().Add(time.Hour))
	if err := errors.Join(putErr, getErr); err != nil {
		t.Fatal(err)
	}
	upload := []string{"-X", put.Method, put.URL, "--data-binary", "@-"}
	for name, value := range put.Headers {
		upload = append(upload, "-H", name+": "+value)
	}
	for _, args := range [][]string{upload, {get.URL}} {
		c := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "-o", filepath.Join(t.TempDir(), "answer"), "-w", "%{http_code}"},
			args...)...)
		c.Stdin = strings.NewReader(file)
		if status, err := c.CombinedOutput(); err != nil || string(status) != "200" {
			t.Errorf("curl %q: %s, %v", args, status, err)
		}
	}
}

// TestLinkTo_LeadsToAnotherAddressOfTheServer makes links that use another name of the server than this process. The signature covers
// the name.
func TestLinkTo_LeadsToAnotherAddressOfTheServer(t *testing.T) {
	cfg, bucket := s3test.Start(t)
	public := strings.Replace(*cfg.BaseEndpoint, "127.0.0.1", "localhost", 1)
	s := s3.New(cfg, bucket).LinkTo(public)
	put, err := s.SignPut(t.Context(), blobtest.Declare("runs/1/output", "content"), time.Now().Add(time.Hour))
	if err != nil || !strings.HasPrefix(put.URL, public+"/"+bucket+"/") {
		t.Fatal(put, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), put.Method, put.URL, strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range put.Headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	if o, err := s.Stat(t.Context(), "runs/1/output"); err != nil || o.Size != 7 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestCreateBucket_LetsPagesUpload creates a bucket. A second call leaves the bucket unchanged.
func TestCreateBucket_LetsPagesUpload(t *testing.T) {
	cfg, _ := s3test.Start(t)
	s := s3.New(cfg, "made-by-assay")
	if _, err := s.Open(t.Context(), "table"); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a bucket that is missing is not distinguished from a file that is: %v", err)
	}
	for range 2 {
		if err := s.CreateBucket(t.Context(), "https://lab.example.org"); err != nil {
			t.Fatal(err)
		}
	}
	put, err := s.SignPut(t.Context(), blobtest.Declare("runs/1/output", "content"), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]bool{"https://lab.example.org": true, "https://elsewhere.example.org": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, put.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", http.MethodPut)
		r.Header.Set("Access-Control-Request-Headers", "content-type,x-amz-checksum-sha256")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if allowed := answer.Header.Get("Access-Control-Allow-Origin") == origin; allowed != want {
			t.Errorf("a page of %s may upload: %v (%s)", origin, allowed, answer.Status)
		}
	}
}
