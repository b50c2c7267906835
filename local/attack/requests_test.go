//go:build attack

package attack

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
)

// mergePatches patch a resource of the attacker, for which any login is enough.
func mergePatches(s *server) (out []request) {
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
			if !s.profile.full {
				break
			}
		}
	}
	return out
}

func jsonPatches(s *server) (out []request) {
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

// queries request lists with expensive parameters.
func queries(s *server) (out []request) {
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

// headers send large and invalid values in the headers that servers parse.
func headers(s *server) (out []request) {
	const size = 30 << 10 // below the limit on all headers of a request
	for name, values := range map[string][]string{
		"Accept": {repeat("a/b;q=0.1,", size), repeat("text/html;q=0.1,", size), "application/json;" + repeat("a=b;", size),
			repeat("*/*,", size)},
		"Accept-Encoding": {repeat("gzip;q=0.1,", size), "br;q=0," + repeat("*,", size)},
		"Accept-Language": {repeat("de-x-a,", size)},
		"Authorization": {"Bearer " + repeat("a", size), "Bearer " + repeat("a.", size), "Basic " + repeat("YTph", size), "Bearer " +
			strings.Repeat(".", 2)},
		"Range":             {"bytes=" + repeat("0-1,", size), "bytes=0-,-1", "bytes=-" + repeat("9", 100)},
		"If-None-Match":     {repeat(`"a",`, size), repeat(`W/"a",`, size), "*", `"`},
		"If-Match":          {repeat(`"a",`, size)},
		"If-Modified-Since": {repeat("Mon, ", size)},
		"Idempotency-Key":   {repeat("k", size), "\"", repeat("é", 200)},
		"X-Request-Id":      {repeat("r", size), "a\tb", repeat("é", 200)},
		"X-Forwarded-For":   {repeat("127.0.0.1,", size), "203.0.113.9"},
		"Forwarded":         {repeat("for=1.2.3.4;proto=https,", size)},
		"Origin":            {repeat("https://a", size), "null"},
		"Cookie":            {repeat("a=b;", size)},
		"Content-Encoding":  {"gzip"},
		"Expect":            {"100-continue", "200-ok"},
		"Upgrade":           {"h2c", "websocket"},
		"Last-Event-Id":     {repeat("9", size)},
		"Content-Type":      {jsonMedia + ";" + repeat("a=b;", size), repeat("a", size)},
	} {
		for n, value := range values {
			method, body := http.MethodGet, []byte(nil)
			target := []string{s.task, "/v1/tasks?limit=200", "/", "/openapi.json", s.task + "/evaluations"}[n%5]
			if name == "Content-Type" || name == "Content-Encoding" || name == "Idempotency-Key" || name == "Expect" {
				method = http.MethodPost
				target = "/v1/organizers"
				body = []byte(`{"name":1}`)
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

// maxBody is the size of the hostile part in a body of the largest size.
const maxBody = 5<<20 - 1<<10

// hostileJSON returns faulty bodies of every shape. Most have about the largest allowed size. The fault is in the member.
func hostileJSON(member string) [][]byte {
	in := func(value string) []byte { return []byte(`{"` + member + `":` + value + `}`) }
	list := func(element string, size int) string { return "[" + repeat(element+",", size) + element + "]" }
	return [][]byte{
		in(list("1", maxBody)),        // elements of the wrong type
		in(list("{}", maxBody)),       // elements without members
		in(list(`"nobody"`, maxBody)), // names that nobody has
		in(list("[]", 1<<20)),         // lists within a list
		in(repeat("[", maxBody)),      // deep and never closed
		in(repeat("[", maxBody/2) + repeat("]", maxBody/2)),
		in(strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000)),
		[]byte(`{` + members("unknown%d", maxBody) + `"a":1}`),
		[]byte(`{` + members(member, maxBody) + `"` + member + `":1}`), // one name again and again
		in(`"` + repeat("x", maxBody) + `"`),
		in(`"` + repeat(`\u0001`, maxBody) + `"`),
		in(`"` + repeat(`\"`, maxBody) + `"`),
		in(repeat("9", maxBody)),
		in("1e" + repeat("9", 1<<10)),
		in("-0." + repeat("0", maxBody) + "1"),
		[]byte(`{"` + repeat("n", maxBody) + `":1}`),
		in("1 " + repeat(" ", maxBody)),
		in("null,"),
		[]byte("\xef\xbb\xbf{}"), []byte("{\"\xff\":1}"), []byte("[]"), []byte("null"), []byte(`"text"`), []byte("{}{}"),
	}
}

// members returns members of an object, together at most of the size.
func members(name string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size-len(name)-32; n++ {
		b.WriteString(strconv.Quote(strings.ReplaceAll(name, "%d", strconv.Itoa(n))))
		b.WriteString(":1,")
	}
	return b.String()
}

// mutated returns a copy of a value in which some parts are replaced by values of other types, up to the depth.
func mutated(r *rand.Rand, value any, depth int) any {
	if r.IntN(6) == 0 {
		return randomValue(r, depth)
	}
	switch v := value.(type) {
	case object:
		out := object{}
		for name, part := range v {
			switch r.IntN(20) {
			case 0: // left out
			case 1:
				out[randomText(r)] = mutated(r, part, depth)
			default:
				out[name] = mutated(r, part, depth)
			}
		}
		return out
	case []any:
		var out []any
		for _, part := range v {
			for range 1 + r.IntN(20)/19*r.IntN(300) {
				out = append(out, mutated(r, part, depth))
			}
		}
		return out
	default:
		return v
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 3 && depth > 0:
		out := object{}
		for range r.IntN(5) {
			out[randomText(r)] = randomValue(r, depth-1)
		}
		return out
	case n < 5 && depth > 0:
		return []any{randomValue(r, depth-1), randomValue(r, r.IntN(depth))}
	default:
		return []any{nil, true, 0, -1, 1e308, 1 << 53, 0.1, randomText(r), randomText(r)}[r.IntN(9)]
	}
}

// randomText returns a name that the server knows, or a text that is no valid name.
func randomText(r *rand.Rand) string {
	texts := []string{
		"name", "files", "text", "content", "runId", "measures", "AP", "nDCG@10", "P(rel=2)@5", "trec-run", "jsonl", "worker", "test",
		"01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "", " ", "\x00", "\u202e", "\u2028", "../../etc/passwd", "H4sIAAAAAAAA", "é", "\U0001f4a9", "<script>",
	}
	return strings.Repeat(texts[r.IntN(len(texts))], []int{1, 1, 1, 2, 100, 5000}[r.IntN(6)])
}

func corrupt(r *rand.Rand, body []byte) []byte {
	out := bytes.Clone(body)
	for range 1 + r.IntN(8) {
		out[r.IntN(len(out))] = `{}[]",:0e\ `[r.IntN(11)]
	}
	return out
}

// compressed returns the output of write, compressed with gzip.
func compressed(write func(w io.Writer)) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // The level is valid.
	write(w)
	_ = w.Close()
	return b.Bytes()
}

// bomb returns a gzip file that unpacks to the line, repeated up to the size.
func bomb(line string, size int) []byte {
	block := []byte(strings.Repeat(line, 1+(64<<10)/len(line)))
	return compressed(func(w io.Writer) {
		for left := size; left > 0; left -= len(block) {
			_, _ = w.Write(block) // Writing to memory does not fail.
		}
	})
}

// zeros returns a gzip file of a gigabyte of zeros, in base64.
var zeros = sync.OnceValue(func() string { return base64.StdEncoding.EncodeToString(bomb("\x00", 1<<30)) })

// bigRun returns a compressed run with lines of about 180 bytes.
func bigRun(lines int) []byte {
	filler := strings.Repeat("x", 150)
	return compressed(func(w io.Writer) {
		for n := range lines {
			fmt.Fprintf(w, "%d Q0 d%d%s 1 %d big\n", 1+n/1000, n%1000, filler, 1000-n%1000)
		}
	})
}
