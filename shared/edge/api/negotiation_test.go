package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

func gzipped(t testing.TB, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, content)
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gunzipped(t *testing.T, a servertest.Answer) string {
	t.Helper()
	if a.Header.Get("Content-Encoding") != "gzip" {
		return string(a.Body)
	}
	r, err := gzip.NewReader(bytes.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestCoding_IsTheOneThatIsWanted(t *testing.T) {
	s := serve(t)
	path := s.Create("alice", "/v1/notes", map[string]any{"name": "one", "text": strings.Repeat("a text of some length, ", 200)})
	for _, to := range []string{path, "/v1/notes"} {
		plain := s.Want(http.StatusOK, nil, "", http.MethodGet, to, nil, "Accept-Encoding", "identity")
		for accept, coded := range map[string]bool{
			"gzip": true, "x-gzip": true, "GZIP;q=0.5": true, "*": true, "br, gzip;q=0.1, *;q=0": true, "gzip, identity": true,
			"gzip;q=0.2, identity;q=0.1": true, "identity;q=0, *": true,
			"identity": false, "br": false, "gzip;q=0": false, "*;q=0, identity": false, "gzip;q=0, *": false, "gzip;q=0.1, identity;q=0.2": false,
			"gzip;q=x": false, ",,;": false,
		} {
			a := s.Want(http.StatusOK, nil, "", http.MethodGet, to, nil, "Accept-Encoding", accept)
			if (a.Header.Get("Content-Encoding") == "gzip") != coded || gunzipped(t, a) != string(plain.Body) ||
				coded == (len(a.Body) == len(plain.Body)) {
				t.Errorf("GET %s, %q: %d bytes with %v", to, accept, len(a.Body), a.Header)
			}
			want := plain.Header.Get("ETag")
			if coded && want != "" {
				want = strings.TrimSuffix(want, `"`) + `-gzip"`
			}
			if a.Header.Get("ETag") != want || a.Header.Get("Vary") != "Origin, Authorization, Accept, Accept-Encoding" {
				t.Errorf("GET %s, %q: ETag %s, want %s; Vary %s", to, accept, a.Header.Get("ETag"), want, a.Header.Get("Vary"))
			}
		}
		for _, accept := range []string{"*;q=0", "identity;q=0", "br, *;q=0", "gzip;q=0, identity;q=0"} {
			refused(t, s.Do("", http.MethodGet, to, nil, "Accept-Encoding", accept), problem.NotAcceptable)
		}
	}
}

// Short, compressed or random bodies are sent without compression, unless the caller accepts only gzip.
func TestCoding_IsLeftOutWhereItGainsNothing(t *testing.T) {
	long := strings.Repeat("x", 4<<10)
	random := make([]byte, 0, 4<<10)
	for n := uint32(1); len(random) < cap(random); n = n*1664525 + 1013904223 {
		random = append(random, byte(n>>24))
	}
	bodies := map[string]struct {
		mediaType, body string
		coded           bool
	}{
		"json": {"application/json", long, true}, "problem": {"application/problem+json", long, true}, "csv": {
			"text/csv; charset=utf-8", long, true}, "svg": {"image/svg+xml", long, true},
		"yaml": {"application/yaml", long, true}, "short": {"text/plain", long[:1023], false}, "png": {"image/png", long, false}, "gzip": {
			"application/gzip", long, false}, "random": {"text/plain", string(random), false},
	}
	s := servertest.New(t, api.Document(api.Spec{ID: "body", Path: "/v1/bodies/{name}", May: access.Anyone}, []string{"*/*"},
		func(_ context.Context, c *api.Call) error {
			b := bodies[c.Param("name")]
			return c.WriteDocument(b.mediaType, []byte(b.body))
		}))
	for name, b := range bodies {
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/bodies/"+name, nil, "Accept-Encoding", "gzip", "Accept", "*/*")
		if (a.Header.Get("Content-Encoding") == "gzip") != b.coded || gunzipped(t, a) != b.body {
			t.Errorf("%s: %v", name, a.Header)
		}
		a = s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/bodies/"+name, nil, "Accept-Encoding", "gzip, identity;q=0")
		if a.Header.Get("Content-Encoding") != "gzip" || gunzipped(t, a) != b.body {
			t.Errorf("%s must be coded: %v", name, a.Header)
		}
	}
}

func TestCoding_OfProblems(t *testing.T) {
	s := serve(t)
	members := map[string]any{"name": "a"}
	for i := range 50 {
		members[fmt.Sprint("unknown", i)] = 1
	}
	a := s.Do("alice", http.MethodPost, "/v1/notes", members, "Accept-Encoding", "gzip")
	if a.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(a.Header.Get("Vary"), "Accept-Encoding") {
		t.Errorf("a long problem has the headers %v", a.Header)
	}
	a.Body = []byte(gunzipped(t, a))
	if d := refused(t, a, problem.Invalid); len(d.Errors) != 50 {
		t.Errorf("%d faults", len(d.Errors))
	}
}

// Each coding of a resource has its own tag. A tag matches only if the caller still accepts its coding.
func TestCoding_HasATagOfItsOwn(t *testing.T) {
	s := serve(t)
	path := s.Create("alice", "/v1/notes", map[string]any{"name": "one", "text": strings.Repeat("a text of some length, ", 200)})
	tag := s.Do("", http.MethodGet, path, nil, "Accept-Encoding", "identity").Header.Get("ETag")
	coded := s.Do("", http.MethodGet, path, nil, "Accept-Encoding", "gzip").Header.Get("ETag")
	for _, c := range []struct {
		accept, match, held string // held: the tag of a 304; empty: no 304
	}{
		{"gzip", coded, coded}, {"gzip", "W/" + coded, coded}, {"gzip", tag, tag}, {"gzip", `"x", ` + coded, coded}, {"gzip", "*", coded},
		{"identity", "*", tag},
		{"gzip, identity;q=0", tag, ""}, {"identity", coded, ""}, {"br", coded, ""}, {"identity", tag, tag}, {"gzip", `"x"`, ""},
	} {
		a := s.Do("", http.MethodGet, path, nil, "Accept-Encoding", c.accept, "If-None-Match", c.match)
		if held := a.Status == http.StatusNotModified; held != (c.held != "") || held &&
			(a.Header.Get("ETag") != c.held || a.Header.Get("Content-Encoding") != "" ||
				!strings.Contains(a.Header.Get("Vary"), "Accept-Encoding")) {
			t.Errorf("%q who has %s: %d with %v", c.accept, c.match, a.Status, a.Header)
		}
	}
	refused(t, s.Do("alice", http.MethodPatch, path, `{"text":"x"}`, "If-None-Match", coded), problem.PreconditionFailed)
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"x"}`, "If-Match", coded)
	refused(t, s.Do("alice", http.MethodPatch, path, `{"text":"y"}`, "If-Match", coded), problem.PreconditionFailed)
}

func TestContent_IsDecoded(t *testing.T) {
	s := serve(t)
	post := func(body []byte, coding string, headers ...string) servertest.Answer {
		return s.Do("alice", http.MethodPost, "/v1/notes", body, append([]string{"Content-Encoding", coding}, headers...)...)
	}
	for i, coding := range []string{"gzip", "x-gzip", "GZip"} {
		if a := post(gzipped(t, fmt.Sprintf(`{"name":"n%d"}`, i)), coding); a.Status != http.StatusCreated {
			t.Errorf("%s: %s", coding, a.Body)
		}
	}
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, s.note("one"), gzipped(t, `{"text":"x"}`), "Content-Encoding", "gzip")
	if a := post([]byte(`{"name":"plain"}`), "identity"); a.Status != http.StatusCreated {
		t.Errorf("identity: %s", a.Body)
	}
	whole := gzipped(t, `{"name":"broken"}`)
	for name, body := range map[string][]byte{"no gzip": []byte(`{"name":"a"}`), "cut off": whole[:len(whole)-3],
		"more after it": append(bytes.Clone(whole), '{'), "nothing": {}} {
		if d := refused(t, post(body, "gzip"), problem.BadRequest); !strings.Contains(d.Detail, "Content-Encoding") {
			t.Errorf("%s: %s", name, d.Detail)
		}
	}
	refused(t, post(gzipped(t, strings.Repeat("[", 10_000)), "gzip"), problem.BadRequest)
	refused(t, post(gzipped(t, `{"name":"a","text":"`+strings.Repeat("x", api.MaxBodyBytes)+`"}`), "gzip"), problem.TooLarge)
	for _, coding := range []string{"deflate", "br", "zstd", "gzip, gzip", "x"} {
		a := post(whole, coding)
		refused(t, a, problem.UnsupportedMedia)
		if a.Header.Get("Accept-Encoding") != "gzip" || a.Header.Get("Accept-Post") != "" {
			t.Errorf("%s: %v", coding, a.Header)
		}
	}
	if a := post(whole, "gzip", "Content-Type", "text/plain"); a.Header.Get("Accept-Encoding") != "" || a.Header.Get("Accept-Post") == "" {
		t.Errorf("a media type that is not taken: %v", a.Header)
	}
	a := s.Do("", http.MethodPut, "/files/x", whole, "Content-Encoding", "gzip")
	refused(t, a, problem.UnsupportedMedia)
	if a.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("a file: %v", a.Header)
	}
}

// A small compressed body is decoded up to the limit. It costs no more than a plain body of that length.
func TestContent_OfBombsIsNotDecoded(t *testing.T) {
	s := serve(t)
	handler, body := s.handler(), gzipped(t, strings.Repeat("\x00", 128<<20))
	n := allocated(func() {
		refused(t, exchange(t, handler, "alice", http.MethodPost, "/v1/notes", bytes.NewReader(body), "Content-Encoding", "gzip"),
			problem.TooLarge)
	})
	if n > 4*api.MaxBodyBytes {
		t.Errorf("%d bytes took %d", len(body), n)
	}
}

// A client that waits for 100 Continue gets 413 instead if its body would be too large.
func TestContent_OfALengthThatIsTooLargeIsNotAskedFor(t *testing.T) {
	s := serve(t)
	for length, want := range map[int]string{api.MaxBodyBytes + 1: "413", 12: "100"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(c, "POST /v1/notes HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", length)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("a length of %d is answered by %q, %v; want %s", length, line, err, want)
		}
		_ = c.Close()
	}
}

func TestHeaders_ThatAreTooLargeAreRefused(t *testing.T) {
	s := serve(t)
	a := s.Do("", http.MethodGet, "/v1/notes", nil, "X-Large", strings.Repeat("x", api.MaxHeaderBytes))
	refused(t, a, problem.HeadersTooLarge)
	s.Want(http.StatusNoContent, nil, "", http.MethodGet, "/v1/notes", nil, "X-Large", strings.Repeat("x", api.MaxHeaderBytes-1<<10))
}
