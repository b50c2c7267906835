package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// storeOver returns a store over a test server with the handler.
func storeOver(t *testing.T, answer http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	cfg := signedBy(plain)
	cfg.BaseEndpoint = &server.URL
	cfg.Retryer = func() aws.Retryer { // the default retryer without pauses
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return New(cfg, "files")
}

func storeRefusedBy(t *testing.T, status int, code string) *Store {
	return storeOver(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said S3</Message></Error>", code)
		}
	})
}

func TestErrors_AreThoseOfTheContract(t *testing.T) {
	for _, test := range []struct {
		status      int
		code        string
		open, stat  bool // whether the method returns ErrNotFound
		explanation string
	}{
		{404, "NoSuchKey", true, true, "nothing is stored"},
		{404, "NoSuchBucket", false, true, "HEAD can't tell"},
		{403, "AccessDenied", false, false, "the role lacks a permission"},
		{400, "ExpiredToken", false, false, "the credentials are old"},
	} {
		s := storeRefusedBy(t, test.status, test.code)
		if _, err := s.Open(t.Context(), "a"); errors.Is(err, blob.ErrNotFound) != test.open || err == nil {
			t.Errorf("Open, %s: %v", test.code, err)
		} else if !test.open && (!strings.Contains(err.Error(), test.code) || !strings.Contains(err.Error(), "file a in bucket files")) {
			t.Errorf("the error of Open tells neither what nor why: %v", err)
		}
		if _, err := s.Stat(t.Context(), "a"); errors.Is(err, blob.ErrNotFound) != test.stat || err == nil {
			t.Errorf("Stat, %s: %v", test.code, err)
		}
		if err := s.Delete(t.Context(), "a"); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Delete, %s: %v", test.code, err)
		}
		for _, err := range s.List(t.Context(), "", "", noon) {
			if err == nil || errors.Is(err, blob.ErrNotFound) {
				t.Errorf("List, %s: %v", test.code, err)
			}
		}
	}
}

func TestDelete_ReportsWhatIsLeft(t *testing.T) {
	s := storeOver(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>`)
	})
	if err := s.Delete(t.Context(), "a", "b"); err == nil || !strings.Contains(err.Error(), "b: AccessDenied") {
		t.Errorf("Delete: %v", err)
	}
}

// TestList_LeavesOutWhatMayBeYounger checks that times of S3 count as truncated to whole seconds.
func TestList_LeavesOutWhatMayBeYounger(t *testing.T) {
	s := storeOver(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<ListBucketResult><Contents><Key>a</Key><LastModified>2026-03-01T12:00:00.000Z</LastModified></Contents></ListBucketResult>`)
	})
	for before, want := range map[time.Duration]int{0: 0, 999 * time.Millisecond: 0, time.Second: 1} {
		n := 0
		for _, err := range s.List(t.Context(), "", "", noon.Add(before)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("before 12:00:00 + %s: %d files, want %d", before, n, want)
		}
	}
}

func TestStat_NeedsADigest(t *testing.T) {
	s := storeOver(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-Amz-Checksum-Mode"); got != "ENABLED" {
			t.Errorf("X-Amz-Checksum-Mode is %q, without which S3 keeps the digest to itself", got)
		}
		w.Header().Set("Content-Length", "3")
	})
	if o, err := s.Stat(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "has no SHA-256") {
		t.Errorf("Stat: %+v, %v", o, err)
	}
}

func TestOpen_VerifiesTheDigest(t *testing.T) {
	sum := sha256.Sum256([]byte("stored"))
	s := storeOver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Checksum-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
		fmt.Fprint(w, "st0red")
	})
	r, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if content, err := io.ReadAll(r); err == nil {
		t.Errorf("read %q without an error", content)
	}
}

// TestPut_IsRetried makes the server fail once after it has read a part of the file. The repeated request must send the whole file.
func TestPut_IsRetried(t *testing.T) {
	for _, size := range []int{0, 100, maxInMemory, maxInMemory + 1} {
		content := bytes.Repeat([]byte("x"), size)
		o := output(int64(size))
		sum := sha256.Sum256(content)
		o.SHA256 = hex.EncodeToString(sum[:])
		var tries atomic.Int32
		s := storeOver(t, func(w http.ResponseWriter, r *http.Request) {
			if tries.Add(1) == 1 {
				_, _ = io.CopyN(io.Discard, r.Body, int64(size/2))
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			h := sha256.New()
			n, err := io.Copy(h, r.Body)
			if err != nil || n != int64(size) || r.ContentLength != n || !bytes.Equal(h.Sum(nil), sum[:]) {
				t.Errorf("%d bytes: %d came with a Content-Length of %d, %v", size, n, r.ContentLength, err)
			}
			for name, want := range map[string]string{
				"Content-Type": "text/csv", "X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(sum[:]),
			} {
				if got := r.Header.Get(name); got != want || !strings.Contains(r.Header.Get("Authorization"), strings.ToLower(name)) {
					t.Errorf("%d bytes: %s is %q, want it to be %q and signed", size, name, got, want)
				}
			}
		})
		if err := s.Put(t.Context(), o, bytes.NewReader(content)); err != nil || tries.Load() != 2 {
			t.Errorf("%d bytes: %v after %d tries, want 2", size, err, tries.Load())
		}
	}
}

func TestPut_SendsNothingUnverified(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := storeOver(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("S3 got %s %s", r.Method, r.URL) })
	cut := errors.New("cut")
	for _, size := range []int64{100, maxInMemory + 1} {
		o := zeroed(t, size)
		for name, test := range map[string]struct {
			o    blob.Object
			r    io.Reader
			want error
		}{
			"shorter":      {o, io.LimitReader(blobtest.Zeros{}, size-1), blob.ErrMismatch},
			"endless":      {o, blobtest.Zeros{}, blob.ErrMismatch},
			"other digest": {output(size), io.LimitReader(blobtest.Zeros{}, size), blob.ErrMismatch},
			"broken":       {o, io.MultiReader(io.LimitReader(blobtest.Zeros{}, size/2), iotest.ErrReader(cut)), cut},
		} {
			if err := s.Put(t.Context(), test.o, test.r); !errors.Is(err, test.want) {
				t.Errorf("%s, %d bytes: %v, want %v", name, size, err, test.want)
			}
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("the folder for temporary files has %v, %v", left, err)
	}
}

// TestPut_NeedsLittleMemory bounds the total of all allocations.
func TestPut_NeedsLittleMemory(t *testing.T) {
	const size = 64 << 20
	o := zeroed(t, size)
	s := storeOver(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.Put(t.Context(), o, io.LimitReader(blobtest.Zeros{}, size)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("a file of %d bytes took %d bytes of memory", size, got)
	}
}

// zeroed declares a file of zeros with the size.
func zeroed(t *testing.T, size int64) blob.Object {
	t.Helper()
	sum := sha256.New()
	if _, err := io.CopyN(sum, blobtest.Zeros{}, size); err != nil {
		t.Fatal(err)
	}
	o := output(size)
	o.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return o
}

// TestCalls_EndAtTheirDeadline calls a server that never answers.
func TestCalls_EndAtTheirDeadline(t *testing.T) {
	released := make(chan struct{})
	s := storeOver(t, func(http.ResponseWriter, *http.Request) { <-released })
	t.Cleanup(func() { close(released) })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for name, err := range map[string]error{
		"Put":    s.Put(ctx, output(0), strings.NewReader("")),
		"Delete": s.Delete(ctx, "a"),
		"Stat":   func() error { _, err := s.Stat(ctx, "a"); return err }(),
		"Open":   func() error { _, err := s.Open(ctx, "a"); return err }(),
	} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSign_NeedsCredentials signs without a role.
func TestSign_NeedsCredentials(t *testing.T) {
	s := New(aws.Config{Region: "eu-central-1", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("no role")
	})}, "files")
	if _, err := s.SignPut(t.Context(), output(3), time.Now().Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "no role") {
		t.Errorf("SignPut: %v", err)
	}
}
