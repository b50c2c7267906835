//go:build attack

package attack

import (
	"context"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// problemBytes bounds a problem document, which has at most a hundred faults. pageBytes bounds a page of a list.
const (
	problemBytes = 128 << 10
	pageBytes    = 4 << 20
)

// scenarios lists the attacks in their order. Attacks that leave much data come last.
var scenarios = []scenario{
	{name: "JSON to a tool", requests: jsonToTools, senders: 4, allow: refused, maxAnswer: problemBytes, factor: 8},
	{name: "JSON to resources", requests: jsonToResources, senders: 4, allow: refused, maxAnswer: problemBytes, factor: 8},
	{name: "random JSON", requests: randomBodies, senders: 4, allow: accepted, maxAnswer: pageBytes, factor: 8},
	{name: "merge patches", requests: mergePatches, senders: 4, allow: refused, maxAnswer: problemBytes, factor: 8},
	{name: "JSON patches", requests: jsonPatches, senders: 4, allow: refused, maxAnswer: problemBytes, factor: 8},
	{name: "coded bodies", requests: codedBodies, senders: 4, allow: refused, maxAnswer: problemBytes},
	{name: "coded answers", requests: codedAnswers, senders: 8, allow: accepted, maxAnswer: pageBytes},
	{name: "queries", requests: queries, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "headers", requests: headers, senders: 4, allow: append([]int{206, 304, 417, 501, 505}, accepted...), maxAnswer: pageBytes},
	{name: "paths", requests: paths, senders: 4, allow: append([]int{301, 307}, refused...), maxAnswer: problemBytes},
	{name: "gzip bombs to tools", requests: bombsToTools, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "gzip bombs as runs", requests: bombsAsRuns, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "hostile files", requests: hostileFiles, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "hostile evaluations", requests: hostileEvaluations, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "pages for tools", requests: renderings, senders: 4, allow: accepted, maxAnswer: pageBytes},
	{name: "heavy tools by anonymous callers", send: toolFlood, senders: 20, allow: accepted, maxAnswer: pageBytes, fullOnly: true},
	{name: "previews that unpack to much", send: previewFlood},
	{name: "tools by stored runs", send: storedRunFlood},
	{name: "long texts of two users", send: longTexts},
	{name: "heavy evaluations of one user", send: evaluationFlood},
	{name: "requests that are given up", send: givenUp},
	{name: "webhooks that hang", send: hangingReceivers},
	{name: "slow headers", send: slowHeaders},
	{name: "slow bodies", send: slowBodies},
	{name: "connections", send: idleConnections},
	{name: "gRPC messages", send: grpcMessages},
	{name: "gRPC streams", send: grpcStreams},
	{name: "heavy records in lists", send: heavyLists},
	{name: "big runs of one team", send: bigRuns, fullOnly: true}, // reads the lists of the scenario before it
	{name: "slow readers", send: slowReaders},
	{name: "slow readers with one login", send: slowReadersOfUser},
	{name: "writes of one user", send: writeFlood, senders: 8, allow: accepted, maxAnswer: problemBytes},
	// Before the scenarios below, which use up the quota of all users together.
	{name: "a full disk", send: fullDisk, smallDisk: true, fillsDisk: true},
	{name: "results of tools on the disk", requests: toolFiles, senders: 4, allow: accepted, maxAnswer: pageBytes, fillsDisk: true},
	{name: "uploads without end", send: uploadFlood, fillsDisk: true},
}

// post returns a POST of a JSON body, from a user or an anonymous caller.
func post(u *user, target string, body []byte) request {
	return request{from: u, method: http.MethodPost, path: target, media: jsonMedia, body: body}
}

// jsonToTools sends hostile JSON to tools, from anonymous callers with different addresses.
func jsonToTools(s *server) (out []request) {
	tools := []string{"evaluator", "fusion", "diffir", "topics"}
	if !s.profile.full {
		tools = tools[:1] // All tools share the code that reads their input.
	}
	for _, body := range hostileJSON("runs") {
		for _, tool := range tools {
			out = append(out, post(s.newUser(), "/v1/tools/"+tool, body))
		}
	}
	return out
}

// codedBodies sends compressed bodies that unpack to hostile JSON, or to much more than the largest body.
func codedBodies(s *server) (out []request) {
	var bodies [][]byte
	for _, line := range []string{"[", "\x00", `{"runs":"`} {
		bodies = append(bodies, bomb(line, 256<<20))
	}
	for _, body := range hostileJSON("runs") {
		bodies = append(bodies, bomb(string(body), 1))
	}
	bodies = append(bodies, []byte(repeat(string(bomb("x", 0)), maxBody)), bomb("{", 1<<10)[:20])
	for _, body := range bodies {
		for _, target := range []string{"/v1/tools/evaluator", "/v1/organizers"} {
			q := post(s.attacker, target, body)
			q.header = map[string]string{"Content-Encoding": "gzip"}
			out = append(out, q)
		}
	}
	return out
}

// codedAnswers requests the longest answers, compressed.
func codedAnswers(s *server) (out []request) {
	targets := []string{"/openapi.json", "/openapi.yaml", "/docs", "/v1/organizers?limit=200", s.task + "/evaluations?limit=200"}
	for range 20 {
		for _, target := range targets {
			out = append(out, request{method: http.MethodGet, path: target, header: map[string]string{"Accept-Encoding": "gzip"}})
		}
	}
	return out
}

// jsonToResources sends hostile JSON from a user to resources. The short profile sends every fifth body to each.
func jsonToResources(s *server) (out []request) {
	for first, target := range []struct{ path, member string }{
		{"/v1/organizers", "members"}, {"/v1/tasks", "submissions"}, {"/v1/datasets", "truths"}, {s.task + "/submissions", "files"},
		{s.task + "/registrations", "team"},
	} {
		for n, body := range hostileJSON(target.member) {
			if s.profile.full || n%5 == first {
				out = append(out, post(s.attacker, target.path, body))
			}
		}
	}
	return out
}

// randomBodies sends mutations of valid bodies.
func randomBodies(s *server) (out []request) {
	file := object{"name": "run.txt", "text": "1 Q0 d1 1 2.5 a\n1 Q0 d2 2 1.5 a\n"}
	run := object{"name": "a", "files": []any{file}}
	truth := object{"files": []any{object{"name": "qrels", "text": "1 0 d1 1\n"}}}
	dataset := object{
		"taskId": path.Base(s.ownTask), "name": "Fuzz", "split": "training", "runFormat": object{
			"kind": "jsonl", "idField": "id", "valueField": "label"},
		"inputs": []any{inline("in.txt", []byte("x"))}, "evaluator": object{"kind": "classification", "measures": []any{"Accuracy"}},
		"columns": []any{object{"key": "Accuracy", "title": "Accuracy", "decimals": 2, "lowerIsBetter": false, "group": "all"}},
	}
	task := object{"name": "Fuzz", "description": "x", "registration": object{"mode": "open"}, "submissions": object{
		"perDay": 5, "types": []any{"upload"}}}
	rounds := pick(s.profile, 30, 150)
	for range rounds {
		for _, valid := range []struct {
			method, path string
			body         object
		}{
			{http.MethodPost, "/v1/tools/evaluator", object{"runs": []any{run}, "truth": truth, "measures": []any{"AP"}}},
			{http.MethodPost, "/v1/tools/diffir", object{"runs": []any{run, run}, "texts": object{"files": []any{file}}}},
			{http.MethodPost, "/v1/tools/fusion", object{"runs": []any{run, run}, "method": "combsum", "depth": 10}},
			{http.MethodPost, "/v1/datasets", dataset},
			{http.MethodPost, s.task + "/submissions", object{"type": "upload", "files": []any{inline("run.txt", []byte("x"))}}},
			{http.MethodPatch, s.ownTask, task},
		} {
			q := request{from: s.attacker, method: valid.method, path: valid.path, media: jsonMedia, body: encode(mutated(s.random, valid.body, 20))}
			if valid.method == http.MethodPatch {
				q.media = mergePatch
			}
			if s.random.IntN(10) == 0 {
				q.body = corrupt(s.random, q.body)
			}
			out = append(out, q)
		}
	}
	return out
}

func paths(s *server) (out []request) {
	for _, p := range []string{
		"/files/../table.db", "/files/%2e%2e/table.db", "/files/..%2f..%2ftable.db", "/files//etc/passwd", "/files/" + repeat("a/", 8<<10),
		"/files/%00",
		"//v1/tasks", "/v1/../v1/tasks", "/v1/tasks/%2e%2e", s.task + "/", s.task + "/submissions/..", "/v1/tasks/" + repeat("0", 8<<10),
		"/v1/runs/" + path.Base(s.task), "/v1/runs/%F0%9F%92%A9", "/dev/../v1/user", "/dev/token/..", "/.git/config", "/debug/pprof/heap",
		"/metrics",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, "TRACE", "PROPFIND"} {
			out = append(out, request{from: s.attacker, method: method, path: p})
		}
	}
	return out
}

// packed returns an inline file, compressed with gzip.
func packed(name string, content []byte) object {
	return inline(name, compressed(func(w io.Writer) { _, _ = w.Write(content) }))
}

func runs(files ...object) []object {
	var out []object
	for _, f := range files {
		out = append(out, object{"files": []object{f}})
	}
	return out
}

// bombsToTools sends small files to tools that unpack to large files.
func bombsToTools(s *server) (out []request) {
	bombs := []object{
		{"name": "run.txt", "content": zeros()},
		inline("run.txt", bomb("1 Q0 d1 1 2.5 a\n", 512<<20)),
		inline("run.txt.gz", bomb("x", 512<<20)),
		packed("nested.gz", bomb("\x00", 1<<30)),
		inline("run.jsonl", bomb(`{"id":"1","label":"a"}`+"\n", 512<<20)),
		inline("run.csv", bomb(`"`, 512<<20)),
		inline("archive.tar", append([]byte("run.txt"), make([]byte, 1<<20)...)),
		inline("archive.zip", append([]byte("PK\x03\x04"), make([]byte, 1<<20)...)),
		inline("truncated.gz", bomb("1 Q0 d1 1 2.5 a\n", 8<<20)[:4<<10]),
	}
	for n, b := range bombs {
		small := object{"name": "other.txt", "text": "1 Q0 d1 1 2.5 a\n"}
		truth := object{"files": []object{{"name": "qrels", "text": "1 0 d1 1\n"}}}
		all := []request{
			post(s.newUser(), "/v1/tools/validator", encode(object{"run": object{"files": []object{b}}})),
			post(s.newUser(), "/v1/tools/evaluator", encode(object{"runs": runs(b), "truth": truth, "measures": []string{"AP"}})),
			post(s.newUser(), "/v1/tools/fusion", encode(object{"runs": runs(b, small)})),
			post(s.newUser(), "/v1/tools/diffir", encode(object{"runs": runs(b, small), "texts": object{"files": []object{b}}})),
			post(s.newUser(), "/v1/tools/evaluator",
				encode(object{"runs": runs(small), "truth": object{"files": []object{b}}, "measures": []string{"AP"}})),
		}
		if !s.profile.full {
			if n%2 == 1 {
				continue
			}
			all = all[n%len(all):][:1]
		}
		out = append(out, all...)
	}
	return out
}

// bombsAsRuns submits such files to a task.
func bombsAsRuns(s *server) (out []request) {
	for _, b := range []object{
		{"name": "run.txt", "content": zeros()}, inline("run.txt", bomb("1 Q0 d1 1 2.5 a\n", 512<<20)), packed("run.gz", bomb("\x00", 1<<30)),
		inline("run.txt", bomb("1 Q0 d1 1 2.5 "+repeat("a", 64<<10), 512<<20)),
	} {
		b["datasetId"] = path.Base(s.dataset)
		out = append(out, post(s.participant, s.task+"/submissions", encode(object{"type": "upload", "files": []object{b}, "again": true})))
	}
	return out
}

// hostileFiles sends hostile texts in every format that the server reads.
func hostileFiles(s *server) (out []request) {
	const size = 3 << 20
	var wide strings.Builder
	for range 64 << 10 {
		wide.WriteString(`"a",`)
	}
	for name, text := range map[string]string{
		"one-line.jsonl": `{"id":"` + repeat("x", size) + `"}`, "deep.jsonl": `{"id":` + repeat("[", size/2) + repeat("]", size/2) + "}",
		"columns.csv": wide.String() + "\n" + wide.String(), "quote.csv": "id,label\n\"" + repeat("x\n", size), "quotes.csv": "id,label\n" +
			repeat(`"""",""""`+"\n", size),
		"many.jsonl": repeat("{}\n", size), "lines.txt": repeat("\n", size), "returns.txt": repeat("\r", size), "blanks.txt": repeat(" ", size),
		"fields.txt": repeat("1 ", size), "same.txt": repeat("1 Q0 d 1 1 a\n", size), "scores.txt": repeat("1 Q0 d 1 1e999 a\n", size),
		"number.txt": "1 Q0 d 1 " + repeat("9", size) + " a\n", "unicode.txt": repeat("\u202e Q0 \u0600 1 1 a\n", size),
	} {
		format := object{"kind": "trec-run"}
		if kind := name[strings.LastIndexByte(name, '.')+1:]; kind != "txt" {
			format = object{"kind": kind, "idField": "id", "valueField": "label"}
		}
		f := packed(name, []byte(text))
		out = append(out,
			post(s.newUser(), "/v1/tools/validator", encode(object{"run": object{"files": []object{f}}, "format": format})),
			post(s.attacker, "/v1/tools/converter", encode(object{"run": object{"files": []object{f}}, "to": "jsonl"})),
		)
	}
	return out
}

// renderings requests pages and charts from tools, with markup as names.
func renderings(s *server) (out []request) {
	for _, name := range []string{
		`<svg onload=alert(1)>` + repeat("<g>", 64<<10), `<script>alert(1)</script>`, "[a](javascript:alert(1))", repeat("\u0301", 90),
		"]]><!DOCTYPE a [<!ENTITY b '&c;'>]>&b;",
	} {
		one := packed("run.txt", runFile("a", 20))
		other := packed("run.txt", runFile("b", 10))
		sent := object{"runs": []object{{"name": name, "files": []object{one}}, {"name": name + "2", "files": []object{other}}}}
		plain := encode(sent)
		sent["truth"] = object{"files": []object{inline("qrels", qrels(50, 10))}}
		sent["measure"] = "AP"
		judged := encode(sent)
		for _, rendering := range []struct {
			tool, media string
			body        []byte
		}{
			{"diffir", "text/html", plain}, {"topics", "text/html", judged}, {"topics", "image/svg+xml", judged},
			{"significance", "text/html", judged},
			{"fusion", "text/plain", plain},
		} {
			q := post(s.newUser(), "/v1/tools/"+rendering.tool, rendering.body)
			q.header = map[string]string{"Accept": rendering.media}
			out = append(out, q)
		}
	}
	return out
}

// heavyTool returns the body of an expensive call of a tool: two runs of hundreds of thousands of lines and many measures.
func heavyTool() []byte {
	var measures []string
	for k := range 5 {
		measures = append(measures, "nDCG@"+strings.Repeat("1", k+1), "P@"+strings.Repeat("2", k+1))
	}
	file := inline("run.txt", bigRun(100_000))
	truth := object{"files": []object{packed("qrels", qrels(300, 1000))}}
	return encode(object{"runs": runs(file, file), "truth": truth, "measures": measures})
}

// toolTime bounds the time of a user's small call of a tool during expensive calls of anonymous callers.
const toolTime = 5 * time.Second

// toolFlood makes twenty anonymous callers compute while a user validates a small run.
func toolFlood(ctx context.Context, s *server, res *results) {
	body := heavyTool()
	var callers sync.WaitGroup
	var ended atomic.Bool
	sc := scenario{allow: accepted, maxAnswer: pageBytes}
	for range 20 {
		from := s.newUser()
		callers.Go(func() {
			for !ended.Load() {
				res.exchange(ctx, s, &sc, post(from, "/v1/tools/evaluator", body))
			}
		})
	}
	small := post(s.participant, "/v1/tools/validator",
		encode(object{"run": object{"files": []object{{"name": "run.txt", "text": "1 Q0 d1 1 2.5 a\n"}}}}))
	for end := time.Now().Add(s.profile.flood); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		began := time.Now()
		status, _, _, err := s.send(ctx, small, io.Discard)
		if took := time.Since(began); err != nil || status != http.StatusOK || took > toolTime {
			res.fault("a small call of a user had status %d, %v after %v", status, err, took)
		}
	}
	ended.Store(true)
	callers.Wait()
}
