package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure/measuretest"
)

func TestReadRankings_OrdersDocuments(t *testing.T) {
	r, diagnostics, err := ReadRankings(t.Context(),
		measuretest.File("r1", "t2 Q0 a 9 1 x\nt10 Q0 b 1 -2 x\nt10 Q0 a 0 3e0 x\n"),
		measuretest.File("r2", "t10 Q0 d 1 3 x more\nt10 Q0 c 1 3 x\n"))
	if err != nil || r == nil {
		t.Fatal(measuretest.Lines(diagnostics), err)
	}
	measuretest.Expect(t, diagnostics,
		"r2:1 warning: the line has more than six fields; what follows the sixth is ignored, here and in any other line…")
	if got := r.Topics(); !slices.Equal(got, []string{"t10", "t2"}) {
		t.Errorf("topics %q", got)
	}
	for topic, want := range map[string]string{"t10": "d:3 c:3 a:3 b:-2", "t2": "a:1", "t": ""} {
		var got []string
		for doc, score := range r.Ranking(topic) {
			got = append(got, fmt.Sprintf("%s:%v", doc, score))
		}
		if text := strings.Join(got, " "); text != want || r.Len(topic) != len(got) {
			t.Errorf("%s: %s, %d documents; want %s", topic, text, r.Len(topic), want)
		}
	}
	for doc := range r.Ranking("t10") {
		if string(doc) != "d" {
			t.Errorf("after the end of the loop comes %q", doc)
		}
		break
	}
}

func TestReadRankings_RefusesRuns(t *testing.T) {
	r, diagnostics, err := ReadRankings(t.Context(), measuretest.File("r", "t Q0 a 1 1 x\nt Q0 a 2 1 x\n"))
	if err != nil || r != nil {
		t.Errorf("got %v, %v", r, err)
	}
	measuretest.Expect(t, diagnostics, `r:2 error: topic "t" has document "a" already, in line 1; keep one of them…`)
}

func TestQrels_HaveGrades(t *testing.T) {
	q, diagnostics, err := ReadQrels(t.Context(), measuretest.File("q", "t1 0 a 2\nt1 0 b 0\nt1 0 c -2\nt2 0 a 1\n"))
	if err != nil || q == nil {
		t.Fatal(measuretest.Lines(diagnostics), err)
	}
	for of, want := range map[[2]string]string{
		{"t1", "a"}: "2", {"t1", "b"}: "0", {"t1", "c"}: "-2", {"t2", "a"}: "1",
		{"t2", "b"}: "none", {"t1", ""}: "none", {"t3", "a"}: "none", {"", "a"}: "none",
	} {
		got := "none"
		if grade := q.Grade(of[0], []byte(of[1])); grade != nil {
			got = fmt.Sprint(*grade)
		}
		if got != want {
			t.Errorf("%q has %s, want %s", of, got, want)
		}
	}
}
