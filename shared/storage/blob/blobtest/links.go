package blobtest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"assay/shared/storage/blob"
)

// Answer is a response with its complete body.
type Answer struct {
	*http.Response
	Content []byte
}

// Send sends the request of a link like a client, with the changes.
func Send(t *testing.T, link blob.Link, body io.Reader, changes ...func(*http.Request)) Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), link.Method, link.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true // a server that refuses a body may close the connection while the next request is being sent
	for name, value := range link.Headers {
		r.Header.Set(name, value)
	}
	for _, change := range changes {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return Answer{res, content}
}

// WithHeader returns a change that sets a header.
func WithHeader(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// answers sends the content and expects a status in the range.
func answers(t *testing.T, from, to int, what string, link blob.Link, content string, changes ...func(*http.Request)) Answer {
	t.Helper()
	got := Send(t, link, strings.NewReader(content), changes...)
	if got.StatusCode < from || got.StatusCode > to {
		t.Errorf("%s: %s %.300s; want %d to %d", what, got.Status, got.Content, from, to)
	}
	return got
}

func accepted(t *testing.T, what string, link blob.Link, content string) Answer {
	t.Helper()
	return answers(t, 200, 299, what, link, content)
}

func refused(t *testing.T, what string, link blob.Link, content string, changes ...func(*http.Request)) {
	t.Helper()
	answers(t, 400, 499, what, link, content, changes...)
}

func sign(t *testing.T, method string, sign func(expires time.Time) (blob.Link, error)) blob.Link {
	t.Helper()
	expires := time.Now().Add(time.Hour)
	link, err := sign(expires)
	if err != nil {
		t.Fatal(err)
	}
	if early := expires.Sub(link.ExpiresAt); link.Method != method || early < 0 || early >= time.Second {
		t.Errorf("link is %+v, asked to expire at %s", link, expires)
	}
	return link
}

func signPut(t *testing.T, s blob.Store, o blob.Object) blob.Link {
	t.Helper()
	return sign(t, http.MethodPut, func(expires time.Time) (blob.Link, error) { return s.SignPut(t.Context(), o, expires) })
}

func signGet(t *testing.T, s blob.Store, key, filename, mediaType string) blob.Link {
	t.Helper()
	return sign(t, http.MethodGet, func(expires time.Time) (blob.Link, error) {
		return s.SignGet(t.Context(), key, filename, mediaType, expires)
	})
}

func upload(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1, 5 << 20} {
		content := strings.Repeat("line\n", size/5+1)[:size]
		o := Declare(fmt.Sprintf("uploads/%d", size), content)
		link := signPut(t, s, o)
		accepted(t, "upload", link, content)
		expect(t, s, o, content)
		// A client that got no answer tries again. A store may refuse a large body and close the connection while the client still
		// sends, which then reads no answer; package directory tests its own answer.
		for range 2 {
			if size > 1 {
				break
			}
			answers(t, http.StatusPreconditionFailed, http.StatusPreconditionFailed, "upload again", link, content)
			expect(t, s, o, content)
		}
		if err := s.Delete(t.Context(), o.Key); err != nil {
			t.Fatal(err)
		}
		accepted(t, "upload of what was deleted", link, content)
	}
}

func uploadOtherBytes(t *testing.T, s blob.Store) {
	o := Declare("a", strings.Repeat("x", 100<<10))
	other := strings.Repeat("y", 100<<10)
	refused(t, "upload of other bytes", signPut(t, s, o), other)
	expectNothing(t, s, "a")
	former := put(t, s, "a", "former")
	refused(t, "upload of other bytes", signPut(t, s, o), other)
	expect(t, s, former, "former")
}

// uploadUndeclared sends another length than the declared one, or other headers than the link's.
func uploadUndeclared(t *testing.T, s blob.Store) {
	const content = "twelve bytes"
	link := signPut(t, s, Declare("a", content))
	for _, sent := range []string{content + "!", content[1:], ""} {
		refused(t, fmt.Sprintf("%d bytes", len(sent)), link, sent)
	}
	refused(t, "chunked", link, content, func(r *http.Request) { r.ContentLength = -1 })
	for name, value := range link.Headers {
		refused(t, "another "+name, link, content, WithHeader(name, value+"x"))
	}
	expectNothing(t, s, "a")
}

// uploadAborted closes the connection in the middle of an upload.
func uploadAborted(t *testing.T, s blob.Store) {
	content := strings.Repeat("x", 1<<20)
	o := Declare("a", content)
	link := signPut(t, s, o)
	u, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme != "http" {
		t.Fatalf("the suite needs links over plain HTTP, not %s", link.URL)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", u.RequestURI(), u.Host, o.Size)
	for name, value := range link.Headers {
		fmt.Fprintf(conn, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(conn, "\r\n%s", content[:len(content)/2])
	if tcp, ok := conn.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatalf("could not break off the upload to %s", u.Host)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil { // until the server closes the connection
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	expectNothing(t, s, "a")

	accepted(t, "second try", link, content)
	expect(t, s, o, content)
}

func download(t *testing.T, s blob.Store) {
	content := strings.Repeat("<script>alert(1)</script>\n", 10000)
	put(t, s, "a", content)
	for _, test := range []struct{ filename, mediaType, wantName, wantType string }{
		{"run.txt", "", "run.txt", "text/plain"},
		{"Läufe \"€\".csv", "text/csv; charset=utf-8", "Läufe \"€\".csv", "text/csv; charset=utf-8"},
		{"../x\r\nSet-Cookie: a=b", "application/json", ".._x__Set-Cookie: a=b", "application/json"},
	} {
		got := accepted(t, test.filename, signGet(t, s, "a", test.filename, test.mediaType), "")
		if string(got.Content) != content || got.ContentLength != int64(len(content)) {
			t.Errorf("%q: got %d bytes, Content-Length %d, want %d", test.filename, len(got.Content), got.ContentLength, len(content))
		}
		if mediaType := got.Header.Get("Content-Type"); mediaType != test.wantType {
			t.Errorf("%q: Content-Type is %q, want %q", test.filename, mediaType, test.wantType)
		}
		kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
		if err != nil || kind != "attachment" || params["filename"] != test.wantName {
			t.Errorf("%q: Content-Disposition is %q", test.filename, got.Header.Get("Content-Disposition"))
		}
		if got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: the file name made a header", test.filename)
		}
	}
}

func downloadRanges(t *testing.T, s blob.Store) {
	put(t, s, "a", "0123456789")
	link := signGet(t, s, "a", "a", "")
	for header, want := range map[string]string{"bytes=0-3": "0123", "bytes=4-": "456789", "bytes=-2": "89"} {
		got := answers(t, http.StatusPartialContent, http.StatusPartialContent, "range "+header, link, "", WithHeader("Range", header))
		if string(got.Content) != want {
			t.Errorf("Range %s: %q, want %q", header, got.Content, want)
		}
	}
	answers(t, 416, 416, "range after the end", link, "", WithHeader("Range", "bytes=10-"))

	tag := accepted(t, "download", link, "").Header.Get("ETag")
	got := answers(t, http.StatusNotModified, http.StatusNotModified, "what was not modified", link, "", WithHeader("If-None-Match", tag))
	if tag == "" || len(got.Content) > 0 {
		t.Errorf("If-None-Match %q: %q", tag, got.Content)
	}
	put(t, s, "a", "others")
	got = answers(t, 200, 200, "what was modified", link, "", WithHeader("If-None-Match", tag))
	if string(got.Content) != "others" {
		t.Errorf("If-None-Match of the former file: %q", got.Content)
	}
}

func downloadMissing(t *testing.T, s blob.Store) {
	link := signGet(t, s, "a", "a", "")
	refused(t, "missing file", link, "")
	put(t, s, "a", "x")
	accepted(t, "same link, now stored", link, "")
}

// alteredLinks changes each part of a link in turn. The store must refuse each altered link.
func alteredLinks(t *testing.T, s blob.Store) {
	mine, secret := put(t, s, "mine/1", "mine"), put(t, s, "secret/1", "secret")
	get := signGet(t, s, "mine/1", "name.txt", "text/plain")
	up := signPut(t, s, Declare("mine/1", "new!"))
	for name, of := range map[string]struct {
		link blob.Link
		body string
	}{"get": {get, ""}, "put": {up, "new!"}} {
		u, err := url.Parse(of.link.URL)
		if err != nil {
			t.Fatal(err)
		}
		refusedWith := func(what, path string, query url.Values) {
			t.Helper()
			altered, link := *u, of.link
			altered.Path, altered.RawQuery = path, query.Encode()
			link.URL = altered.String()
			refused(t, name+what, link, of.body)
		}
		for param := range u.Query() {
			without, with := u.Query(), u.Query()
			without.Del(param)
			with.Set(param, with.Get(param)+"0")
			refusedWith(" without "+param, u.Path, without)
			refusedWith(" with another "+param, u.Path, with)
		}
		refusedWith(" of another key", strings.Replace(u.Path, "mine/1", "secret/1", 1), u.Query())
		refusedWith(" of a path above", strings.Replace(u.Path, "mine/1", "mine/../secret/1", 1), u.Query())
		refusedWith(" unsigned", u.Path, nil)
	}
	crossed := get
	crossed.Method = http.MethodPut
	refused(t, "PUT with the link of a GET", crossed, "new!")
	crossed.Method = http.MethodDelete
	refused(t, "DELETE with the link of a GET", crossed, "")
	crossed = up
	crossed.Method = http.MethodGet
	refused(t, "GET with the link of a PUT", crossed, "")

	expect(t, s, mine, "mine")
	expect(t, s, secret, "secret")
}

func expiredLinks(t *testing.T, s blob.Store) {
	put(t, s, "a", "x")
	expires := time.Now().Add(1500 * time.Millisecond) // S3 uses whole seconds, and at least one
	get, getErr := s.SignGet(t.Context(), "a", "a", "", expires)
	up, putErr := s.SignPut(t.Context(), Declare("b", "y"), expires)
	if err := errors.Join(getErr, putErr); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(expires) + 10*time.Millisecond)
	answers(t, 403, 403, "expired download", get, "")
	answers(t, 403, 403, "expired upload", up, "y")
	expectNothing(t, s, "b")
}

func linkLife(t *testing.T, s blob.Store) {
	for ahead, valid := range map[time.Duration]bool{-time.Second: false, time.Minute: true, 6 * 24 * time.Hour: true,
		8 * 24 * time.Hour: false} {
		expires := time.Now().Add(ahead)
		if _, err := s.SignGet(t.Context(), "a", "a", "", expires); (err == nil) != valid {
			t.Errorf("SignGet for %s: %v", ahead, err)
		}
		if _, err := s.SignPut(t.Context(), Declare("a", ""), expires); (err == nil) != valid {
			t.Errorf("SignPut for %s: %v", ahead, err)
		}
	}
}
