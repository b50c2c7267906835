package api_test

import (
	"net/http"
	"testing"
)

// Conditions hold for every method (RFC 9110, section 13).
func TestPreconditions_HoldForEveryMethod(t *testing.T) {
	const ok, made, nothing, same, failed = http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusNotModified,
		http.StatusPreconditionFailed
	for _, c := range []struct {
		method, at, header, value string // at: a note, notes or an empty list; value: T is the note's tag
		status                    int
	}{
		{"GET", "note", "If-Match", "T", ok}, {"GET", "note", "If-Match", "*", ok}, {"GET", "note", "If-Match", `"x", T`, ok},
		{"GET", "note", "If-Match", `"x"`, failed}, {"GET", "note", "If-Match", "W/T", failed}, {"GET", "note", "If-Match", ",", failed},
		{"GET", "note", "If-None-Match", "T", same}, {"GET", "note", "If-None-Match", "W/T", same}, {"GET", "note", "If-None-Match", "*", same},
		{"GET", "note", "If-None-Match", `"x"`, ok},
		{"GET", "notes", "If-Match", "*", ok}, {"GET", "notes", "If-Match", "T", failed}, {"GET", "notes", "If-None-Match", "*", same},
		{"GET", "notes", "If-None-Match", "T", ok},
		{"GET", "none", "If-Match", "T", failed}, {"GET", "none", "If-None-Match", "*", same}, {"GET", "none", "If-Match", "*", nothing},
		{"GET", "missing", "If-Match", "T", http.StatusNotFound}, {"GET", "missing", "If-None-Match", "*", http.StatusNotFound},
		{"GET", "note", "If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT", ok},
		{"PATCH", "note", "If-Unmodified-Since", "Fri, 01 Jan 2010 00:00:00 GMT", ok},
		{"PATCH", "note", "If-Match", "T", ok}, {"PATCH", "note", "If-Match", "*", ok}, {"PATCH", "note", "If-Match", `"x"`, failed},
		{"PATCH", "note", "If-Match", "W/T", failed},
		{"PATCH", "note", "If-None-Match", "T", failed}, {"PATCH", "note", "If-None-Match", "W/T", failed},
		{"PATCH", "note", "If-None-Match", "*", failed}, {"PATCH", "note", "If-None-Match", `"x"`, ok},
		{"DELETE", "note", "If-Match", "T", nothing}, {"DELETE", "note", "If-Match", "*", nothing}, {"DELETE", "note", "If-Match", `"x"`, failed},
		{"DELETE", "note", "If-None-Match", "T", failed}, {"DELETE", "note", "If-None-Match", "*", failed},
		{"DELETE", "note", "If-None-Match", `"x"`, nothing},
		{"POST", "notes", "If-Match", "*", made}, {"POST", "notes", "If-Match", `"x"`, failed}, {"POST", "notes", "If-None-Match", "*", failed},
		{"POST", "notes", "If-None-Match", `"x"`, made},
		{"PATCH", "missing", "If-None-Match", "*", http.StatusNotFound}, {"OPTIONS", "note", "If-None-Match", "*", nothing},
	} {
		s := serve(t)
		note := s.note("one")
		tag := s.Do("", http.MethodGet, note, nil).Header.Get("ETag")
		value := c.value
		for _, weak := range []string{"T", `"x", T`, "W/T"} {
			if value == weak {
				value = weak[:len(weak)-1] + tag
			}
		}
		var body any
		switch c.method {
		case http.MethodPatch:
			body = `{"text":"x"}`
		case http.MethodPost:
			body = `{"name":"two"}`
		}
		to := map[string]string{"note": note, "notes": "/v1/notes", "none": "/v1/notes?filter[name]=none",
			"missing": "/v1/notes/01ARZ3NDEKTSV4RRFFQ69G5FAV"}[c.at]
		a := s.Do("alice", c.method, to, body, c.header, value)
		if a.Status != c.status || c.status == same && c.value != "*" && a.Header.Get("ETag") != tag {
			t.Errorf("%s of %s with %s: %s is answered by %d with %v, want %d\n%s", c.method, c.at, c.header, c.value, a.Status, a.Header,
				c.status, a.Body)
		}
	}
}
