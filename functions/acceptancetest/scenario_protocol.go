package acceptancetest

import (
	"net/http"
	"slices"
	"strings"

	"assay/shared/problem"
)

func (st *scenario) protocol() {
	for _, path := range []string{"/", "/v1", "/health", "/info", "/openapi.json", "/openapi.yaml", "/docs"} {
		st.get(st.anyone, path, nil)
	}
	evaluation := "/v1/evaluations/" + st.evaluationOf(st.annCACM.runs[0])
	for _, path := range []string{"/health", st.public, evaluation, st.board(st.cacm), "/v1/tasks", "/openapi.json"} {
		a := st.want(http.StatusOK, nil, st.anyone, http.MethodGet, path, nil, "Accept-Encoding", "identity") // Go adds gzip to a GET alone
		b := st.want(http.StatusOK, nil, st.anyone, http.MethodHead, path, nil, "Accept-Encoding", "identity")
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Cache-Control", "Link"} {
			if a.header.Get(name) != b.header.Get(name) {
				st.t.Errorf("HEAD %s: %s is %q, for GET %q", path, name, b.header.Get(name), a.header.Get(name))
			}
		}
	}
	st.want(http.StatusNotFound, nil, st.anyone, http.MethodHead, "/v1/tasks/"+st.missing(), nil)
	st.methods()
	st.origins()

	for _, path := range []string{"/v2/tasks", "/v1/task", "/v1/tasks/", "/v1//tasks", "/v1/tasks/x", "/v1/tasks/" + st.missing(),
		"/v1/tasks/" + strings.ToLower(id(st.public))} {
		st.refused(problem.NotFound, st.anyone, http.MethodGet, path, nil)
	}
	st.refused(problem.NotFound, st.anyone, http.MethodGet, strings.Replace(st.annCACM.path, id(st.public), id(st.limited), 1), nil)
	st.refused(problem.TooLarge, st.olivia, http.MethodPost, "/v1/organizers", `{"name":"`+strings.Repeat("x", 5<<20)+`"}`)
	_, header := st.refusal(problem.UnsupportedMedia, st.olivia, http.MethodPost, "/v1/organizers", "name=Lake", "Content-Type",
		"application/x-www-form-urlencoded")
	if header.Get("Accept-Post") != "application/json" {
		st.t.Errorf("Accept-Post is %q", header.Get("Accept-Post"))
	}
	for _, accept := range []string{"image/png", "text/csv", "application/json;q=0"} {
		st.refused(problem.NotAcceptable, st.anyone, http.MethodGet, st.public, nil, "Accept", accept)
	}
	for _, accept := range []string{"*/*", "application/*", "text/html;q=0.5, application/json", "image/png, */*;q=0.1"} {
		st.want(http.StatusOK, nil, st.anyone, http.MethodGet, st.public, nil, "Accept", accept)
	}
	a := st.want(http.StatusOK, nil, st.anyone, http.MethodGet, st.public, nil, "X-Request-Id", "trace-"+st.tail)
	if a.header.Get("X-Request-Id") != "trace-"+st.tail {
		st.t.Errorf("X-Request-Id is %q", a.header.Get("X-Request-Id"))
	}
	a = st.want(http.StatusOK, nil, st.anyone, http.MethodGet, st.public, nil, "X-Request-Id", "two words")
	if got := a.header.Get("X-Request-Id"); got == "" || got == "two words" {
		st.t.Errorf("X-Request-Id is %q", got)
	}
}

func (st *scenario) methods() {
	st.t.Helper()
	for _, c := range []struct {
		method, path string
		allow        []string
	}{
		{http.MethodPut, "/v1/tasks", []string{"GET", "HEAD", "POST"}},
		{http.MethodDelete, "/v1/tasks", []string{"GET", "HEAD", "POST"}},
		{http.MethodPost, st.public, []string{"GET", "HEAD", "PATCH", "DELETE"}},
		{http.MethodPost, "/health", []string{"GET", "HEAD"}},
		{"BREW", "/v1/runs", []string{"GET", "HEAD"}},
	} {
		_, header := st.refusal(problem.MethodNotAllowed, st.olivia, c.method, c.path, nil)
		for _, m := range c.allow {
			if !slices.Contains(strings.Split(header.Get("Allow"), ", "), m) {
				st.t.Errorf("%s %s: Allow is %q, without %s", c.method, c.path, header.Get("Allow"), m)
			}
		}
	}
}

// origins asks as a page of another origin does.
func (st *scenario) origins() {
	st.t.Helper()
	origin := []string{"Origin", "https://page.example", "Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers",
		"authorization, if-match"}
	a := st.want(http.StatusNoContent, nil, st.anyone, http.MethodOptions, st.public, nil, origin...)
	for name, part := range map[string]string{
		"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "PATCH", "Access-Control-Allow-Headers": "If-Match",
		"Access-Control-Max-Age": "",
	} {
		if got := a.header.Get(name); got == "" || !strings.Contains(got, part) {
			st.t.Errorf("OPTIONS: %s is %q, want %q in it", name, got, part)
		}
	}
	a = st.want(http.StatusOK, nil, st.anyone, http.MethodGet, st.public, nil, origin[:2]...)
	if a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "ETag") {
		st.t.Errorf("GET: the page may read %v", a.header)
	}
	st.refused(problem.NotFound, st.anyone, http.MethodOptions, "/v2/tasks", nil, origin...)
}

const mergePatch = "application/merge-patch+json"

// emptyPatches change nothing, and may.
var emptyPatches = map[string][]string{jsonPatch: {"[]"}, mergePatch: {"{}"}}

var malformedBodies = []string{
	"", "null", "true", "0", `""`, "[]", "{}", "{", "\x00", "\xff\xfe", "[[]]", `{"":null}`, `[null]`, `[{"op":"add"}]`, `{"name":{"a":[1]}}`,
	strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), `{"name":` + strings.Repeat("9", 400) + `}`,
	`[{"op":"move","from":"","path":"/a/b"}]`, `[{"op":"copy","from":"/","path":"/~2"}]`, `[{"op":"replace","path":"","value":null}]`,
	`[{"op":"add","path":"/name/-1","value":1},{"op":"remove","path":"/members/99999999999999999999"}]`,
	`{"submissions":null,"registration":0,"evaluator":[],"runFormat":null,"truths":[null],"files":[{}],"members":{}}`,
	`{"taskId":"\u0000","organizerId":null,"name":"\ud800","perDay":-1e999,"truths":[{"name":"a","content":"####"}]}`,
}

// malformedRequests sends what no client means to send: every answer is a problem of the service. That none is a fault of the
// server is required of every request.
func (st *scenario) malformedRequests() {
	f := fixture{Setup: st.api, t: st.t}
	for _, o := range f.described() {
		types := map[string][]string{http.MethodPost: {"application/json"}, http.MethodPatch: {jsonPatch, mergePatch}}
		for _, mediaType := range types[o.method] {
			for _, body := range malformedBodies {
				path := st.filled(o.path)
				a := st.ask(st.olivia, o.method, path, body, "Content-Type", mediaType)
				if a.status < http.StatusBadRequest && !slices.Contains(emptyPatches[mediaType], body) {
					st.t.Errorf("%s %s took %q as %s: status %d\n%s", o.method, path, body, mediaType, a.status, a.body)
				}
			}
		}
	}
	for _, path := range []string{
		"/v1/tasks/%00", "/v1/tasks/..%2f..%2fetc", "/v1/tasks/%ff%fe", "/%2e%2e/health", "/v1/runs/" + strings.Repeat("A", 5000), "/v1/tasks/" +
			id(st.public) + "%20",
		"/v1/users/%22/submissions", "/v1/tasks?" + strings.Repeat("a=b&", 3000), "/v1/tasks?filter[name]=" + strings.Repeat("x,", 100),
		"/v1/tasks?filter[name]=%00%ff",
		"/v1/tasks?filter[]=x", "/v1/tasks?filter[name", "/v1/tasks?;", "/v1/runs?cursor=%00", "/v1/evaluations?sort=%27&filter[datasetId]=" +
			st.news, "/v1/tasks?limit=99999999999999999999",
	} {
		st.ask(st.anyone, http.MethodGet, path, nil)
		st.ask(st.olivia, http.MethodGet, path, nil)
	}
	for _, header := range []string{"Authorization", "If-None-Match", "If-Match", "Accept", "Content-Type", "Origin", "Idempotency-Key",
		"X-Request-Id", "Range"} {
		for _, value := range []string{"", ",", `"`, "Bearer", "\t;;=,", strings.Repeat("a/b,", 2000)} {
			st.ask(st.anyone, http.MethodGet, st.public, nil, header, value)
			st.ask(st.anyone, http.MethodPost, "/v1/organizers", "{}", header, value)
		}
	}
}

// filled puts ids into the path of an operation: of something that olivia may change.
func (st *scenario) filled(path string) string {
	task := st.limited
	if strings.Contains(path, "{registrationId}") || strings.Contains(path, "{submissionId}") {
		task = st.public
	}
	return strings.NewReplacer(
		"{organizerId}", id(st.organizerPath), "{taskId}", id(task), "{datasetId}", st.little, "{runId}", id(st.annNews.runs[0]),
		"{registrationId}", id(st.benRegistration), "{submissionId}", id(st.annNews.path)).Replace(path)
}
