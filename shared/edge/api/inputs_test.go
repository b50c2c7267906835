package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
)

// remembering serves notes at /v1/remembered as JSON and CSV, and counts how often it renders them.
type remembering struct {
	*servertest.Server
	operations []api.Operation
	notes      []*Note
	rendered   int
}

func (s *remembering) list(_ context.Context, c *api.Call, _ api.PublicTarget) (p page.Page[*Note], err error) {
	in := c.Inputs()
	for _, n := range s.notes {
		in.Record(n)
	}
	if done, err := c.Unchanged(in); done || err != nil {
		return p, err
	}
	s.rendered++
	p.More = true
	for _, n := range s.notes {
		if _, err := p.Add(n); err != nil {
			return p, err
		}
	}
	return p, nil
}

// remember serves notes whose texts have this number of words.
func remember(t *testing.T, words int) *remembering {
	s := &remembering{}
	spec := api.Spec{ID: "remembered", Path: "/v1/remembered", May: access.Anyone, Query: page.Spec{Sort: true}} // sorted lists have tags
	s.operations = []api.Operation{api.List(spec, api.NoTarget, s.list, func(notes []*Note) (rows [][]string) {
		for _, n := range notes {
			rows = append(rows, []string{n.Name, n.Text})
		}
		return rows
	})}
	s.Server = servertest.New(t, s.operations...)
	for _, name := range []string{"one", "two"} {
		n := &Note{Meta: record.NewMeta(s.Now()), NoteDraft: NoteDraft{Name: name, Text: strings.Repeat("long ", words)}}
		s.Records().Put(n)
		s.notes = append(s.notes, n)
	}
	return s
}

// get returns the answer. headers are pairs of name and value.
func (s *remembering) get(t *testing.T, from http.Handler, headers ...string) servertest.Answer {
	t.Helper()
	headers = append(headers, "X-Request-Id", "one-request-of-the-test")
	return exchange(t, from, "alice", http.MethodGet, "/v1/remembered?sort=name", nil, headers...)
}

// TestUnchanged_AnswersLikeAfterRendering compares the answers of a server that has sent the answer before with those of servers that have
// not.
func TestUnchanged_AnswersLikeAfterRendering(t *testing.T) {
	for _, words := range []int{1, 300} {
		answersLikeAfterRendering(t, remember(t, words))
	}
}

func answersLikeAfterRendering(t *testing.T, s *remembering) {
	t.Helper()
	before := api.New(s.Env, s.operations)
	for _, media := range []string{"application/json", "text/csv", "text/html"} {
		for _, coding := range []string{"identity", "gzip", "gzip, identity;q=0"} {
			accept := []string{"Accept", media, "Accept-Encoding", coding}
			plain := s.get(t, before, "Accept", media, "Accept-Encoding", "identity").Header.Get("ETag")
			tag := s.get(t, before, accept...).Header.Get("ETag")
			for _, precondition := range [][2]string{{"If-None-Match", tag}, {"If-None-Match", plain}, {"If-None-Match", "W/" + tag},
				{"If-None-Match", "*"}, {"If-None-Match", `"x", ` + tag}, {"If-None-Match", `"x"`}, {"If-Match", tag}, {"If-Match", "*"},
				{"If-Match", `"x"`}, {"If-Match", "W/" + tag}} {
				headers := slices.Concat(accept, precondition[:])
				s.rendered = 0
				got := s.get(t, before, headers...)
				if got.Status == http.StatusNotModified && media != "text/html" && got.Header.Get("Link") == "" {
					t.Errorf("%q: a 304 does not tell the next page", headers)
				}
				if answered := got.Status == http.StatusOK; answered != (s.rendered == 1) {
					t.Errorf("%q: status %d, and the notes were rendered %d times", headers, got.Status, s.rendered)
				}
				if want := s.get(t, api.New(s.Env, s.operations), headers...); !reflect.DeepEqual(got, want) {
					t.Errorf("%q\n got %d %v %s\nwant %d %v %s", headers, got.Status, got.Header, got.Body, want.Status, want.Header, want.Body)
				}
			}
		}
	}
}

// A change of an input that does not show in the answer does not change the tag, and a change that shows does.
func TestUnchanged_FollowsTheInputs(t *testing.T) {
	s := remember(t, 300)
	server := api.New(s.Env, s.operations)
	tag := s.get(t, server).Header.Get("ETag")
	for _, change := range []struct {
		name   string
		change func(*Note)
		status int
	}{
		{"of nothing that is shown", func(*Note) {}, http.StatusNotModified},
		{"of a shown member", func(n *Note) { n.Text = "other" }, http.StatusOK},
	} {
		change.change(s.notes[0])
		s.Records().Replace(s.notes[0])
		for range 2 {
			if a := s.get(t, server, "If-None-Match", tag); a.Status != change.status {
				t.Errorf("after a change %s: %d", change.name, a.Status)
			}
		}
	}
	s.notes = s.notes[1:]
	if a := s.get(t, server, "If-None-Match", tag); a.Status != http.StatusOK || !bytes.Contains(a.Body, []byte("two")) {
		t.Errorf("without a note: %d", a.Status)
	}
}

func TestUnchanged_ForgottenTagIsRenderedAgain(t *testing.T) {
	s := remember(t, 300)
	server := api.New(s.Env, s.operations)
	tag := s.get(t, server).Header.Get("ETag")
	const remembered = 4096
	for i := range remembered {
		exchange(t, server, "alice", http.MethodGet, fmt.Sprint("/v1/remembered?sort=name&limit=2&offset=", i), nil)
	}
	for _, rendered := range []int{1, 0} {
		s.rendered = 0
		if a := s.get(t, server, "If-None-Match", tag); a.Status != http.StatusNotModified || s.rendered != rendered {
			t.Errorf("status %d after %d renderings, want %d", a.Status, s.rendered, rendered)
		}
	}
}

// TestUnchanged_RemembersNoLongQueries asks for pages by long queries, which their links repeat, and measures the memory of their tags.
func TestUnchanged_RemembersNoLongQueries(t *testing.T) {
	s := remember(t, 1)
	server := api.New(s.Env, s.operations)
	long := "&fields=" + strings.Repeat("name,", 1500) + "text"
	const pages = 500
	before := inUse()
	for i := range pages {
		a := exchange(t, server, "alice", http.MethodGet, fmt.Sprint("/v1/remembered?sort=name&offset=", i, long), nil)
		if a.Status != http.StatusOK || len(a.Header.Get("Link")) < 7000 {
			t.Fatalf("%d with a link of %d bytes", a.Status, len(a.Header.Get("Link")))
		}
	}
	if took := (inUse() - before) / pages; took > 900 {
		t.Errorf("the server keeps %d bytes for each page", took)
	}
	runtime.KeepAlive(server)
}

// inUse returns the memory in use, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what pools and finalizers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
