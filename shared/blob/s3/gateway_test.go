//go:build s3

// These tests need the Versity S3 Gateway, which takes minutes to build: make test-s3 builds it once and runs them.

package s3_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/shared/blob"
	"assay/shared/blob/blobtest"
	"assay/shared/blob/s3"
	"assay/shared/blob/s3/s3test"
)

// TestMain lets no test use a connection twice. The gateway refuses an upload without reading its body, and then takes
// that for the next request on the connection.
func TestMain(m *testing.M) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	http.DefaultClient.Transport = repeating{transport}
	os.Exit(m.Run())
}

// repeating sends a request again whose connection the gateway ended before its answer could be read, which happens now and then when
// it refuses without reading the body.
type repeating struct{ transport *http.Transport }

func (t repeating) RoundTrip(r *http.Request) (res *http.Response, err error) {
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
		return &asFiles{Store: s3.New(cfg, s3test.Bucket(t, cfg))}
	})
}

// asFiles gives each key another that can be the path of a file. The gateway keeps objects as files, so that to it,
// unlike to S3, "a" and "a/b" can't both be there and a segment has at most 255 bytes.
type asFiles struct {
	*s3.Store
	keys sync.Map // of what the gateway knows to what the caller knows
}

func (s *asFiles) path(key string) string {
	if blob.CheckKey(key) != nil {
		return key
	}
	folder, name := path.Split(key)
	if len(name) > 200 {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	p := folder + name + "-" // which no folder of the suite ends in
	s.keys.Store(p, key)
	return p
}

func (s *asFiles) Put(ctx context.Context, o blob.Object, r io.Reader) error {
	o.Key = s.path(o.Key)
	return s.Store.Put(ctx, o, r)
}

func (s *asFiles) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.Store.Open(ctx, s.path(key))
}

func (s *asFiles) Stat(ctx context.Context, key string) (blob.Object, error) {
	o, err := s.Store.Stat(ctx, s.path(key))
	if err == nil {
		o.Key = key
	}
	return o, err
}

func (s *asFiles) Delete(ctx context.Context, keys ...string) error {
	paths := make([]string, len(keys))
	for i, key := range keys {
		paths[i] = s.path(key)
	}
	return s.Store.Delete(ctx, paths...)
}

func (s *asFiles) List(ctx context.Context, prefix string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for p, err := range s.Store.List(ctx, prefix, before) {
			key, _ := s.keys.LoadOrStore(p, p)
			if name, ok := key.(string); !ok || !yield(name, err) {
				return
			}
		}
	}
}

func (s *asFiles) SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (blob.Link, error) {
	return s.Store.SignGet(ctx, s.path(key), filename, mediaType, expires)
}

func (s *asFiles) SignPut(ctx context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	o.Key = s.path(o.Key)
	return s.Store.SignPut(ctx, o, expires)
}

// TestList_ReadsManyPages deletes more keys than one request holds and lists more than one page holds.
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
	count := func() (n int) {
		for _, err := range s.List(t.Context(), "runs/", time.Now().Add(time.Hour)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if got := count(); got != n {
		t.Errorf("%d files are listed, want %d", got, n)
	}
	if err := s.Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	if got := count(); got != 0 {
		t.Errorf("%d files are left, want none", got)
	}
}

// TestLinks_WorkInCurl uploads and downloads as the documentation tells users to.
func TestLinks_WorkInCurl(t *testing.T) {
	s := s3.New(s3test.Start(t))
	file := bytes.Repeat([]byte("line\n"), 100_000)
	link, err := s.SignPut(t.Context(), blobtest.Declare("runs/1/output", file), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	curl := func(in []byte, args ...string) (status string) {
		c := exec.CommandContext(t.Context(), "curl", append([]string{"-sS", "-o", filepath.Join(t.TempDir(), "answer"), "-w", "%{http_code}"},
			args...)...)
		c.Stdin = bytes.NewReader(in)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v\n%s", err, out)
		}
		return string(out)
	}
	upload := func(change string) []string {
		args := []string{"-X", link.Method, link.URL, "--data-binary", "@-"}
		for name, value := range link.Headers {
			if name == change {
				value += "x"
			}
			args = append(args, "-H", name+": "+value)
		}
		return args
	}
	other := bytes.Clone(file)
	other[0]++
	for name, got := range map[string]string{
		"other bytes":        curl(other, upload("")...),
		"a byte more":        curl(append(file, '\n'), upload("")...),
		"a byte less":        curl(file[1:], upload("")...),
		"another media type": curl(file, upload("Content-Type")...),
		"another SHA-256":    curl(file, upload("X-Amz-Checksum-Sha256")...),
	} {
		if got < "400" || got > "499" {
			t.Errorf("%s: status %s, want 400 to 499", name, got)
		}
	}
	if o, err := s.Stat(t.Context(), "runs/1/output"); err == nil {
		t.Errorf("refused uploads left %+v", o)
	}
	if got := curl(file, upload("")...); got != "200" {
		t.Errorf("upload: status %s", got)
	}
	get, err := s.SignGet(t.Context(), "runs/1/output", "output.txt", "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got := curl(nil, get.URL); got != "200" {
		t.Errorf("download: status %s", got)
	}
}

// TestPut_SendsLargeFiles sends a file through the folder for temporary files.
func TestPut_SendsLargeFiles(t *testing.T) {
	s := s3.New(s3test.Start(t))
	content := make([]byte, 20<<20)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	o := blobtest.Declare("large", content)
	if err := s.Put(t.Context(), o, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil || hex.EncodeToString(sum.Sum(nil)) != o.SHA256 {
		t.Errorf("the bytes differ (%v)", err)
	}
}

func TestUpload_IsNotified(t *testing.T) {
	events := make(chan []byte, 10)
	s := s3.New(s3test.StartNotifying(t, func(event []byte) { events <- event }))
	if err := s.Put(t.Context(), blobtest.Declare("runs/1/output", []byte("x")), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	var event struct {
		Records []struct {
			EventName string `json:"eventName"`
			S3        struct {
				Object struct {
					Key string `json:"key"`
				} `json:"object"`
			} `json:"s3"`
		}
	}
	select {
	case raw := <-events:
		if err := json.Unmarshal(raw, &event); err != nil || len(event.Records) != 1 {
			t.Fatalf("event %s: %v", raw, err)
		}
	case <-t.Context().Done():
		t.Fatal("no event came")
	}
	if r := event.Records[0]; !strings.Contains(r.EventName, "ObjectCreated:Put") || r.S3.Object.Key != "runs/1/output" {
		t.Errorf("event is %+v", r)
	}
}
