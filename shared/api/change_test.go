package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

const jsonPatch = "application/json-patch+json"

func TestPatchesChangeWhatTheyName(t *testing.T) {
	sc := serve(t)
	path := sc.Create("alice", "/v1/notes", `{"name":"one","text":"t","tags":[{"key":"a","size":1}],"deep":{"count":1,"names":["x"]},"until":"2026-05-01T12:00:00Z"}`)
	for _, c := range []struct {
		mediaType, patch string
		want             func(n Note) bool
	}{
		{"", `{}`, func(n Note) bool { return n.Text == "t" && n.Tags[0].Size == 1 && n.Until != nil }},
		{"", `{"text":"u"}`, func(n Note) bool { return n.Text == "u" && n.Name == "one" }},
		{"", `{"text":null}`, func(n Note) bool { return n.Text == "" && n.Name == "one" }},
		{"", `{"deep":{"count":2}}`, func(n Note) bool { return n.Deep.Count == 2 && len(n.Deep.Names) == 1 }},
		{"", `{"deep":{"names":null}}`, func(n Note) bool { return n.Deep.Count == 2 && len(n.Deep.Names) == 0 }},
		{"", `{"until":null}`, func(n Note) bool { return n.Until == nil }},
		{"", `{"until":"2026-05-01T14:00:00+02:00"}`, func(n Note) bool { return n.Until.String() == "2026-05-01T12:00:00.000Z" }},
		{jsonPatch, `[{"op":"add","path":"/tags/-","value":{"key":"b"}}]`, func(n Note) bool { return len(n.Tags) == 2 && n.Tags[1].Key == "b" }},
		{jsonPatch, `[{"op":"move","from":"/tags/1","path":"/tags/0"},{"op":"copy","from":"/name","path":"/text"}]`, func(n Note) bool { return n.Tags[0].Key == "b" && n.Text == "one" }},
		{jsonPatch, `[{"op":"remove","path":"/until"}]`, func(n Note) bool { return n.Until == nil }},
		{jsonPatch, `[{"op":"add","path":"/until","value":"2027-01-01T00:00:00Z"}]`, func(n Note) bool { return n.Until != nil }},
	} {
		var n Note
		headers := []string{}
		if c.mediaType != "" {
			headers = []string{"Content-Type", c.mediaType}
		}
		a := sc.Want(http.StatusOK, &n, "alice", http.MethodPatch, path, c.patch, headers...)
		if !c.want(n) || !c.want(sc.read(path)) {
			t.Errorf("%s made %s", c.patch, a.Body)
		}
		if tag := sc.Do("alice", http.MethodGet, path, nil).Header.Get("ETag"); a.Header.Get("ETag") != tag {
			t.Errorf("the answer has the tag %s, the resource %s", a.Header.Get("ETag"), tag)
		}
	}
}

func TestPatchesThatAreRefusedChangeNothing(t *testing.T) {
	sc := serve(t)
	path := sc.note("one")
	before := sc.read(path)
	for _, c := range []struct {
		mediaType, patch string
		kind             *problem.Kind
		pointer          string
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
		{"", `[]`, problem.BadRequest, ""},
		{jsonPatch, `{"name":"two"}`, problem.BadRequest, ""},
		{jsonPatch, `[{"op":"replace","path":"/name","value":"two"},{"op":"test","path":"/text","value":"x"}]`, problem.PatchFailed, ""},
		{jsonPatch, `[{"op":"replace","path":"/name","value":"two"},{"op":"remove","path":"/until"}]`, problem.PatchFailed, ""},
		{jsonPatch, `[{"op":"replace","path":"/name","value":"two"},{"op":"replace","path":"/version","value":9}]`, problem.Invalid, "/version"},
		{jsonPatch, `[{"op":"replace","path":"/name","value":null}]`, problem.Invalid, "/name"},
		{jsonPatch, `[{"op":"replace","path":"","value":{"name":"two"}}]`, problem.Invalid, "/createdAt"},
	} {
		headers := []string{}
		if c.mediaType != "" {
			headers = []string{"Content-Type", c.mediaType}
		}
		d := refused(t, sc.Do("alice", http.MethodPatch, path, c.patch, headers...), c.kind)
		if c.pointer != "" && (len(d.Errors) == 0 || d.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want %s", c.patch, d.Errors, c.pointer)
		}
	}
	if after := sc.read(path); after.Version != before.Version || after.Name != "one" {
		t.Errorf("%+v became %+v", before, after)
	}
}

// Two changes at once are both made: the one that comes second is made again, of what the first one left.
func TestAChangeThatWasOvertakenIsMadeAgain(t *testing.T) {
	sc := serve(t)
	path := sc.note("one")
	sc.meanwhile = func(n int64) {
		if n == 2 { // the first attempt was creating it
			sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"meanwhile"}`)
		}
	}
	sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"deep":{"count":1}}`)
	if n := sc.read(path); n.Text != "meanwhile" || n.Deep.Count != 1 || n.Version != 3 {
		t.Errorf("%+v", n)
	}
	sc.meanwhile = nil
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			patch := fmt.Sprintf(`[{"op":"add","path":"/deep/names/-","value":"%d"},{"op":"remove","path":"/deep/names/0"}]`, i)
			sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, fmt.Sprintf(`{"deep":{"names":["x%d"]}}`, i))
			sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, patch, "Content-Type", jsonPatch)
		})
	}
	all.Wait()
	if n := sc.read(path); n.Version != 15 || len(n.Deep.Names) != 1 {
		t.Errorf("%+v after 12 more changes", n)
	}
}

func TestIfMatchHoldsWhenTheChangeIsMade(t *testing.T) {
	sc := serve(t)
	path := sc.note("one")
	tag := sc.Do("alice", http.MethodGet, path, nil).Header.Get("ETag")
	partial := sc.Do("", http.MethodGet, path+"?fields=name", nil).Header.Get("ETag")
	for _, match := range []string{tag, partial, "*", `"9-x", ` + tag, `W/"9-x",` + partial, tag + `,"x"`} {
		sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `[{"op":"add","path":"/text","value":"x"}]`, "Content-Type", jsonPatch, "If-Match", match)
		if v := sc.read(path).Version; v != 2 {
			t.Fatalf("version %d", v)
		}
		path = sc.note("n" + fmt.Sprint(sc.attempts.Load()))
		tag = sc.Do("", http.MethodGet, path, nil).Header.Get("ETag")
	}
	for _, match := range []string{`"9-x"`, "W/" + tag, "x", ",", `""`, tag[1 : len(tag)-1], `"1`} {
		for _, method := range []string{http.MethodPatch, http.MethodDelete} {
			refused(t, sc.Do("alice", method, path, `{"text":"x"}`, "If-Match", match), problem.PreconditionFailed)
		}
	}
	// Somebody else is faster, after the tag was compared.
	attempts := sc.attempts.Load()
	sc.meanwhile = func(n int64) {
		if n == attempts+1 {
			sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"meanwhile"}`)
		}
	}
	refused(t, sc.Do("alice", http.MethodPatch, path, `{"text":"x"}`, "If-Match", tag), problem.PreconditionFailed)
	if n := sc.read(path); n.Text != "meanwhile" || n.Version != 2 {
		t.Errorf("%+v", n)
	}
	sc.Want(http.StatusNoContent, nil, "alice", http.MethodDelete, path, nil, "If-Match", "*")
	sc.Want(http.StatusNotFound, nil, "alice", http.MethodDelete, path, nil, "If-Match", "*")
}

// unsure is a store that makes a change and does not say so.
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

func TestFilesStayWithWhatNamesThem(t *testing.T) {
	sc := serve(t)
	sc.file = "content"
	check := func(what string, want ...bool) {
		t.Helper()
		if got := sc.kept(t); !slices.Equal(got, want) {
			t.Errorf("%s: files are kept %v, want %v", what, got, want)
		}
		sc.keys = nil
	}
	path := sc.note("one")
	check("a creation", true)
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"one"}`), problem.Conflict)
	check("a creation that is refused by the store", false)
	sc.fails = errors.New("the handler fails")
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"two"}`), problem.Internal)
	refused(t, sc.Do("alice", http.MethodPatch, path, `{"text":"x"}`), problem.Internal)
	check("handlers that fail", false, false)
	sc.fails = nil

	attempts := sc.attempts.Load()
	sc.meanwhile = func(n int64) {
		if n == attempts+1 { // somebody else changes the note, without a file
			n, err := records.Get[Note](context.Background(), sc.Store, store.Strong, noteKey(path[len("/v1/notes/"):]))
			if err != nil {
				t.Error(err)
				return
			}
			if err := new(records.Tx).Replace(n).Commit(context.Background(), sc.Store); err != nil {
				t.Error(err)
			}
		}
	}
	sc.Want(http.StatusOK, nil, "alice", http.MethodPatch, path, `{"text":"x"}`)
	check("a change that was overtaken once", false, true)
	sc.meanwhile = nil

	sc.Store = unsure{sc.Store}
	refused(t, sc.Do("alice", http.MethodPost, "/v1/notes", `{"name":"three"}`, "Idempotency-Key", "k"), problem.Unavailable)
	refused(t, sc.Do("alice", http.MethodPatch, path, `{"text":"y"}`), problem.Unavailable)
	check("changes of which nobody knows whether they were made", true, true)
	if n := sc.read(path); n.Text != "y" {
		t.Errorf("%+v", n)
	}
	// The change was made, and so the key gives its answer.
	a := sc.Want(http.StatusCreated, nil, "alice", http.MethodPost, "/v1/notes", `{"name":"three"}`, "Idempotency-Key", "k")
	if a.Header.Get("Idempotent-Replay") != "true" || sc.read(a.Header.Get("Location")).Name != "three" {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}

// Whoever changes something for the first time becomes known, and by the name that was told last.
func TestCallersBecomeKnown(t *testing.T) {
	sc := serve(t)
	sc.note("one")
	u, err := records.Get[record.User](context.Background(), sc.Store, store.Strong, record.UserKey(sc.read(sc.note("two")).Owner))
	if err != nil || u == nil || u.Name != "alice" || u.Email != "alice@example.org" || u.Version != 1 {
		t.Fatalf("%+v, %v", u, err)
	}
	u.Name = "Alicia"
	if err := new(records.Tx).Replace(u).Commit(context.Background(), sc.Store); err != nil {
		t.Fatal(err)
	}
	sc.note("three")
	if u, err = records.Get[record.User](context.Background(), sc.Store, store.Strong, u.Key()); err != nil || u.Name != "alice" {
		t.Errorf("%+v, %v", u, err)
	}
}
