//go:build s3

package functions_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"assay/shared/language/problem"
	"assay/shared/testing/waittest"
)

// mirror is a transport to the deployment. It sends each request that changes nothing also to the handlers in this process, and
// compares the answers byte for byte. It masks dates and the signatures made from them, because they differ each time.
type mirror struct {
	t        *testing.T
	prefix   string
	handler  http.Handler
	compared atomic.Int64
}

func (m *mirror) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.String(), m.prefix) {
		return http.DefaultTransport.RoundTrip(r)
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	r = r.Clone(r.Context())
	// http.Transport requests compressed content on its own. Here, both servers must get the same request.
	decode := r.Header.Get("Accept-Encoding") == "" && r.Method != http.MethodHead
	if decode {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	var res *http.Response
	var err error
	// The evaluator may change the resource between the two requests. Requests whose answers differ are therefore repeated,
	// except a POST.
	statement := fmt.Sprintf("the function and the handler answer alike to %s %s", r.Method, r.URL)
	waittest.Value(m.t, statement, func() (difference string, expected bool) {
		var first reply
		r.Body = io.NopCloser(bytes.NewReader(body))
		if res, err = http.DefaultTransport.RoundTrip(r); err != nil { //nolint:bodyclose // read closes it
			return "", true
		}
		if first, err = read(res, decode); err != nil {
			return "", true
		}
		res.Body = io.NopCloser(bytes.NewReader(first.body))
		if changes(r, first) {
			return "", true
		}
		switch difference = first.differs(m.ask(r, body, decode)); {
		case difference == "":
			m.compared.Add(1)
		case r.Method == http.MethodPost:
			m.t.Errorf("it does not hold that %s: %s", statement, difference)
			return difference, true
		}
		return difference, difference == ""
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// changes reports whether the request cannot be repeated, because it changes something or waits for another request that does.
func changes(r *http.Request, answered reply) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	default:
		return answered.status < http.StatusBadRequest || bytes.Contains(answered.body, []byte(problem.UnderWay.Type()))
	}
}

// ask sends the request to the handler in this process.
func (m *mirror) ask(r *http.Request, body []byte, decode bool) reply {
	again := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.RequestURI(), bytes.NewReader(body))
	again.Header = r.Header
	again.Host = r.URL.Host
	again.ContentLength = int64(len(body))
	again.URL.Scheme = "https" // like the gateway
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, again)
	out, err := read(w.Result(), decode)
	if err != nil {
		m.t.Error(err)
	}
	if r.Method == http.MethodHead {
		out.body = nil
	}
	return out
}

// reply is an answer with its whole body.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// read reads an answer, and decodes its content if decode is true. The entity tag still shows whether the content was encoded.
func read(res *http.Response, decode bool) (reply, error) {
	defer func() { _ = res.Body.Close() }()
	content := io.Reader(res.Body)
	if decode && res.Header.Get("Content-Encoding") == "gzip" {
		decoded, err := gzip.NewReader(res.Body)
		if err != nil {
			return reply{}, err
		}
		content = decoded
		res.Header.Del("Content-Encoding")
		res.Header.Del("Content-Length") // length of the encoded content
	}
	body, err := io.ReadAll(content)
	return reply{res.StatusCode, res.Header, body}, err
}

var (
	signed = regexp.MustCompile(`X-Amz-(Date|Signature|Expires)=[0-9A-Za-z]+`)
	ids    = regexp.MustCompile(`"requestId":"[^"]*"`)
	etag   = regexp.MustCompile(`"[0-9a-z]+-[0-9A-Za-z_-]+"`)
	// aside lists headers that differ for each request, or that the HTTP server adds.
	aside = []string{"Date", "Content-Length", "Connection", "X-Request-Id"}
)

// masked returns a body without the parts that differ each time.
func masked(body []byte) []byte { return ids.ReplaceAll(signed.ReplaceAll(body, nil), nil) }

// differs describes a difference between two replies. It returns an empty text if they are equal.
func (a reply) differs(b reply) string {
	if a.status != b.status {
		return http.StatusText(a.status) + " and " + http.StatusText(b.status) + ": " + string(a.body) + " and " + string(b.body)
	}
	links := signed.Match(a.body)
	one, other := masked(a.body), masked(b.body)
	if !bytes.Equal(one, other) {
		return string(one) + " and " + string(other)
	}
	names := slices.Sorted(maps.Keys(a.header))
	for _, name := range slices.Sorted(maps.Keys(b.header)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if slices.Contains(aside, name) {
			continue
		}
		x, y := strings.Join(a.header[name], ","), strings.Join(b.header[name], ",")
		if name == "Etag" && links {
			x, y = etag.ReplaceAllString(x, ""), etag.ReplaceAllString(y, "") // the tag depends on the body, including signatures
		}
		if x != y {
			return name + " is " + x + " and " + y
		}
	}
	return ""
}
