package directory

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/language/problem"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/blobtest"
)

// recorded accepts the completion of every upload.
func recorded(context.Context, string) error { return nil }

// answer renders a problem like package api.
func answer(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem.Error
	if !errors.As(err, &p) {
		panic(err)
	}
	w.Header().Set("Content-Type", problem.MediaType)
	w.WriteHeader(p.Kind.Status)
	if err := json.NewEncoder(w).Encode(p.Document(r.URL.Path, "")); err != nil {
		panic(err)
	}
}

// expected reports that every file is expected.
func expected(context.Context, string) bool { return true }

// serve opens an empty store and serves its links.
func serve(t *testing.T) *Store {
	t.Helper()
	return serveExpecting(t, recorded, expected)
}

// serveImpatiently is like serve, with server timeouts shorter than a transfer of the test.
func serveImpatiently(t *testing.T) *Store {
	t.Helper()
	return serveWithin(t, 200*time.Millisecond, recorded, expected)
}

// serveExpecting is like serve, with the given callbacks.
func serveExpecting(t *testing.T, stored func(context.Context, string) error, expected func(context.Context, string) bool) *Store {
	t.Helper()
	return serveWithin(t, time.Hour, stored, expected)
}

func serveWithin(t *testing.T, timeout time.Duration, stored func(context.Context, string) error,
	expected func(context.Context, string) bool) *Store {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.TempDir(), "http://"+listener.Addr().String()+"/files")
	if err != nil {
		t.Fatal(err)
	}
	s.expectedPollInterval = 10 * time.Millisecond
	mux := http.NewServeMux()
	mux.Handle("/files/", http.StripPrefix("/files/", s.Handler(stored, expected, answer)))
	server := &httptest.Server{Listener: listener, Config: &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: time.Hour,
		ReadTimeout:       timeout,
		WriteTimeout:      timeout,
	}}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// reply is an answer with its problem document.
type reply struct {
	blobtest.Answer
	problem problem.Document
}

func do(t *testing.T, link blob.Link, body io.Reader, size int64) reply {
	t.Helper()
	got := reply{Answer: blobtest.Send(t, link, body, func(r *http.Request) { r.ContentLength = size })}
	if got.StatusCode < 400 || link.Method == http.MethodHead {
		return got
	}
	if err := json.Unmarshal(got.Content, &got.problem); err != nil || got.problem.Status != got.StatusCode ||
		got.Header.Get("Content-Type") != problem.MediaType {
		t.Errorf("%s %s: %s %s %.300s is no problem document", link.Method, link.URL, got.Status, got.Header.Get("Content-Type"), got.Content)
	}
	if cache := got.Header.Get("Cache-Control"); cache != "no-store" {
		t.Errorf("%s %s: %s may be cached: %q", link.Method, link.URL, got.Status, cache)
	}
	return got
}

func signPut(t *testing.T, s *Store, o blob.Object) blob.Link {
	t.Helper()
	link, err := s.SignPut(t.Context(), o, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func signGet(t *testing.T, s *Store, key string) blob.Link {
	t.Helper()
	link, err := s.SignGet(t.Context(), key, "a.txt", "", s.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func TestDownload_HasSafeHeaders(t *testing.T) {
	s := serve(t)
	put(t, s, "a", "<script>alert(1)</script>")
	link := signGet(t, s, "a")
	for method, length := range map[string]int{http.MethodGet: 25, http.MethodHead: 0} {
		link.Method = method
		res := do(t, link, nil, 0)
		if res.StatusCode != http.StatusOK || res.ContentLength != 25 || len(res.Content) != length {
			t.Errorf("%s: %s, Content-Length %d, body %q", method, res.Status, res.ContentLength, res.Content)
		}
		for name, want := range map[string]string{
			"Content-Type":            "text/plain",
			"Content-Disposition":     `attachment; filename="a.txt"`,
			"X-Content-Type-Options":  "nosniff",
			"Content-Security-Policy": "default-src 'none'; sandbox",
			"Cache-Control":           "private, no-cache",
			"Accept-Ranges":           "bytes",
			"Etag":                    `"` + blobtest.Declare("a", "<script>alert(1)</script>").SHA256 + `"`,
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
	}
}

// with returns a copy of the headers with another one.
func with(headers map[string]string, name, value string) map[string]string {
	headers = maps.Clone(headers)
	headers[name] = value
	return headers
}

func TestHandler_AnswersProblems(t *testing.T) {
	s := serve(t)
	put(t, s, "a", "content")
	get, up := signGet(t, s, "a"), signPut(t, s, blobtest.Declare("a", "content"))
	missing := signGet(t, s, "missing")
	fresh := signPut(t, s, blobtest.Declare("b", "content"))
	s.Now = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	expired := signGet(t, s, "a")
	s.Now = time.Now

	for name, test := range map[string]struct {
		method, url string
		body        string
		size        int64
		headers     map[string]string
		status      int
		slug, says  string
	}{
		"bad signature":      {"GET", get.URL + "x", "", 0, nil, 403, "forbidden", "exactly as it was given"},
		"broken query":       {"GET", get.URL + "&%zz", "", 0, nil, 403, "forbidden", "exactly as it was given"},
		"more parameters":    {"GET", get.URL + "&utm_source=x", "", 0, nil, 403, "forbidden", "exactly as it was given"},
		"expired":            {"GET", expired.URL, "", 0, nil, 403, "forbidden", "expired at"},
		"missing":            {"GET", missing.URL, "", 0, nil, 404, "not-found", "not stored"},
		"range":              {"GET", get.URL, "", 0, map[string]string{"Range": "bytes=7-"}, 416, "range-not-satisfiable", "Content-Range"},
		"precondition":       {"GET", get.URL, "", 0, map[string]string{"If-Match": `"x"`}, 412, "precondition-failed", "If-Match"},
		"method":             {"POST", up.URL, "content", 7, up.Headers, 405, "method-not-allowed", "PUT"},
		"chunked":            {"PUT", up.URL, "content", -1, up.Headers, 411, "length-required", "Content-Length of 7"},
		"too long":           {"PUT", up.URL, "content!", 8, up.Headers, 413, "too-large", "declared with 7 bytes"},
		"too short":          {"PUT", up.URL, "conten", 6, up.Headers, 400, "bad-request", "declared with 7 bytes"},
		"without media type": {"PUT", up.URL, "content", 7, nil, 400, "bad-request", "Content-Type: text/plain"},
		"none to match": {"PUT", fresh.URL, "content", 7, with(fresh.Headers, "If-Match", "*"), 412, "precondition-failed",
			"not stored yet"},
		"other bytes":    {"PUT", fresh.URL, "CONTENT", 7, fresh.Headers, 422, "invalid", blobtest.Declare("b", "content").SHA256},
		"stored already": {"PUT", up.URL, "content", 7, up.Headers, 412, "precondition-failed", "has arrived"},
	} {
		t.Run(name, func(t *testing.T) {
			link := blob.Link{Method: test.method, URL: test.url, Headers: test.headers}
			res := do(t, link, struct{ io.Reader }{strings.NewReader(test.body)}, test.size)
			if res.StatusCode != test.status || res.problem.Type != "urn:assay:problem:"+test.slug ||
				!strings.Contains(res.problem.Detail, test.says) {
				t.Errorf("%s %s, want %d %s that says %q", res.Status, res.Content, test.status, test.slug, test.says)
			}
			if test.status == 405 && res.Header.Get("Allow") != "GET, HEAD, PUT" {
				t.Errorf("Allow is %q", res.Header.Get("Allow"))
			}
			if test.status == 416 && res.Header.Get("Content-Range") != "bytes */7" {
				t.Errorf("Content-Range is %q", res.Header.Get("Content-Range"))
			}
			if disposition := res.Header.Get("Content-Disposition"); disposition != "" {
				t.Errorf("Content-Disposition is %q", disposition)
			}
		})
	}
	if got, err := s.Stat(t.Context(), "a"); err != nil || got != blobtest.Declare("a", "content") {
		t.Errorf("after all that: %+v, %v", got, err)
	}
}

func TestUpload_IsRecordedBeforeTheAnswer(t *testing.T) {
	var s *Store
	var calls atomic.Int32
	outcome := errors.New("the table is not there")
	s = serveExpecting(t, func(ctx context.Context, key string) error {
		calls.Add(1)
		if _, err := s.Stat(ctx, key); err != nil || key != "runs/1" {
			t.Errorf("stored was called with %q before the file was there: %v", key, err)
		}
		return outcome
	}, expected)
	o := blobtest.Declare("runs/1", "content")
	link := signPut(t, s, o)
	upload := func() reply { return do(t, link, strings.NewReader("content"), 7) }

	if res := upload(); res.StatusCode != 503 || !strings.Contains(res.problem.Detail, "Upload it again") ||
		strings.Contains(res.problem.Detail, "table") {
		t.Errorf("when it can't be recorded: %s %q", res.Status, res.problem.Detail)
	}
	if _, err := s.Stat(t.Context(), o.Key); err != nil {
		t.Errorf("the file went although the client is to try again: %v", err)
	}
	outcome = nil
	for range 2 { // each upload calls complete for the stored file
		if res := upload(); res.StatusCode != 412 {
			t.Errorf("again: %s", res.Status)
		}
	}
	outcome = blob.ErrNotFound
	if res := upload(); res.StatusCode != 404 || !strings.Contains(res.problem.Detail, "Nobody waits") {
		t.Errorf("when nobody waits for it: %s %q", res.Status, res.problem.Detail)
	}
	if _, err := s.Stat(t.Context(), o.Key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the file that nobody waits for is still there: %v", err)
	}
	if n := calls.Load(); n != 4 {
		t.Errorf("stored was called %d times, want 4", n)
	}
	do(t, link, strings.NewReader("CONTENT"), 7)
	if n := calls.Load(); n != 4 {
		t.Error("stored was called for bytes that were refused")
	}
}

// slow is a reader that yields its content in pieces with pauses.
type slow struct {
	pieces []string
	pause  time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pause)
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}

func TestUpload_EndsWhenStalled(t *testing.T) {
	s := serveImpatiently(t)
	link := signPut(t, s, blobtest.Declare("a", "123456"))
	res := do(t, link, &slow{strings.Split("123456", ""), 60 * time.Millisecond}, 6)
	if res.StatusCode != 200 {
		t.Errorf("an upload that takes longer than the server's timeouts: %s %s", res.Status, res.Content)
	}

	s = serve(t)
	s.stallTimeout = time.Second // long enough to write the answer
	answer, err := io.ReadAll(sendSome(t, signPut(t, s, blobtest.Declare("a", "123456")), "123456", 3))
	if err != nil || !strings.Contains(string(answer), " 400 ") || !strings.Contains(string(answer), "broke off") {
		t.Errorf("a stalled upload: %q, %v", answer, err)
	}
	if _, err := s.Stat(t.Context(), "a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a stalled upload was stored: %v", err)
	}
}

func TestDownload_MayBeSlow(t *testing.T) {
	s := serveImpatiently(t)
	content := strings.Repeat("x", 32<<20) // more than the buffers of a connection
	put(t, s, "a", content)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, signGet(t, s, "a").URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	got, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil || string(got) != content {
		t.Errorf("a download that takes longer than the server's timeouts: %d of %d bytes, %v", len(got), len(content), err)
	}
}

func TestUpload_NeedsLittleMemory(t *testing.T) {
	const size, limit = 1 << 30, 64 << 20
	s := serve(t)
	o := blob.Object{
		Key: "large", Size: size, MediaType: blob.DefaultMediaType,
		SHA256: "49bc20df15e412a64472421e13fe86ff1c5165e18b2afccf160d4dc19fe68a14", // of 1 GiB of zeros
	}
	link := signPut(t, s, o)

	before, peak := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, heap())
			}
		}
	}()
	res := do(t, link, io.LimitReader(blobtest.Zeros{}, size), size)
	close(stop)
	<-stopped
	if res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, res.Content)
	}
	t.Logf("the heap grew by at most %d KiB", (max(peak, before)-before)>>10)
	if peak > before+limit {
		t.Errorf("the heap grew by %d MiB, more than %d", (peak-before)>>20, limit>>20)
	}
	if got, err := s.Stat(t.Context(), "large"); err != nil || got != o {
		t.Errorf("%+v, %v", got, err)
	}
}

// heap returns the size of the heap in bytes, including free parts that the process holds.
func heap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	total := uint64(0)
	for _, sample := range samples {
		total += sample.Value.Uint64()
	}
	return total
}
