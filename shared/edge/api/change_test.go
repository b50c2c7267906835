package api_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"assay/shared/domain/patch"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

func TestPatch_ChangesWhatItNames(t *testing.T) {
	s := serve(t)
	path := s.Create("alice", "/v1/notes",
		`{"name":"one","text":"t","tags":[{"key":"a","size":1}],"deep":{"count":1,"names":["x"]},"until":"2026-05-01T12:00:00Z"}`)
	for _, c := range []struct {
		mediaType, body string
		want            func(n Note) bool
	}{
		{"", `{}`, func(n Note) bool { return n.Text == "t" && n.Tags[0].Size == 1 && n.Until != nil }},
		{"", `{"text":"u"}`, func(n Note) bool { return n.Text == "u" && n.Name == "one" }},
		{"", `{"text":null}`, func(n Note) bool { return n.Text == "" && n.Name == "one" }},
		{"", `{"deep":{"count":2}}`, func(n Note) bool { return n.Deep.Count == 2 && len(n.Deep.Names) == 1 }},
		{"", `{"deep":{"names":null}}`, func(n Note) bool { return n.Deep.Count == 2 && len(n.Deep.Names) == 0 }},
		{"", `{"until":null}`, func(n Note) bool { return n.Until == nil }},
		{"", `{"until":"2026-05-01T14:00:00+02:00"}`, func(n Note) bool { return n.Until.String() == "2026-05-01T12:00:00.000Z" }},
		{patch.JSONPatch, `[{"op":"add","path":"/tags/-","value":{"key":"b"}}]`, func(n Note) bool {
			return len(n.Tags) == 2 && n.Tags[1].Key == "b"
		}},
	} {
		var n Note
		a := s.Want(http.StatusOK, &n, "alice", http.MethodPatch, path, c.body, "Content-Type", cmp.Or(c.mediaType, patch.MergePatch))
		if !c.want(n) || !c.want(s.read(path)) {
			t.Errorf("%s made %s", c.body, a.Body)
		}
		if tag := s.Do("alice", http.MethodGet, path, nil).Header.Get("ETag"); a.Header.Get("ETag") != tag {
			t.Errorf("the answer has the tag %s, the resource %s", a.Header.Get("ETag"), tag)
		}
	}
}

func TestPatch_RefusedChangesNothing(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	before := s.read(path)
	for _, c := range []struct {
		mediaType, body string
		kind            *problem.Kind
		pointer         string
	}{
		{"", `{"id":"x","version":7}`, problem.Invalid, "/id"},
		{"", `{"owner":null}`, problem.Invalid, "/owner"},
		{"", `{"colour":"red"}`, problem.Invalid, "/colour"},
		{"", `{"a.b":"red"}`, problem.Invalid, "/a.b"},
		{"", `{"name":null}`, problem.Invalid, ""},
		{"", `{"deep":null}`, problem.Invalid, "/deep"},
		{"", `{"name":"forbidden"}`, problem.Invalid, "/name"},
		{"", `{"deep":{"count":-1}}`, problem.Invalid, "/deep/count"},
		{"", `{"deep":{"count":-1},"deep":{}}`, problem.BadRequest, ""},
		{patch.JSONPatch, `[{"op":"replace","path":"/name","value":"two"},{"op":"test","path":"/text","value":"x"}]`, problem.PatchFailed, ""},
		{patch.JSONPatch, `[{"op":"replace","path":"/name","value":"two"},{"op":"replace","path":"/version","value":9}]`, problem.Invalid,
			"/version"},
		{patch.JSONPatch, `[{"op":"replace","path":"/name","value":null}]`, problem.Invalid, "/name"},
		{patch.JSONPatch, `[{"op":"replace","path":"","value":{"name":"two"}}]`, problem.Invalid, "/createdAt"},
	} {
		d := refused(t, s.Do("alice", http.MethodPatch, path, c.body, "Content-Type", cmp.Or(c.mediaType, patch.MergePatch)), c.kind)
		if c.pointer != "" && (len(d.Errors) == 0 || d.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want %s", c.body, d.Errors, c.pointer)
		}
	}
	if after := s.read(path); after.Version != before.Version || after.Name != "one" {
		t.Errorf("%+v became %+v", before, after)
	}
}

// Two concurrent changes are both made: the second one is repeated on the result of the first.
func TestPatch_IsRetriedOnConflict(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	s.meanwhile = func(n int64) {
		if n == 2 { // the first attempt created the note
			s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"meanwhile"}`)
		}
	}
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"deep":{"count":1}}`)
	if n := s.read(path); n.Text != "meanwhile" || n.Deep.Count != 1 || n.Version != 3 {
		t.Errorf("%+v", n)
	}
	s.meanwhile = nil
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			operations := fmt.Sprintf(`[{"op":"add","path":"/deep/names/-","value":"%d"},{"op":"remove","path":"/deep/names/0"}]`, i)
			s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, fmt.Sprintf(`{"deep":{"names":["x%d"]}}`, i))
			s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, operations, "Content-Type", patch.JSONPatch)
		})
	}
	all.Wait()
	if n := s.read(path); n.Version != 15 || len(n.Deep.Names) != 1 {
		t.Errorf("%+v after 12 more changes", n)
	}
}

func TestIfMatch_HoldsWhenTheChangeIsMade(t *testing.T) {
	s := serve(t)
	path := s.note("one")
	tag := s.Do("alice", http.MethodGet, path, nil).Header.Get("ETag")
	partial := s.Do("", http.MethodGet, path+"?fields=name", nil).Header.Get("ETag")
	for _, match := range []string{partial, `W/"9-x",` + partial, tag + `,"x"`} {
		s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `[{"op":"add","path":"/text","value":"x"}]`, "Content-Type", patch.JSONPatch,
			"If-Match", match)
		if v := s.read(path).Version; v != 2 {
			t.Fatalf("version %d", v)
		}
		path = s.note("n" + fmt.Sprint(s.attempts.Load()))
		tag = s.Do("", http.MethodGet, path, nil).Header.Get("ETag")
	}
	for _, match := range []string{"x", ",", `""`, tag[1 : len(tag)-1], `"1`} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			refused(t, s.Do("alice", method, path, `{"text":"x"}`, "If-Match", match), problem.PreconditionFailed)
		}
	}
	// Another request changes the note after the tag was compared.
	attempts := s.attempts.Load()
	s.meanwhile = func(n int64) {
		if n == attempts+1 {
			s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"meanwhile"}`)
		}
	}
	refused(t, s.Do("alice", http.MethodPatch, path, `{"text":"x"}`, "If-Match", tag), problem.PreconditionFailed)
	if n := s.read(path); n.Text != "meanwhile" || n.Version != 2 {
		t.Errorf("%+v", n)
	}
	s.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, path, nil, "If-Match", "*")
	s.Want(http.StatusNotFound, nil, "alice", http.MethodDelete, path, nil, "If-Match", "*")
}

// unsure is a store that commits a change and then reports that its outcome is unknown.
type unsure struct{ store.Store }

func (u unsure) Write(ctx context.Context, writes ...store.Write) error {
	if err := u.Store.Write(ctx, writes...); err != nil {
		return err
	}
	if slices.ContainsFunc(writes, func(w store.Write) bool { return w.Item.Sort == "NOTE" }) {
		return fmt.Errorf("%w: the answer was lost", store.ErrUnavailable)
	}
	return nil
}

func TestPutFile_DeletesFilesOfFailedCalls(t *testing.T) {
	s := serve(t)
	s.file = "content"
	check := func(what string, want ...bool) {
		t.Helper()
		if got := s.kept(t); !slices.Equal(got, want) {
			t.Errorf("%s: files are kept %v, want %v", what, got, want)
		}
		s.keys = nil
	}
	path := s.note("one")
	check("a creation", true)
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`), problem.Conflict)
	check("a creation that is refused by the store", false)
	s.fails = errors.New("the handler fails")
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"two"}`), problem.Internal)
	refused(t, s.Do("alice", http.MethodPatch, path, `{"text":"x"}`), problem.Internal)
	check("handlers that fail", false, false)
	s.fails = nil

	attempts := s.attempts.Load()
	s.meanwhile = func(n int64) {
		if n == attempts+1 { // another request changes the note, without a file
			s.Records().Replace(recordtest.Get[Note](t, s.Store, noteKey(path[len("/v1/notes/"):])))
		}
	}
	s.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"x"}`)
	check("a change that was overtaken once", false, true)
	s.meanwhile = nil

	s.Store = unsure{s.Store}
	refused(t, s.Do("alice", http.MethodPost, "/v1/notes", `{"name":"three"}`, "Idempotency-Key", "k"), problem.Unavailable)
	refused(t, s.Do("alice", http.MethodPatch, path, `{"text":"y"}`), problem.Unavailable)
	check("changes of which nobody knows whether they were made", true, true)
	if n := s.read(path); n.Text != "y" {
		t.Errorf("%+v", n)
	}
	// The change was made, so the key returns its answer.
	a := s.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"three"}`, "Idempotency-Key", "k")
	if a.Header.Get("Idempotent-Replay") != "true" || s.read(a.Header.Get("Location")).Name != "three" {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}

// Preconditions apply to every method (RFC 9110, section 13).
func TestPreconditions_HoldForEveryMethod(t *testing.T) {
	const (
		ok      = http.StatusOK
		made    = http.StatusCreated
		nothing = http.StatusNoContent
		same    = http.StatusNotModified
		failed  = http.StatusPreconditionFailed
	)
	for _, c := range []struct {
		method, at, header, value string // at: a note, notes or an empty list; value: T stands for the note's tag
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
