package acceptancetest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"assay/shared/language/problem"
)

func (st *scenario) protocol() {
	for _, path := range []string{"/", "/v1", "/health", "/info", "/openapi.json", "/openapi.yaml", "/docs"} {
		st.get(st.anyone, path, nil)
	}
	evaluation := "/v1/evaluations/" + st.evaluationOf(st.annCACM.runs[0])
	for _, path := range []string{"/health", st.public, evaluation, st.board(st.cacm), "/v1/tasks", "/openapi.json"} {
		a := st.want(http.StatusOK, nil, st.anyone, http.MethodGet, path, nil, "Accept-Encoding", "identity") // Go adds gzip only to GET
		b := st.want(http.StatusOK, nil, st.anyone, http.MethodHead, path, nil, "Accept-Encoding", "identity")
		for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Cache-Control", "Link"} {
			if a.header.Get(name) != b.header.Get(name) {
				st.t.Errorf("HEAD %s: %s is %q, for GET %q", path, name, b.header.Get(name), a.header.Get(name))
			}
		}
	}
	st.want(http.StatusNotFound, nil, st.anyone, http.MethodHead, "/v1/tasks/"+st.missing(), nil)
	for path, allow := range map[string]string{
		"/v1/tasks": "GET, HEAD, POST, OPTIONS", st.public: "GET, HEAD, PATCH, DELETE, OPTIONS", "/health": "GET, HEAD, OPTIONS",
	} {
		if got := st.refused(problem.MethodNotAllowed, st.olivia, "BREW", path, nil).Get("Allow"); got != allow {
			st.t.Errorf("BREW %s: Allow is %q, want %q", path, got, allow)
		}
	}
	preflight := []string{"Origin", "https://page.example", "Access-Control-Request-Method", "PATCH"}
	a := st.want(http.StatusNoContent, nil, st.anyone, http.MethodOptions, st.public, nil, preflight...)
	if !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), "PATCH") {
		st.t.Errorf("OPTIONS: a page of another origin may %v", a.header)
	}
	st.refused(problem.NotFound, st.anyone, http.MethodOptions, "/v2/tasks", nil, preflight...)
	for _, path := range []string{"/v2/tasks", "/v1/task", "/v1/tasks/", "/v1//tasks", "/v1/tasks/x", "/v1/tasks/" + st.missing(),
		"/v1/tasks/" + strings.ToLower(id(st.public))} {
		st.refused(problem.NotFound, st.anyone, http.MethodGet, path, nil)
	}
	st.refused(problem.NotFound, st.anyone, http.MethodGet, strings.Replace(st.annCACM.path, id(st.public), id(st.limited), 1), nil)
	st.refused(problem.TooLarge, st.olivia, http.MethodPost, "/v1/organizers", `{"name":"`+strings.Repeat("x", 5<<20)+`"}`)
}

// The media types of patches.
const (
	jsonPatch  = "application/json-patch+json"
	mergePatch = "application/merge-patch+json"
)

// emptyPatches change nothing and are valid. An empty invitation is valid, too.
var emptyPatches = map[string][]string{jsonPatch: {"[]"}, mergePatch: {"{}"}}

var malformedBodies = []string{
	"", "null", "true", "0", `""`, "[]", "{}", "{", "\x00", "\xff\xfe", "[[]]", `{"":null}`, `[null]`, `[{"op":"add"}]`, `{"name":{"a":[1]}}`,
	strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), `{"name":` + strings.Repeat("9", 400) + `}`,
	`[{"op":"move","from":"","path":"/a/b"}]`, `[{"op":"copy","from":"/","path":"/~2"}]`, `[{"op":"replace","path":"","value":null}]`,
	`[{"op":"add","path":"/name/-1","value":1},{"op":"remove","path":"/members/99999999999999999999"}]`,
	`{"submissions":null,"registration":0,"evaluator":[],"runFormat":null,"truths":[null],"files":[{}],"members":{}}`,
	`{"taskId":"\u0000","organizerId":null,"name":"\ud800","perDay":-1e999,"truths":[{"name":"a","content":"####"}]}`,
}

// malformedRequests sends requests that no client intends. The server must answer each with a problem. As for every request, the
// status must not be 500 or more.
func (st *scenario) malformedRequests() {
	f := fixture{Setup: st.api, t: st.t}
	for _, o := range f.described() {
		types := map[string][]string{http.MethodPost: {"application/json"}, http.MethodPatch: {jsonPatch, mergePatch}}
		for _, mediaType := range types[o.method] {
			for _, body := range malformedBodies {
				path := st.filled(o.path)
				a := st.ask(st.olivia, o.method, path, body, "Content-Type", mediaType)
				empty := slices.Contains(emptyPatches[mediaType], body) || body == "{}" && strings.HasSuffix(o.path, "/invitations")
				if a.status < http.StatusBadRequest && !empty {
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

// filled replaces the parameters of a path by ids of resources that olivia may change.
func (st *scenario) filled(path string) string {
	task := st.limited
	if strings.Contains(path, "{registrationId}") || strings.Contains(path, "{submissionId}") {
		task = st.public
	}
	return strings.NewReplacer(
		"{organizerId}", id(st.organizerPath), "{taskId}", id(task), "{datasetId}", st.little, "{runId}", id(st.annNews.runs[0]),
		"{registrationId}", id(st.benRegistration), "{submissionId}", id(st.annNews.path)).Replace(path)
}

// lists reads lists in pages of different sizes and compares them with the whole list.
func (st *scenario) lists() {
	task := id(st.public)
	for _, l := range []struct {
		caller user
		path   string
		some   int // least number of resources
	}{
		{st.anyone, "/v1/organizers?filter[name]=" + st.tail, 1},
		{st.olivia, "/v1/tasks?filter[organizerId]=" + id(st.organizerPath), 3},
		{st.anyone, "/v1/tasks?filter[organizerId]=" + id(st.organizerPath), 2},
		{st.anyone, "/v1/datasets?filter[taskId]=" + task, 2},
		{st.olivia, st.public + "/registrations", 3},
		{st.olivia, st.public + "/submissions", 4},
		{st.anyone, st.public + "/submissions", 2},
		{st.ben, st.public + "/submissions", 4},
		{st.olivia, "/v1/runs?filter[taskId]=" + task, 5},
		{st.ben, "/v1/runs?filter[taskId]=" + task, 5},
		{st.anyone, "/v1/runs?filter[taskId]=" + task, 2},
		{st.anyone, "/v1/runs?filter[datasetId]=" + st.cacm + "," + st.news, 2},
		{st.ben, "/v1/runs?filter[userId]=" + st.ben.id, 8},
		{st.anyone, "/v1/evaluations?filter[taskId]=" + task, 5},
		{st.anyone, st.public + "/evaluations", 5},
		{st.ben, "/v1/users/" + st.ben.id + "/submissions", 7},
		{st.olivia, st.public + "/audit-entries", 8},
		{st.olivia, st.organizerPath + "/todos", 3},
	} {
		whole := st.list(l.caller, l.path)
		descending := slices.IsSortedFunc(whole, func(a, b string) int {
			if a > b {
				return -1
			}
			return 1
		})
		if len(whole) < l.some || !descending {
			st.t.Errorf("GET %s as %s: %d, want at least %d, the newest first: %v", l.path, l.caller.name, len(whole), l.some, whole)
		}
		for _, limit := range []string{"1", "3", "1000"} {
			if got := st.list(l.caller, l.path+separator(l.path)+"limit="+limit); !slices.Equal(got, whole) {
				st.t.Errorf("GET %s as %s by %s: %v, want %v", l.path, l.caller.name, limit, got, whole)
			}
		}
		if last := whole[len(whole)-1]; !slices.Equal(st.list(l.caller, l.path+separator(l.path)+"cursor="+last), []string{last}) {
			st.t.Errorf("GET %s as %s does not go on at its cursor", l.path, l.caller.name)
		}
		st.wrongPages(l.caller, l.path)
	}
	var p page
	st.get(st.admin, "/v1/users?limit=2", &p)
	if len(p.Data) != 2 || p.Links.Next == "" {
		st.t.Errorf("two users and more to come: %+v", p)
	}
	st.get(st.admin, p.Links.Next, nil)
	st.refused(problem.InvalidCursor, st.anyone, http.MethodGet, st.public+"/submissions?cursor="+id(st.benBoth.path), nil)
	st.refused(problem.InvalidCursor, st.anyone, http.MethodGet, "/v1/tasks?cursor="+id(st.private), nil)
	st.want(http.StatusOK, nil, st.pia, http.MethodGet, "/v1/tasks?cursor="+id(st.private), nil)
	st.refused(problem.InvalidParameter, st.anyone, http.MethodGet, "/v1/runs?filter[state]=asleep", nil)
	st.refused(problem.InvalidParameter, st.anyone, http.MethodGet, "/v1/runs?filter[taskId]=x", nil)
}

// filters checks that a filter keeps exactly the resources with the value, for each value in the list.
func (st *scenario) filters() {
	for _, l := range []struct {
		caller       user
		path, member string
	}{
		{st.olivia, st.public + "/registrations", "state"},
		{st.ben, st.public + "/registrations", "state"},
		{st.olivia, st.public + "/audit-entries", "actorId"},
		{st.olivia, st.public + "/audit-entries", "action"},
		{st.olivia, st.organizerPath + "/todos", "kind"},
		{st.olivia, st.organizerPath + "/todos", "taskId"},
		{st.ben, "/v1/users/" + st.ben.id + "/submissions", "taskId"},
		{st.admin, "/v1/users", "name"},
		{st.anyone, "/v1/organizers", "name"},
		{st.anyone, "/v1/tools", "kind"},
	} {
		having := func(path string) map[string]int {
			counts := map[string]int{}
			for path += separator(path) + "limit=3&fields=" + l.member; path != ""; {
				var p page
				st.get(l.caller, path, &p)
				for _, raw := range p.Data {
					var r map[string]string
					if err := json.Unmarshal(raw, &r); err != nil {
						st.t.Fatal(err)
					}
					counts[r[l.member]]++
				}
				path = p.Links.Next
			}
			return counts
		}
		whole := having(l.path)
		for value, n := range whole {
			if value == "" {
				continue // for users without a name from their issuer
			}
			got := having(l.path + "?filter[" + l.member + "]=" + url.QueryEscape(value))
			if l.member == "name" {
				maps.DeleteFunc(got, func(name string, _ int) bool { return name != value && strings.Contains(name, value) })
			}
			if !maps.Equal(got, map[string]int{value: n}) {
				st.t.Errorf("GET %s as %s has %v with the %s %q, want %d of them", l.path, l.caller.name, got, l.member, value, n)
			}
		}
		if len(whole) == 0 {
			st.t.Errorf("GET %s as %s: the list is empty", l.path, l.caller.name)
		}
		if strings.HasSuffix(l.member, "Id") || l.member == "name" { // a value that no resource has
			st.want(http.StatusNoContent, nil, l.caller, http.MethodGet, l.path+"?filter["+l.member+"]="+st.admin.id, nil)
		}
	}
}

// wrongPages requests invalid pages.
func (st *scenario) wrongPages(caller user, path string) {
	st.t.Helper()
	path += separator(path)
	for _, cursor := range []string{st.missing(), st.olivia.id, "x", "", "01jz3v7q0d8t5rz0s6r1w9c4xk", "80000000000000000000000000"} {
		st.refused(problem.InvalidCursor, caller, http.MethodGet, path+"cursor="+cursor, nil)
	}
	for _, query := range []string{"limit=0", "limit=-1", "limit=x", "limit=1.5", "limit=", "limit=1&limit=2", "filter[colour]=red",
		"colour=red", "fields=colour", "offset=1", "limit=%zz"} {
		st.refused(problem.InvalidParameter, caller, http.MethodGet, path+query, nil)
	}
}
