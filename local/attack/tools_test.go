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

// packed is a file that comes packed with gzip.
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

// bombsToTools are files that claim to be small.
func bombsToTools(s *site) (out []request) {
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
		if !s.form.full {
			if n%2 == 1 {
				continue
			}
			all = all[n%len(all):][:1]
		}
		out = append(out, all...)
	}
	return out
}

// bombsAsRuns submit the same to a task.
func bombsAsRuns(s *site) (out []request) {
	for _, b := range []object{
		{"name": "run.txt", "content": zeros()}, inline("run.txt", bomb("1 Q0 d1 1 2.5 a\n", 512<<20)), packed("run.gz", bomb("\x00", 1<<30)),
		inline("run.txt", bomb("1 Q0 d1 1 2.5 "+repeat("a", 64<<10), 512<<20)),
	} {
		b["datasetId"] = path.Base(s.dataset)
		out = append(out, post(s.participant, s.task+"/submissions", encode(object{"type": "upload", "files": []object{b}})))
	}
	return out
}

// hostileFiles are texts in every format that the server reads.
func hostileFiles(s *site) (out []request) {
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

// renderings ask tools for pages and charts, with names that are markup.
func renderings(s *site) (out []request) {
	for _, name := range []string{
		`<svg onload=alert(1)>` + repeat("<g>", 64<<10), `<script>alert(1)</script>`, "[a](javascript:alert(1))", repeat("\u0301", 90),
		"]]><!DOCTYPE a [<!ENTITY b '&c;'>]>&b;",
	} {
		one, other := packed("run.txt", runFile("a", 20)), packed("run.txt", runFile("b", 10))
		sent := object{"runs": []object{{"name": name, "files": []object{one}}, {"name": name + "2", "files": []object{other}}}}
		plain := encode(sent)
		sent["truth"], sent["measure"] = object{"files": []object{inline("qrels", qrels(50, 10))}}, "AP"
		judged := encode(sent)
		for _, face := range []struct {
			tool, media string
			body        []byte
		}{
			{"diffir", "text/html", plain}, {"topics", "text/html", judged}, {"topics", "image/svg+xml", judged},
			{"significance", "text/html", judged},
			{"fusion", "text/plain", plain},
		} {
			q := post(s.newUser(), "/v1/tools/"+face.tool, face.body)
			q.header = map[string]string{"Accept": face.media}
			out = append(out, q)
		}
	}
	return out
}

// heavyTool is a call that computes for long: two runs of hundreds of thousands of lines, by many measures.
func heavyTool() []byte {
	var measures []string
	for k := range 5 {
		measures = append(measures, "nDCG@"+strings.Repeat("1", k+1), "P@"+strings.Repeat("2", k+1))
	}
	file := inline("run.txt", bigRun(100_000))
	return encode(object{"runs": runs(file, file), "truth": object{"files": []object{packed("qrels", qrels(300, 1000))}}, "measures": measures})
}

// toolTime is what a small call of a tool may take for a user while anonymous callers ask for heavy ones.
const toolTime = 5 * time.Second

// toolFlood has twenty anonymous callers compute while a user validates a small run.
func toolFlood(ctx context.Context, s *site, y *tally) {
	body := heavyTool()
	var callers sync.WaitGroup
	var ended atomic.Bool
	sc := scenario{allow: accepted, most: pageBytes}
	for range 20 {
		from := s.newUser()
		callers.Go(func() {
			for !ended.Load() {
				y.exchange(ctx, s, &sc, post(from, "/v1/tools/evaluator", body))
			}
		})
	}
	small := post(s.participant, "/v1/tools/validator",
		encode(object{"run": object{"files": []object{{"name": "run.txt", "text": "1 Q0 d1 1 2.5 a\n"}}}}))
	for end := time.Now().Add(s.form.flood); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		began := time.Now()
		status, _, _, err := s.send(ctx, small, io.Discard)
		if took := time.Since(began); err != nil || status != http.StatusOK || took > toolTime {
			y.fault("a small call of a user had status %d, %v after %v", status, err, took)
		}
	}
	ended.Store(true)
	callers.Wait()
}
