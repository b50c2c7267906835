package blobtest

import (
	"bytes"
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

	"assay/shared/blob"
)

// answer is a response that was read to its end.
type answer struct {
	*http.Response
	content []byte
}

// request uses a link as a client would, after change has had its way with the request.
func request(t *testing.T, link blob.Link, body io.Reader, size int64, change func(*http.Request)) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), link.Method, link.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = size
	r.Close = true // a server that refuses a body may close the connection, while the next request is written to it
	for name, value := range link.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
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
	return answer{res, content}
}

func signPut(t *testing.T, s blob.Store, o blob.Object) blob.Link {
	t.Helper()
	expires := time.Now().Add(time.Hour)
	link, err := s.SignPut(t.Context(), o, expires)
	if err != nil {
		t.Fatal(err)
	}
	if link.Method != http.MethodPut || link.ExpiresAt.After(expires) {
		t.Errorf("link is %+v, asked to expire at %s", link, expires)
	}
	return link
}

func signGet(t *testing.T, s blob.Store, key, filename, mediaType string) blob.Link {
	t.Helper()
	expires := time.Now().Add(time.Hour)
	link, err := s.SignGet(t.Context(), key, filename, mediaType, expires)
	if err != nil {
		t.Fatal(err)
	}
	if link.Method != http.MethodGet || link.ExpiresAt.After(expires) {
		t.Errorf("link is %+v, asked to expire at %s", link, expires)
	}
	return link
}

func expectStatus(t *testing.T, what string, got answer, from, to int) {
	t.Helper()
	if got.StatusCode < from || got.StatusCode > to {
		t.Errorf("%s: %s %.300s; want %d to %d", what, got.Status, got.content, from, to)
	}
}

func upload(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1, 5 << 20} {
		content := bytes.Repeat([]byte("line\n"), size/5+1)[:size]
		o := Declare(fmt.Sprintf("uploads/%d", size), content)
		link := signPut(t, s, o)
		got := request(t, link, bytes.NewReader(content), o.Size, nil)
		expectStatus(t, "upload", got, 200, 299)
		expect(t, s, o, content)
		// A client that got no answer tries again. A store may refuse a large body and end the connection while the client still
		// sends, which then finds no answer: what the store of a directory answers then, its own tests say.
		for range 2 {
			if size > 1 {
				break
			}
			got := request(t, link, bytes.NewReader(content), o.Size, nil)
			expectStatus(t, "upload again", got, http.StatusPreconditionFailed, http.StatusPreconditionFailed)
			expect(t, s, o, content)
		}
		if err := s.Delete(t.Context(), o.Key); err != nil {
			t.Fatal(err)
		}
		got = request(t, link, bytes.NewReader(content), o.Size, nil)
		expectStatus(t, "upload of what was deleted", got, 200, 299)
	}
}

func uploadOtherBytes(t *testing.T, s blob.Store) {
	content := bytes.Repeat([]byte("x"), 100<<10)
	other := bytes.Repeat([]byte("y"), 100<<10)
	o := Declare("a", content)
	got := request(t, signPut(t, s, o), bytes.NewReader(other), o.Size, nil)
	expectStatus(t, "upload of other bytes", got, 400, 499)
	expectNothing(t, s, "a")
	former := put(t, s, "a", []byte("former"))
	got = request(t, signPut(t, s, o), bytes.NewReader(other), o.Size, nil)
	expectStatus(t, "upload of other bytes", got, 400, 499)
	expect(t, s, former, []byte("former"))
}

func uploadOtherLength(t *testing.T, s blob.Store) {
	content := []byte("twelve bytes")
	o := Declare("a", content)
	link := signPut(t, s, o)
	for name, sent := range map[string][]byte{"longer": []byte("twelve bytes!"), "shorter": []byte("twelve byte"), "empty": {}} {
		got := request(t, link, bytes.NewReader(sent), int64(len(sent)), nil)
		expectStatus(t, name, got, 400, 499)
	}
	got := request(t, link, struct{ io.Reader }{bytes.NewReader(content)}, -1, nil)
	expectStatus(t, "chunked", got, 400, 499)
	got = request(t, link, bytes.NewReader(content), o.Size, func(r *http.Request) { r.Header.Set("Content-Type", "text/html") })
	expectStatus(t, "another media type", got, 400, 499)
	expectNothing(t, s, "a")
}

// uploadBreaksOff closes the connection in the middle of an upload.
func uploadBreaksOff(t *testing.T, s blob.Store) {
	content := bytes.Repeat([]byte("x"), 1<<20)
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
	if _, err := io.Copy(io.Discard, conn); err != nil { // until the server is done with it
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	expectNothing(t, s, "a")

	got := request(t, link, bytes.NewReader(content), o.Size, nil)
	expectStatus(t, "second try", got, 200, 299)
	expect(t, s, o, content)
}

func download(t *testing.T, s blob.Store) {
	content := bytes.Repeat([]byte("<script>alert(1)</script>\n"), 10000)
	put(t, s, "a", content)
	for _, test := range []struct{ filename, mediaType, wantName, wantType string }{
		{"run.txt", "", "run.txt", "text/plain"},
		{"Läufe \"€\".csv", "text/csv; charset=utf-8", "Läufe \"€\".csv", "text/csv; charset=utf-8"},
		{"../x\r\nSet-Cookie: a=b", "application/json", ".._x__Set-Cookie: a=b", "application/json"},
	} {
		got := request(t, signGet(t, s, "a", test.filename, test.mediaType), nil, 0, nil)
		expectStatus(t, test.filename, got, 200, 200)
		if !bytes.Equal(got.content, content) || got.ContentLength != int64(len(content)) {
			t.Errorf("%q: got %d bytes, Content-Length %d, want %d", test.filename, len(got.content), got.ContentLength, len(content))
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
	content := []byte("0123456789")
	put(t, s, "a", content)
	link := signGet(t, s, "a", "a", "")
	for header, want := range map[string]string{"bytes=0-3": "0123", "bytes=4-": "456789", "bytes=-2": "89"} {
		got := request(t, link, nil, 0, func(r *http.Request) { r.Header.Set("Range", header) })
		if got.StatusCode != http.StatusPartialContent || string(got.content) != want {
			t.Errorf("Range %s: %s %q, want %q", header, got.Status, got.content, want)
		}
	}
	got := request(t, link, nil, 0, func(r *http.Request) { r.Header.Set("Range", "bytes=10-") })
	expectStatus(t, "range after the end", got, 416, 416)

	got = request(t, link, nil, 0, nil)
	tag := got.Header.Get("ETag")
	got = request(t, link, nil, 0, func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if tag == "" || got.StatusCode != http.StatusNotModified || len(got.content) > 0 {
		t.Errorf("If-None-Match %q: %s %q", tag, got.Status, got.content)
	}
	put(t, s, "a", []byte("others"))
	got = request(t, link, nil, 0, func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if got.StatusCode != http.StatusOK || string(got.content) != "others" {
		t.Errorf("If-None-Match of the former file: %s %q", got.Status, got.content)
	}
}

func downloadMissing(t *testing.T, s blob.Store) {
	link := signGet(t, s, "a", "a", "")
	got := request(t, link, nil, 0, nil)
	expectStatus(t, "missing file", got, 400, 499)
	put(t, s, "a", []byte("x"))
	got = request(t, link, nil, 0, nil)
	expectStatus(t, "same link, now stored", got, 200, 200)
}

// alteredLinks changes every part of a link, one after the other; none may work for anything but what it was made for.
func alteredLinks(t *testing.T, s blob.Store) {
	put(t, s, "mine/1", []byte("mine"))
	put(t, s, "secret/1", []byte("secret"))
	get := signGet(t, s, "mine/1", "name.txt", "text/plain")
	upload := Declare("mine/1", []byte("new!"))
	up := signPut(t, s, upload)

	refused := func(what string, link blob.Link, body string) {
		t.Helper()
		got := request(t, link, strings.NewReader(body), int64(len(body)), nil)
		expectStatus(t, what, got, 400, 499)
	}
	altered := func(link blob.Link, change func(*url.URL)) blob.Link {
		u, err := url.Parse(link.URL)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		link.URL = u.String()
		return link
	}
	for name, link := range map[string]struct {
		link blob.Link
		body string
	}{"get": {get, ""}, "put": {up, "new!"}} {
		u, err := url.Parse(link.link.URL)
		if err != nil {
			t.Fatal(err)
		}
		for param := range u.Query() {
			refused(name+" without "+param, altered(link.link, func(u *url.URL) {
				q := u.Query()
				q.Del(param)
				u.RawQuery = q.Encode()
			}), link.body)
			refused(name+" with another "+param, altered(link.link, func(u *url.URL) {
				q := u.Query()
				q.Set(param, q.Get(param)+"0")
				u.RawQuery = q.Encode()
			}), link.body)
		}
		refused(name+" of another key", altered(link.link, func(u *url.URL) { u.Path = strings.Replace(u.Path, "mine/1", "secret/1", 1) }),
			link.body)
		refused(name+" of a path above",
			altered(link.link, func(u *url.URL) { u.Path = strings.Replace(u.Path, "mine/1", "mine/../secret/1", 1) }), link.body)
		refused(name+" unsigned", altered(link.link, func(u *url.URL) { u.RawQuery = "" }), link.body)
	}
	crossed := get
	crossed.Method = http.MethodPut
	refused("PUT with the link of a GET", crossed, "new!")
	crossed.Method = http.MethodDelete
	refused("DELETE with the link of a GET", crossed, "")
	crossed = up
	crossed.Method = http.MethodGet
	refused("GET with the link of a PUT", crossed, "")

	expect(t, s, Declare("mine/1", []byte("mine")), []byte("mine"))
	expect(t, s, Declare("secret/1", []byte("secret")), []byte("secret"))
}

func expiredLinks(t *testing.T, s blob.Store) {
	put(t, s, "a", []byte("x"))
	o := Declare("b", []byte("y"))
	expires := time.Now().Add(1500 * time.Millisecond) // S3 counts whole seconds, and at least one
	get, err := s.SignGet(t.Context(), "a", "a", "", expires)
	if err != nil {
		t.Fatal(err)
	}
	up, err := s.SignPut(t.Context(), o, expires)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(expires) + 10*time.Millisecond)
	got := request(t, get, nil, 0, nil)
	expectStatus(t, "expired download", got, 403, 403)
	got = request(t, up, strings.NewReader("y"), 1, nil)
	expectStatus(t, "expired upload", got, 403, 403)
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
