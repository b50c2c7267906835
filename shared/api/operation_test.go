package api_test

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/api/servertest"
	"assay/shared/problem"
)

// address answers with where the caller reaches the server.
type address struct {
	URL string `json:"url"`
}

func TestWithHTML_AnswersBrowsersWithThePage(t *testing.T) {
	op := api.WithHTML(
		api.Get(api.Spec{ID: "address", Path: "/v1/address", May: access.Anyone}, api.NoTarget,
			func(_ context.Context, c *api.Call, _ api.PublicTarget) (address, error) {
				return address{c.BaseURL()}, nil
			}),
		func(_ context.Context, c *api.Call, _ api.PublicTarget) error {
			return c.WriteDocument("text/html", []byte("<p>"+c.BaseURL()))
		})
	s := servertest.New(t, op)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for accept, want := range map[string]string{
		"":                                  `{"url":"` + s.URL + `"}` + "\n",
		"*/*":                               `{"url":"` + s.URL + `"}` + "\n",
		"text/html;q=0.5, application/json": `{"url":"` + s.URL + `"}` + "\n",
		"text/*":                            "<p>" + s.URL,
		browser:                             "<p>" + s.URL,
	} {
		a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept)
		if string(a.Body) != want {
			t.Errorf("with Accept %q it is %q, want %q", accept, a.Body, want)
		}
		s.Want(http.StatusNotModified, nil, "", http.MethodGet, "/v1/address", nil, "Accept", accept, "If-None-Match", a.Header.Get("ETag"))
	}
	s.Info.URL = "https://assay.example.org"
	if a := s.Want(http.StatusOK, nil, "", http.MethodGet, "/v1/address", nil, "Accept",
		browser); string(a.Body) != "<p>https://assay.example.org" {
		t.Errorf("where clients reach the server is not %s", a.Body)
	}
}

type sum struct {
	Terms   []int `json:"terms"`
	Passing bool  `json:"passing,omitempty"`
}

// An answer with a link that works for a while has no entity tag, so that no 304 says that it is still good, and is kept by
// nobody; any other answer is the same as long as its input is.
func TestWriteComputed_EphemeralAnswerIsNotCached(t *testing.T) {
	computed := 0
	add := func(ctx context.Context, c *api.Call, _ api.PublicTarget) error {
		in, err := api.ReadInput[sum](ctx, c)
		if err != nil {
			return err
		}
		c.LinkInput("/v1/sums/result")
		return c.WriteComputed(ctx, []string{string(c.Input())}, func() (api.Computed, error) {
			computed++
			return api.Computed{MediaType: "application/json", Body: []byte("3"), Ephemeral: in.Passing}, nil
		})
	}
	variants := []api.Variant{{Name: "add", Summary: "Add", Input: reflect.TypeFor[sum](), Output: reflect.TypeFor[int](), Example: sum{}}}
	s := servertest.New(t,
		api.Compute(api.Spec{ID: "add", Path: "/v1/sums", May: access.Anyone}, api.NoTarget, variants, nil, add),
		api.ComputeGet(api.Spec{ID: "added", Path: "/v1/sums/result", May: access.Anyone}, api.NoTarget, variants, nil, add))
	lasting := sum{Terms: []int{1, 2}}
	tag := s.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/sums", lasting).Header.Get("ETag")
	at := func(in string) string { return "/v1/sums/result?" + url.Values{"input": {in}}.Encode() }
	s.Want(http.StatusNotModified, nil, "alice", http.MethodGet, at(`{"terms":[1,2]}`), nil, "If-None-Match", tag)
	for header, match := range map[string]string{"If-Match": `"x"`, "If-None-Match": "*"} {
		refused(t, s.Do("alice", http.MethodPost, "/v1/sums", lasting, header, match), problem.PreconditionFailed)
	}
	refused(t, s.Do("alice", http.MethodGet, at(`{"terms":[1,2]}`), nil, "If-Match", `"x"`), problem.PreconditionFailed)
	if computed != 1 {
		t.Errorf("it was computed %d times for who has it", computed)
	}
	a := s.Want(http.StatusOK, nil, "alice", http.MethodPost, "/v1/sums", sum{Terms: []int{1, 2}, Passing: true})
	for range 2 {
		h := a.Header
		if h.Get("ETag") != "" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "application/json" || string(a.Body) != "3" {
			t.Errorf("%s may be kept: %v", a.Body, h)
		}
		a = s.Want(http.StatusOK, nil, "alice", http.MethodGet, at(`{"terms":[1,2],"passing":true}`), nil, "If-None-Match", tag)
	}
}

func TestJSONSchema_IsMadeOnce(t *testing.T) {
	allocated := testing.AllocsPerRun(10, func() {
		if _, err := api.JSONSchema(reflect.TypeFor[sum]()); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 2 {
		t.Errorf("the schema of a type that was asked for before takes %.0f allocations", allocated)
	}
}
