package attack

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

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
