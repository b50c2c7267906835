package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/shared/domain/patch"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// TestBody_IsRefusedUnlessJSON sends one body that jsoncheck refuses, and bodies that only decoding or the schema refuse.
func TestBody_IsRefusedUnlessJSON(t *testing.T) {
	s := serve(t)
	for body, kind := range map[string]*problem.Kind{
		"": problem.BadRequest, `{"name":"a","name":"b"}`: problem.BadRequest, `{"name":1e400}`: problem.BadRequest,
		`null`: problem.Invalid, `[]`: problem.Invalid, `"name"`: problem.Invalid, `{}`: problem.Invalid,
	} {
		if d := refused(t, s.Do("alice", http.MethodPost, "/v1/notes", body, "Content-Type", "application/json"),
			kind); strings.Contains(d.Detail, " Go ") {
			t.Errorf("%s: %s", body, d.Detail)
		}
	}
	if n := s.attempts.Load(); n != 0 {
		t.Errorf("%d of them came through", n)
	}
	s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes",
		"\n {\"name\":\"a\",\"tags\":[{\"key\":\"a\"},{\"key\":\"a\"}]} \r\n")
}

func TestBody_HasItsMediaType(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	for contentType, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON": true, "application/json;": true,
		"application/json; charset=\"UTF-8\"": true, "application/json; charset=iso-8859-1": false, "application/json; charset=": false,
		"application/json;charset=utf-16": false,
		"":                                false, "text/plain": false, "application/jsonx": false, "application/json; charset": false,
		"application/problem+json": false,
		"json":                     false,
	} {
		a := s.Do("alice", http.MethodPost, "/v1/notes", `{"name":""}`, "Content-Type", contentType)
		if ok {
			refused(t, a, problem.Invalid)
			continue
		}
		refused(t, a, problem.UnsupportedMedia)
		if got := a.Header.Get("Accept-Post"); got != "application/json" {
			t.Errorf("%q: Accept-Post is %q", contentType, got)
		}
	}
	for _, contentType := range []string{"application/json", "text/json-patch", ""} {
		a := s.Do("alice", http.MethodPatch, path, `{}`, "Content-Type", contentType)
		refused(t, a, problem.UnsupportedMedia)
		if got := a.Header.Get("Accept-Patch"); got != "application/json-patch+json, application/merge-patch+json" {
			t.Errorf("%q: Accept-Patch is %q", contentType, got)
		}
	}
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"x"}`, "Content-Type", "application/merge-patch+json; charset=utf-8")
}

func TestBody_HasALimit(t *testing.T) {
	s := serve(t)
	const frame = `{"name":"a","text":""}`
	text := func(n int) string {
		return `{"name":"a","text":"` + strings.Repeat("x", n-len(frame)) + `"}`
	}
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", text(api.MaxBodyBytes+1)), problem.TooLarge)
	// The server reads a body of exactly the limit. Only the store then has no room for it.
	if a := s.Do("alice", http.MethodPost, "/v1/notes", text(api.MaxBodyBytes)); a.Status == http.StatusRequestEntityTooLarge {
		t.Errorf("a body of the limit: %s", a.Body)
	}
	if n := s.attempts.Load(); n != 1 {
		t.Errorf("%d of the two came through", n)
	}
}

// Refusing a body allocates at most a constant and a few times its length, and the answer is short.
func TestBody_IsRefusedAtLittleCost(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	handler := s.handler()
	unknown := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"member%d":1,`, i)
		}
		return `{` + b.String() + `"name":"a"}`
	}
	for _, c := range []struct {
		name, contentType, body string
		kind                    *problem.Kind
		faults                  int
	}{
		{"tiny items", "application/json", `{"name":"a","tags":[` + strings.Repeat("1,", 2_500_000) + `1]}`, problem.BadRequest, 0},
		{"items", "application/json", `{"name":"a","tags":[` + strings.Repeat("1,", 9_000) + `1]}`, problem.Invalid, 5},
		{"objects", "application/json", `{"name":"a","tags":[` + strings.Repeat(`{"a":1},`, 4_000) + `1]}`, problem.Invalid, 0},
		{"members", "application/json", unknown(9_000), problem.Invalid, 100},
		{"a long name", "application/json", `{"name":"a","` + strings.Repeat("x~", 2_000_000) + `":1}`, problem.Invalid, 1},
		{"a long instant", "application/json", `{"name":"a","until":"9999-12-31T23:59:59.` + strings.Repeat("1", 5_000_000) + `-01:00"}`,
			problem.Invalid, 0},
		{"a deep merge", patch.MergePatch, strings.Repeat(`{"deep":`, 40_000) + "1" + strings.Repeat("}", 40_000), problem.BadRequest, 0},
		{"a wide merge", patch.MergePatch, unknown(9_000), problem.Invalid, 100},
	} {
		method, to := http.MethodPost, "/v1/notes"
		if c.contentType != "application/json" {
			method, to = http.MethodPatch, path
		}
		var a servertest.Answer
		n := allocated(func() {
			a = exchange(t, handler, "alice", method, to, strings.NewReader(c.body), "Content-Type", c.contentType)
		})
		d := refused(t, a, c.kind)
		if most := 8*len(c.body) + 10<<20; n > most {
			t.Errorf("%s: %d bytes take %d, want at most %d", c.name, len(c.body), n, most)
		}
		if n, most := len(a.Body), 32<<10; n > most {
			t.Errorf("%s: the answer has %d bytes, want at most %d", c.name, n, most)
		}
		if c.faults > 0 && len(d.Errors) != c.faults || (len(d.Errors) == problem.MaxFields) != strings.Contains(d.Detail, "the first 100") {
			t.Errorf("%s: %d faults, want %d; %s", c.name, len(d.Errors), c.faults, d.Detail)
		}
	}
}

func TestBody_FaultsAreNamedWhereTheyAre(t *testing.T) {
	s := serve(t)
	for body, pointers := range map[string][]string{
		`{"name":""}`:                       {"/name"},
		`{"name":"forbidden"}`:              {"/name"},
		`{"name":null}`:                     {"/name"},
		`{"name":1,"text":2}`:               {"/name", "/text"},
		`{"text":"a"}`:                      {"/name"},
		`{"name":"a","colour":"red"}`:       {"/colour"},
		`{"name":"a","NAME":"b"}`:           {"/NAME"},
		`{"name":"a","id":"b","owner":"c"}`: {"/id", "/owner"},
		`{"name":"a","a.b":1,"c/d":2,"e~f":3,"g[0]":4,"":5}`: {
			"/", "/a.b", "/c~1d", "/e~0f", "/g[0]"},
		`{"name":"","x.y":1,"deep":{"a.b":1,"count":-1},"tags":[{"key":"a"},{"key":"toolong","a/b":1}]}`: {
			"/deep/a.b", "/deep/count", "/name", "/tags/1/a~1b", "/tags/1/key", "/x.y"},
		`{"name":"a","deep":{"names":["a","b","c"]}}`:                                    {"/deep/names"},
		`{"name":"a","deep":{"count":"1"}}`:                                              {"/deep/count"},
		`{"name":"a","deep":{"count":5.0}}`:                                              {"/deep/count"},
		`{"name":"a","deep":{"count":1e2}}`:                                              {"/deep/count"},
		`{"name":"a","deep":[]}`:                                                         {"/deep"},
		`{"name":"a","tags":[null,3,{"key":"a","size":-1}]}`:                             {"/tags/0", "/tags/1", "/tags/2/size"},
		`{"name":"a","tags":[{"key":"a"},{"key":"b"},{"key":"c"},{"key":"d","size":1}]}`: {"/tags"},
		`{"name":"a","text":null,"until":null,"deep":null}`:                              {"/deep", "/text", "/until"},
		`{"name":"a","until":"tomorrow"}`:                                                {"/until"},
		`{"name":"` + strings.Repeat("ä", 21) + `"}`:                                     {"/name"},
	} {
		d := refused(t, s.Do("alice", http.MethodPost, "/v1/notes", body), problem.Invalid)
		var got []string
		for _, e := range d.Errors {
			if e.Detail == "" {
				t.Errorf("%s: %q says nothing", body, e.Pointer)
			}
			got = append(got, e.Pointer)
		}
		slices.Sort(got)
		if !slices.Equal(got, pointers) {
			t.Errorf("%s:\ngot  %q\nwant %q", body, got, pointers)
		}
	}
	for body, says := range map[string]string{
		`{"text":"a"}`:              "is missing",
		`{"name":1}`:                "must be a text",
		`{"name":"a","deep":[]}`:    "must be an object",
		`{"name":"a","until":"a"}`:  "2027-01-31",
		`{"name":"a","txet":"b"}`:   "did you mean text?; the members are: deep, hide, name, ",
		`{"name":"a","colour":"b"}`: "can be written here; the members are: deep, hide, name, ",
	} {
		d := refused(t, s.Do("alice", http.MethodPost, "/v1/notes", body), problem.Invalid)
		if len(d.Errors) != 1 || !strings.Contains(d.Errors[0].Detail, says) {
			t.Errorf("%s: %+v, want %q", body, d.Errors, says)
		}
	}
	for _, body := range []string{`{"name":"` + strings.Repeat("ä", 20) + `"}`, `{"name":"b","text":"a\u0000\ud83d\ude00b"}`,
		`{"name":"c","tags":null,"deep":{"names":null}}`} {
		s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", body)
	}
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"d","until":"9999-12-31T23:59:59-01:00"}`), problem.Invalid)
}

// The schema of a body is made by its first request. Several first requests may arrive at once.
func TestBody_FirstOnesMayComeTogether(t *testing.T) {
	s := serve(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			path := "/v1/notes"
			body := fmt.Sprintf(`{"name":"n%d","deep":{"count":%d}}`, i, i)
			if i%2 == 0 {
				path, body = "/v1/copies", `{"noteId":"x"}`
			}
			if a := s.Do("alice", http.MethodPost, path, body); a.Status >= http.StatusInternalServerError {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	all.Wait()
}
