package attack

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// mergePatches go to a resource of the attacker's own, for which any login is enough.
func mergePatches(s *site) (out []request) {
	deep := func(depth, width int) string {
		level := `{"a":1,` + members("b%d", width) + `"c":`
		return strings.Repeat(level, depth) + "1" + strings.Repeat("}", depth)
	}
	for _, body := range []string{
		deep(1200, 4<<10), deep(1000, 400), deep(31, 100<<10), `{"description":` + deep(500, 4<<10) + `}`,
		`{` + members("unknown%d", maxBody) + `"a":null}`, `{` + members("name", maxBody) + `"name":1}`,
		`{"members":[` + repeat(`"nobody",`, maxBody) + `"nobody"]}`, `{"members":[` + repeat(`null,`, maxBody) + `null]}`,
		`{"description":"` + repeat(`\u2028`, maxBody) + `"}`, "[]", "1", `"text"`, "null",
	} {
		for _, target := range []string{s.ownOrganizer, s.ownTask, s.ownDataset} {
			out = append(out, request{from: s.attacker, method: http.MethodPatch, path: target, media: mergePatch, body: []byte(body)})
			if !s.form.full {
				break
			}
		}
	}
	return out
}

func jsonPatches(s *site) (out []request) {
	operations := func(n int, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(strings.ReplaceAll(format, "%d", "%[1]d"), i)
			if !strings.Contains(format, "%d") {
				all[i] = format
			}
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	long := `[{"op":"add","path":"/members","value":[` + repeat("1,", 2<<20) + `1]},`
	for _, body := range []string{
		long + operations(100, `{"op":"add","path":"/members/0","value":"x"}`)[1:],
		long + operations(100, `{"op":"remove","path":"/members/0"}`)[1:],
		long + operations(100, `{"op":"copy","from":"/members","path":"/members/0"}`)[1:],
		long + operations(100, `{"op":"test","path":"/members","value":[]}`)[1:],
		operations(60000, `{"op":"test","path":"/name","value":"Pond search"}`),
		operations(60000, `{"op":"add","path":"/members/-","value":"nobody%d"}`),
		operations(30, `{"op":"copy","from":"","path":"/name%d"}`),
		operations(200, `{"op":"add","path":"/description","value":{"a":`+repeat("[", 1000)+repeat("]", 1000)+`}}`),
		operations(1, `{"op":"add","path":"`+repeat("/a", 2<<20)+`","value":1}`),
		operations(1, `{"op":"test","path":"`+repeat("/members", 2<<20)+`","value":1}`),
		operations(1, `{"op":"add","path":"/members/999999999","value":1}`),
		operations(1, `{"op":"move","from":"/members","path":"/members/0"}`),
		operations(1, `{"op":"add","path":"`+repeat("~1", 2<<20)+`","value":1}`),
		operations(1, `{"op":"test","path":"/a","value":`+repeat("[", 2<<20)+repeat("]", 2<<20)+`}`),
	} {
		out = append(out, request{from: s.attacker, method: http.MethodPatch, path: s.ownOrganizer, media: jsonPatch, body: []byte(body)})
	}
	return out
}

// queries ask for lists in ways that cost much.
func queries(s *site) (out []request) {
	ids := strings.TrimSuffix(repeat(path.Base(s.task)+",", 60<<10), ",")
	for _, list := range []string{"/v1/tasks", "/v1/runs", "/v1/evaluations", s.task + "/evaluations", s.task + "/submissions"} {
		for _, q := range []string{
			"?fields=" + strings.TrimSuffix(repeat("id,", 60<<10), ","), "?filter[taskId]=" + ids, "?filter[name]=" + repeat("a,", 7<<10),
			"?cursor=" + repeat("0", 60<<10), "?cursor=" + path.Base(s.task), "?limit=" + repeat("9", 60<<10), "?sort=rank&offset=100000",
			"?" + repeat("limit=1&", 60<<10), "?filter[taskId]=" + path.Base(s.task) + "&sort=" + url.QueryEscape("nDCG@"+repeat("9", 100)),
			"?sort=-" + url.QueryEscape("P(rel="+repeat("(", 4<<10)), "?%zz", "?;;;;", "?limit=200&fields=" + repeat("a", 60<<10),
			"?" + repeat("&", 60<<10),
		} {
			out = append(out, request{from: s.attacker, method: http.MethodGet, path: list + q})
		}
		out = append(out, request{from: s.attacker, method: http.MethodHead, path: list + "?limit=200"})
	}
	out = append(out, request{method: http.MethodGet, path: "/v1/tools/evaluator" + query("input", repeat("[", 7<<10))})
	return out
}

// headers are those that servers parse.
func headers(s *site) (out []request) {
	const kept = 30 << 10 // less than all headers of a request may have
	for name, values := range map[string][]string{
		"Accept": {repeat("a/b;q=0.1,", kept), repeat("text/html;q=0.1,", kept), "application/json;" + repeat("a=b;", kept),
			repeat("*/*,", kept)},
		"Accept-Encoding": {repeat("gzip;q=0.1,", kept), "br;q=0," + repeat("*,", kept)},
		"Accept-Language": {repeat("de-x-a,", kept)},
		"Authorization": {"Bearer " + repeat("a", kept), "Bearer " + repeat("a.", kept), "Basic " + repeat("YTph", kept), "Bearer " +
			strings.Repeat(".", 2)},
		"Range":             {"bytes=" + repeat("0-1,", kept), "bytes=0-,-1", "bytes=-" + repeat("9", 100)},
		"If-None-Match":     {repeat(`"a",`, kept), repeat(`W/"a",`, kept), "*", `"`},
		"If-Match":          {repeat(`"a",`, kept)},
		"If-Modified-Since": {repeat("Mon, ", kept)},
		"Idempotency-Key":   {repeat("k", kept), "\"", repeat("é", 200)},
		"X-Request-Id":      {repeat("r", kept), "a\tb", repeat("é", 200)},
		"X-Forwarded-For":   {repeat("127.0.0.1,", kept), "203.0.113.9"},
		"Forwarded":         {repeat("for=1.2.3.4;proto=https,", kept)},
		"Origin":            {repeat("https://a", kept), "null"},
		"Cookie":            {repeat("a=b;", kept)},
		"Content-Encoding":  {"gzip"},
		"Expect":            {"100-continue", "200-ok"},
		"Upgrade":           {"h2c", "websocket"},
		"Last-Event-Id":     {repeat("9", kept)},
		"Content-Type":      {jsonMedia + ";" + repeat("a=b;", kept), repeat("a", kept)},
	} {
		for n, value := range values {
			method, body := http.MethodGet, []byte(nil)
			target := []string{s.task, "/v1/tasks?limit=200", "/", "/openapi.json", s.task + "/evaluations"}[n%5]
			if name == "Content-Type" || name == "Content-Encoding" || name == "Idempotency-Key" || name == "Expect" {
				method, target, body = http.MethodPost, "/v1/organizers", []byte(`{"name":1}`)
			}
			q := request{from: s.attacker, method: method, path: target, media: jsonMedia, body: body, header: map[string]string{name: value}}
			if name == "Authorization" {
				q.from = s.anonymous
			}
			out = append(out, q)
		}
	}
	many := map[string]string{}
	for n := range 2000 {
		many[fmt.Sprintf("X-Header-%d", n)] = "x"
	}
	out = append(out, request{from: s.attacker, method: http.MethodGet, path: s.task, header: many})
	for _, size := range []int{60 << 10, 1 << 20} {
		out = append(out, request{method: http.MethodGet, path: s.task, header: map[string]string{"X-Large": repeat("x", size)}})
	}
	return out
}
