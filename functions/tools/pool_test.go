package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/tools"
	"assay/functions/tools/pooling"
	"assay/shared/domain/record"
)

// TestPool_HasTheFirstDocuments pools a b c and b d a to depth 2, ordered by score and not by rank, and a topic that only one run
// has.
func TestPool_HasTheFirstDocuments(t *testing.T) {
	s := newToolServer(t, record.Public)
	runs := append(exampleRuns(), inlineFiles("r3", "u Q0 z 1 2 x\nu Q0 y 1 2 x\nu Q0 x 1 2 x\nt Q0 d 1 2 x\nt Q0 b 1 1 x\n"))
	for _, c := range []struct {
		input object
		want  string
	}{
		{object{"depth": 2}, "t a\nt b\nt d\nu y\nu z\n"},
		{object{"depth": 1, "format": "qrels"}, "t 0 a -1\nt 0 b -1\nt 0 d -1\nu 0 z -1\n"},
		{object{}, "t a\nt b\nt c\nt d\nu x\nu y\nu z\n"},
	} {
		c.input["runs"] = runs
		out := answer[tools.PoolOutput](s, "", "pool", c.input)
		text := s.invoke(http.StatusOK, nil, "", "pool", c.input, "Accept", "text/plain")
		if string(out.File.Content) != c.want || !bytes.Equal(text.Body, out.File.Content) {
			t.Errorf("%v has\n%s and as text\n%s, want\n%s", c.input, out.File.Content, text.Body, c.want)
		}
	}
	out := answer[tools.PoolOutput](s, "", "pool", object{"runs": runs, "depth": 2})
	got, err := json.Marshal([]any{out.Documents, out.Topics, out.Runs, out.Overlap})
	if err != nil {
		t.Fatal(err)
	}
	// The runs contribute a b, b d, and b d y z.
	want := `[5,[{"topic":"t","documents":3},{"topic":"u","documents":2}],` +
		`[{"name":"r1","documents":2,"unique":1},{"name":"r2","documents":2,"unique":0},{"name":"r3","documents":4,"unique":2}],` +
		`[[1,0.3333333333333333,0.2],[0.3333333333333333,1,0.5],[0.2,0.5,1]]]`
	if string(got) != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	for media, want := range map[string]string{"text/html": "5 documents for 2 topics, from the first 2 ranks of 3 runs.",
		"image/svg+xml": "Overlap of runs in the pool"} {
		a := s.invoke(http.StatusOK, nil, "", "pool", object{"runs": runs, "depth": 2}, "Accept", media)
		if !strings.Contains(string(a.Body), want) || !strings.HasPrefix(a.Header.Get("Content-Type"), media) {
			t.Errorf("%s lacks %q:\n%s", media, want, a.Body)
		}
	}
}

func TestPool_Refusals(t *testing.T) {
	s := newToolServer(t, record.Public)
	var topics strings.Builder
	for i := range pooling.MaxTopics + 1 {
		fmt.Fprintf(&topics, "%d Q0 a 1 1 x\n", i)
	}
	s.wantRefusals("pool", map[string]refusal{
		"fault":    {object{"runs": []object{inlineFiles("run.txt", "t Q0 a 1 high x\n")}}, "/runs/0/files/0", "line 1: the score"},
		"depth":    {object{"runs": exampleRuns(), "depth": 1001}, "/depth", ""},
		"no run":   {object{"runs": []object{}}, "/runs", ""},
		"format":   {object{"runs": exampleRuns(), "format": "trec"}, "/format", ""},
		"101 runs": {object{"runs": slices.Repeat(exampleRuns()[:1], pooling.MaxRuns+1)}, "/runs", ""},
		"topics":   {object{"runs": []object{inlineFiles("run.txt", topics.String())}}, "/runs", "more than 10000 topics"},
	})
}

func TestPool_OfStoredRuns(t *testing.T) {
	s := newToolServer(t, record.Public)
	one := s.addRun(runSpec{public: true})
	other := s.addRun(runSpec{hidden: true, content: "1 Q0 z 1 2.0 tag\n"})
	out := tools.PoolOutput{}
	s.invoke(http.StatusOK, &out, "alice", "pool", object{"runs": runRefs(one, other), "depth": 1})
	if !strings.Contains(string(out.File.Content), "1 z\n") || out.Runs[0].RunID != one.ID || out.Runs[1].Unique != 1 {
		t.Errorf("%+v, %s", out, out.File.Content)
	}
	s.invoke(http.StatusNotFound, nil, "bob", "pool", object{"runs": runRefs(one, other)})
}
