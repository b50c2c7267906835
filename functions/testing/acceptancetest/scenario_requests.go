package acceptancetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/testing/waittest"
)

// user is a caller of the server.
type user struct {
	name, token, id string
	trusted         bool // may know which team an alias stands for
}

// ask sends a request. The status must be below 500, and the answer must not name the anonymous team unless the caller is
// trusted.
func (st *scenario) ask(caller user, method, path string, body any, headers ...string) answer {
	st.t.Helper()
	a := st.api.send(st.t, caller.token, method, path, body, headers...)
	if a.status >= http.StatusInternalServerError {
		st.t.Errorf("%s %s as %s: status %d\n%s", method, path, caller.name, a.status, a.body)
	}
	sent, err := json.Marshal([]any{path, body, headers})
	if err != nil {
		st.t.Fatal(err)
	}
	var header bytes.Buffer
	_ = a.header.Write(&header) // writing to a buffer cannot fail
	for _, secret := range st.secrets {
		shown := bytes.Contains(a.body, []byte(secret)) || strings.Contains(header.String(), secret)
		if shown && !caller.trusted && !bytes.Contains(sent, []byte(secret)) {
			st.t.Errorf("%s %s as %s: the answer has %q\n%s%s", method, path, caller.name, secret, header.String(), a.body)
		}
	}
	return a
}

// want sends a request and requires the status. It decodes the body into v unless v is nil.
func (st *scenario) want(status int, v any, caller user, method, path string, body any, headers ...string) answer {
	st.t.Helper()
	a := st.ask(caller, method, path, body, headers...)
	if a.status != status {
		st.t.Fatalf("%s %s as %s: status %d, want %d\n%s", method, path, caller.name, a.status, status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			st.t.Fatalf("%s %s: %v\n%s", method, path, err, a.body)
		}
	}
	return a
}

// get returns the resource at the path. It retries, because a store may return a new resource only after a moment.
func (st *scenario) get(caller user, path string, v any) (a answer) {
	st.t.Helper()
	st.await("GET "+path+" as "+caller.name, func() error {
		a = st.ask(caller, http.MethodGet, path, nil)
		if a.status != http.StatusOK {
			return fmt.Errorf("status %d, want 200\n%s", a.status, a.body)
		}
		return nil
	})
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			st.t.Fatalf("GET %s: %v\n%s", path, err, a.body)
		}
	}
	return a
}

// post creates a resource and returns its path.
func (st *scenario) post(caller user, path string, body any) string {
	st.t.Helper()
	return st.want(http.StatusCreated, nil, caller, http.MethodPost, path, body).header.Get("Location")
}

// patch applies a merge patch.
func (st *scenario) patch(caller user, path string, v, body any) {
	st.t.Helper()
	st.want(http.StatusOK, v, caller, http.MethodPatch, path, body)
}

func (st *scenario) remove(caller user, path string) {
	st.t.Helper()
	st.want(http.StatusNoContent, nil, caller, http.MethodDelete, path, nil)
}

// refused sends a request and requires a problem of the kind. It returns the headers of the answer.
func (st *scenario) refused(kind *problem.Kind, caller user, method, path string, body any, headers ...string) http.Header {
	st.t.Helper()
	var p problem.Document
	a := st.want(kind.Status, &p, caller, method, path, body, headers...)
	asked, _, _ := strings.Cut(path, "?")
	if p.Type != kind.Type() || p.Title != kind.Title || p.Detail == "" || p.Instance != asked || p.RequestID != a.header.Get("X-Request-Id") {
		st.t.Errorf("%s %s as %s: want %s, its detail, the path and the request's id; got\n%s", method, path, caller.name, kind.Slug, a.body)
	}
	return a.header
}

// await retries until complaint returns nil. A write may become visible after a moment, and evaluation takes time.
func (st *scenario) await(what string, complaint func() error) {
	st.t.Helper()
	waittest.Succeed(st.t, "there is no complaint about "+what, complaint)
}

// page is a page of any list.
type page struct {
	Data  []json.RawMessage
	Links struct{ Self, Next string }
}

// list returns all ids of a list, from all its pages.
func (st *scenario) list(caller user, path string) []string {
	st.t.Helper()
	var ids []string
	for path != "" {
		a := st.ask(caller, http.MethodGet, path, nil)
		if a.status == http.StatusNoContent {
			return ids
		}
		var p page
		if a.status != http.StatusOK || json.Unmarshal(a.body, &p) != nil || len(p.Data) == 0 {
			st.t.Fatalf("GET %s as %s: status %d\n%s", path, caller.name, a.status, a.body)
		}
		for _, raw := range p.Data {
			var r struct{ ID string }
			if err := json.Unmarshal(raw, &r); err != nil {
				st.t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		path = p.Links.Next
	}
	return ids
}

// listed waits until a list has exactly these ids in this order.
func (st *scenario) listed(caller user, path string, want ...string) {
	st.t.Helper()
	st.await("GET "+path+" as "+caller.name, func() error {
		if got := st.list(caller, path); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		return nil
	})
}

// run waits until the run at the path is in the state. It returns the run as its organizer sees it.
func (st *scenario) run(path string, state record.RunState) (r record.Run) {
	st.t.Helper()
	st.await(path, func() error {
		r = record.Run{}
		st.get(st.olivia, path, &r)
		if r.State != state {
			return fmt.Errorf("the run is %s, want %s: %v", r.State, state, r.Diagnostics)
		}
		return nil
	})
	return r
}

// put uploads the bytes of a pending file and returns the status.
func (st *scenario) put(u *record.Upload, content []byte) int {
	st.t.Helper()
	r, err := http.NewRequestWithContext(st.t.Context(), u.Method, u.URL, bytes.NewReader(content))
	if err != nil {
		st.t.Fatal(err)
	}
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	status, _ := st.exchange(r)
	return status
}

// download gets the file behind a link.
func (st *scenario) download(url string) (int, []byte) {
	st.t.Helper()
	r, err := http.NewRequestWithContext(st.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		st.t.Fatal(err)
	}
	return st.exchange(r)
}

// exchange sends a request to the object store, which may be another server and is not part of the OpenAPI document.
func (st *scenario) exchange(r *http.Request) (int, []byte) {
	st.t.Helper()
	resp, err := st.api.Client.Do(r)
	if err != nil {
		st.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body is read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		st.t.Fatal(err)
	}
	return resp.StatusCode, body
}
