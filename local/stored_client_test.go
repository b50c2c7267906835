package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// storedURL is where every server over stored data says that it is, for users are those of its issuer.
const storedURL = "http://assay.test"

// openStored serves the folder of data that another build may have written, until the test ends, by a clock that begins at
// the instant. The server must have nothing to report.
func openStored(t *testing.T, at time.Time, data string, flags ...string) *running {
	t.Helper()
	c, err := parse(append([]string{"-addr", "127.0.0.1:0", "-grpc-addr", "", "-data", data, "-demo=false", "-rates", noRates, "-public-url",
		storedURL}, flags...), noEnv, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ahead := time.Since(at)
	c.now = func() time.Time { return time.Now().Add(-ahead) }
	var log bytes.Buffer
	t.Cleanup(func() { checkLog(t, log.String()) })
	return serve(t, c, &log)
}

// checkLog fails for each warning and error that a server has logged.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") {
			t.Errorf("the log has: %s", line)
		}
	}
}

// object is call for an answer that is an object.
func (s *running) object(t *testing.T, token, method, path string, body any) (object map[string]any) {
	t.Helper()
	s.call(t, token, method, path, body, &object)
	return object
}

// readAll reads, with the token, every resource that the server's description of itself leads to: the lists, what they list,
// and what is below that.
func (s *running) readAll(t *testing.T, token string) map[string]any {
	t.Helper()
	var templates []string // paths of GETs
	for path, item := range s.object(t, "", http.MethodGet, "/openapi.json", nil)["paths"].(map[string]any) {
		if _, ok := item.(map[string]any)["get"]; ok && isStored(path) {
			templates = append(templates, path)
		}
	}
	read := map[string]any{}
	next := slices.DeleteFunc(slices.Clone(templates), func(path string) bool { return strings.Contains(path, "{") })
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		a := s.send(t, token, http.MethodGet, path, nil)
		if a.status != http.StatusOK {
			continue
		}
		var answer any
		_ = json.Unmarshal(a.body, &answer) // in another format it counts that there is one
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
