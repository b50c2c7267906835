package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// storedURL is where every server over stored data says that it is, for users are those of its issuer.
const storedURL = "http://assay.test"

// stored is a server over data that another build may have written, and clients of it.
type stored struct {
	*program
	client *http.Client
	log    *bytes.Buffer
}

// openStored serves the folder of the data until the test ends, by a clock that begins at the instant.
func openStored(t *testing.T, at time.Time, data string, flags ...string) *stored {
	t.Helper()
	c, err := parse(append([]string{"-addr", "127.0.0.1:0", "-grpc-addr", "", "-data", data, "-demo=false", "-rates", noRates, "-public-url", storedURL}, flags...), noEnv, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ahead := time.Since(at)
	c.now = func() time.Time { return time.Now().Add(-ahead) }
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{log: new(bytes.Buffer)}
	if s.program, err = newProgram(t.Context(), c, s.log); err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}}}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.serve(ctx, listener, io.Discard, func(string) { close(ready) }) }()
	<-ready
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.close()
		for line := range strings.Lines(s.log.String()) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") {
				t.Errorf("the log has: %s", line)
			}
		}
	})
	return s
}

// send sends a request and returns the answer's body, decoded, and its status; body is JSON, or bytes to be sent as they are.
func (s *stored) send(t *testing.T, token, method, path string, body any) (answer any, status int) {
	t.Helper()
	content, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(path, "/") {
		path = storedURL + path
	}
	r, err := http.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case raw:
		r.Header.Set("Content-Type", "text/plain")
	case method == http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	case body != nil:
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if content, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(content, &answer) // of an answer in another format, only the status counts
	return answer, resp.StatusCode
}

// must is send for a request that has to succeed, with an answer that is an object.
func (s *stored) must(t *testing.T, token, method, path string, body any) map[string]any {
	t.Helper()
	answer, status := s.send(t, token, method, path, body)
	if status >= http.StatusBadRequest {
		t.Fatalf("%s %s: status %d: %v", method, path, status, answer)
	}
	object, _ := answer.(map[string]any)
	return object
}

func (s *stored) token(t *testing.T, user string, groups ...string) string {
	t.Helper()
	token, _ := s.must(t, "", http.MethodPost, "/dev/token", map[string]any{"user": user, "groups": groups})["access_token"].(string)
	return token
}

// readAll reads, with the token, every resource that the server's description of itself leads to: the lists, what they list,
// and what is below that.
func (s *stored) readAll(t *testing.T, token string) map[string]any {
	t.Helper()
	var templates []string // paths of GETs
	for path, item := range s.must(t, "", http.MethodGet, "/openapi.json", nil)["paths"].(map[string]any) {
		if _, ok := item.(map[string]any)["get"]; ok && isStored(path) {
			templates = append(templates, path)
		}
	}
	read := map[string]any{}
	next := slices.DeleteFunc(slices.Clone(templates), func(path string) bool { return strings.Contains(path, "{") })
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		answer, status := s.send(t, token, http.MethodGet, path, nil)
		if status != http.StatusOK {
			continue
		}
		read[path] = answer
		below := []string{path + "/*"} // one more segment that is no parameter
		object, _ := answer.(map[string]any)
		list, _ := object["data"].([]any)
		for _, element := range list {
			if id, ok := element.(map[string]any)["id"].(string); ok {
				below = append(below, path+"/"+id, path+"/"+id+"/*")
			}
		}
		for _, pattern := range below {
			for _, template := range templates {
				if found := instance(template, pattern); found != "" && read[found] == nil && !slices.Contains(next, found) {
					next = append(next, found)
				}
			}
		}
	}
	return read
}

// isStored reports whether what is at the path comes from the store, and is not of the build alone.
func isStored(path string) bool {
	return strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v1/tools") && !strings.HasPrefix(path, "/v1/platform")
}

// instance returns the path that the template has where its parameters are as in the pattern, whose last segment * stands for
// any that is no parameter; empty when the template is of other paths.
func instance(template, pattern string) string {
	segments, wanted := strings.Split(template, "/"), strings.Split(pattern, "/")
	if len(segments) != len(wanted) {
		return ""
	}
	for i, segment := range segments {
		switch parameter := strings.HasPrefix(segment, "{"); {
		case parameter && wanted[i] != "*":
			segments[i] = wanted[i]
		case parameter, wanted[i] != "*" && wanted[i] != segment:
			return ""
		}
	}
	return strings.Join(segments, "/")
}
