package acceptancetest

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// HiddenIsMissing compares requests for hidden resources with requests for missing resources, by paths and in bodies. The answers
// must be equal, including the headers. A test of package functions compares filters, cursors and inputs of tools.
func HiddenIsMissing(t *testing.T, s Setup) {
	f := newFixture(t, s)
	f.comparePaths(parseRights(t))
	f.compareBodies()
}

// outsiders are callers without a part in either task.
var outsiders = []string{"anonymous", "outsider", "rival"}

// request is a request that names a hidden or a missing id.
type request struct {
	method, path string
	body         any
	headers      []string
}

// comparePaths compares all rows of the table of rights whose status equals the status for missing resources.
func (f *fixture) comparePaths(rows []right) {
	f.t.Helper()
	missing := map[string]right{}
	for _, r := range rows {
		if r.about == "missing" {
			missing[r.method+r.path] = r
		}
	}
	compared := 0
	for _, r := range rows {
		m, ok := missing[r.method+r.path]
		if !ok || r.about == "missing" {
			continue
		}
		for n, caller := range callers {
			if r.want[n] == m.want[n] && r.want[n] != http.StatusOK {
				compared++
				f.compareRows(caller, r, m)
			}
		}
	}
	if compared == 0 {
		f.t.Error("nothing was compared")
	}
}

// compareBodies names resources in bodies that are hidden from the caller.
func (f *fixture) compareBodies() {
	f.t.Helper()
	f.tokens["anonymous team"] = f.anonymous.token
	compare := func(method, path string, body func(id string) any, hidden ...string) {
		f.t.Helper()
		for _, id := range hidden {
			for _, caller := range append(outsiders, "anonymous team") {
				f.wantEqual(caller, request{method: method, path: path, body: body(id)}, request{method: method, path: path, body: body(f.missing)})
			}
		}
	}
	task := "/v1/tasks/" + f.public.task
	compare(http.MethodPost, task+"/submissions", func(dataset string) any { return image(f.public.dataset, dataset) }, f.private.dataset,
		f.private.testSet)
	compare(http.MethodPost, task+"/submissions", func(dataset string) any {
		return map[string]any{"type": "upload", "files": []any{csvFile("run.csv", "id,label\n1,a\n", dataset)}}
	}, f.private.dataset, f.private.testSet)
	compare(http.MethodPost, task+"/registrations", func(user string) any {
		return map[string]any{"team": "Another", "userId": user}
	}, f.users["owner"], f.users["registrant"])
	compare(http.MethodPost, "/v1/datasets", func(task string) any { return newDataset(task, "test") }, f.private.task)
	compare(http.MethodPatch, "/v1/datasets/"+f.public.dataset, func(task string) any { return map[string]any{"taskId": task} },
		f.private.task)
}

// compareRows compares a row with the row of missing resources. Callers without a part in the tasks also send invalid requests: a
// refusal must not distinguish hidden from missing resources either.
func (f *fixture) compareRows(caller string, r, m right) {
	f.t.Helper()
	hiddenPath, p := f.fillPath(r)
	missingPath, none := f.fillPath(m)
	all := requestVariants(r.method)
	if !slices.Contains(outsiders, caller) {
		all = all[:1]
	}
	for _, way := range all {
		a, b := way, way
		a.path, b.path = hiddenPath+way.path, missingPath+way.path
		if way.body == nil {
			a.body, b.body = f.body(r, p), f.body(m, none)
		}
		f.wantEqual(caller, a, b)
		if strings.Count(r.path, "{") == 2 && strings.HasSuffix(r.path, "}") { // only the resource below the parent is missing
			b.path = hiddenPath[:strings.LastIndex(hiddenPath, "/")+1] + f.missing + way.path
			f.wantEqual(caller, a, b)
		}
	}
}

// requestVariants returns requests of the method with different headers, queries and bodies. A nil body stands for a valid body.
func requestVariants(method string) []request {
	all := []request{{method: method, headers: conditions(method)}}
	switch method {
	case http.MethodGet:
		return append(all,
			request{method: http.MethodHead},
			request{method: method, path: "?limit=0"},
			request{method: method, path: "?fields=nothing"},
			request{method: method, headers: []string{"If-None-Match", "*"}},
			request{method: method, headers: []string{"Accept", "image/png"}},
		)
	case http.MethodPost, http.MethodPatch:
		return append(all,
			request{method: method, body: "{"},
			request{method: method, path: "?preview=true"},
			request{method: method, body: `{"id":1}`},
			request{method: method, body: "{}", headers: []string{"Content-Type", "text/plain"}},
			request{method: method, headers: []string{"Idempotency-Key", "once"}},
		)
	default:
		return append(all, request{method: method}, request{method: method, headers: []string{"If-Match", "*"}})
	}
}

// wantEqual checks that both requests get the same answer, except for ids.
func (f *fixture) wantEqual(caller string, hidden, missing request) {
	f.t.Helper()
	h := f.ask(caller, hidden.method, hidden.path, hidden.body, hidden.headers...)
	m := f.answerOnce(caller, missing)
	what := fmt.Sprintf("%s %s as %s", hidden.method, hidden.path, caller)
	if h.status != m.status {
		f.t.Errorf("%s: %d when hidden, %d when missing\n%s\n%s", what, h.status, m.status, h.body, m.body)
		return
	}
	if a, b := normalized(h.body), normalized(m.body); !bytes.Equal(a, b) {
		f.t.Errorf("%s: when hidden\n%s\nand when missing\n%s", what, a, b)
	}
	a, b := normalizedHeader(h.header), normalizedHeader(m.header)
	for name := range a {
		if !slices.Equal(a[name], b[name]) {
			f.t.Errorf("%s: %s is %q when hidden, %q when missing", what, name, a[name], b[name])
		}
	}
	if len(a) != len(b) {
		f.t.Errorf("%s: the headers are %v when hidden, %v when missing", what, a, b)
	}
}

// answerOnce sends a request for a missing resource and reuses its answer, which is the same each time.
func (f *fixture) answerOnce(caller string, r request) answer {
	f.t.Helper()
	key := fmt.Sprint(caller, r)
	if _, ok := f.answers[key]; !ok {
		f.answers[key] = f.ask(caller, r.method, r.path, r.body, r.headers...)
	}
	return f.answers[key]
}

func normalizedHeader(h http.Header) http.Header {
	h = h.Clone()
	h.Del("Date")
	if h.Get("Etag") != "" {
		h.Set("Etag", "of the body, which names what was asked for")
	}
	h.Del("X-Request-Id")
	h.Del("RateLimit") // counts the requests of the caller, independent of the resources
	for i, link := range h["Link"] {
		h["Link"][i] = string(normalized([]byte(link)))
	}
	return h
}

var (
	requestID = regexp.MustCompile(`"requestId":"[^"]*"`)
	anyID     = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
)

// normalized returns a body without the parts that differ between any two requests, such as ids.
func normalized(body []byte) []byte {
	return anyID.ReplaceAll(requestID.ReplaceAll(body, nil), []byte("ID"))
}
