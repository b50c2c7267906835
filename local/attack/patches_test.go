package attack

import (
	"fmt"
	"net/http"
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
