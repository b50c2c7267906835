package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// TestEvaluate_WarnsOfUnjudgedDocuments uses a topic with ten judged documents. The first ten documents of the run have different numbers
// of them.
func TestEvaluate_WarnsOfUnjudgedDocuments(t *testing.T) {
	var truth, run strings.Builder
	for i := range 10 {
		fmt.Fprintf(&truth, "t 0 d%d %d\n", i, i%2)
	}
	truth.WriteString("few 0 d0 1\n") // topics with fewer judged documents have no part in it
	for judged := range 11 {
		run.Reset()
		for i := range 12 {
			doc := "d"
			if i >= judged {
				doc = "x"
			}
			fmt.Fprintf(&run, "t Q0 %s%d 1 %d x\nfew Q0 x%d 1 %d x\n", doc, i, 20-i, i, 20-i)
		}
		var want []string
		switch {
		case judged == 0:
			want = []string{`r warning: no document of the run is judged for its topic, so nothing that it retrieves counts as relevant: "x0", "x0", "x1", "x1", "x2" and 19 more; check the third field of the lines; the truth judges, for example, "d0" for topic "few"`}
		case judged < 5:
			want = []string{fmt.Sprintf("r warning: of the first 10 documents of the topics with at least as many judged ones, %d of 10 are "+
				"judged (%d0 %%); the others count as not relevant…", judged, judged)}
		}
		_, diagnostics, err := readTruth(t, measuretest.File("q", truth.String())).Evaluate(t.Context(),
			measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", run.String()))
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, diagnostics, want...)
	}
}

// TestRead_ExplainsDocumentsInOtherUnicodeForms evaluates and compares ids that look like others.
func TestRead_ExplainsDocumentsInOtherUnicodeForms(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	const cause = `; the likely cause: "` + decomposed + `" differs from "` + composed + `" only in the Unicode form of its characters, and both are ` +
		`compared byte by byte: write it in the form NFC, as unicodedata.normalize("NFC", ...) of Python does`
	q, _, err := ReadQrels(t.Context(), measuretest.File("q", "t 0 a 1\nt 0 "+composed+" 1\nu 0 x 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	run := "t Q0 a 1 3 x\nt Q0 " + decomposed + " 2 2 x\nu Q0 " + decomposed + " 1 1 x\nv Q0 " + decomposed + " 1 1 x\nu Q0 x 2 0.5 x\n"
	e, err := q.Read(t.Context(), measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", run))
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, e.Diagnostics, `r warning: topics that are not in the truth and do not count: 1 of 3 topics of the run: "v"`,
		"r warning: documents of the run that are judged under an id of other characters that look alike: 1; they count as not relevant"+cause)
	known := KnownOf([]string{"t", "u", "v"}, func(id []byte) bool { return slices.Contains([]string{"a", "x", composed}, string(id)) })
	found, err := known.Compare(t.Context(), measuretest.File("r", run))
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found, `r warning: documents that are not in the inputs of the dataset: 3 of 5 documents that the run has over all topics: `+
		`"`+decomposed+`", "`+decomposed+`", "`+decomposed+`"`+cause)
}

// TestEvaluate_ExplainsPassages evaluates passages of judged documents. Most documents of runs are not judged.
func TestEvaluate_ExplainsPassages(t *testing.T) {
	truth := readTruth(t, measuretest.File("q", "t 0 a 1\nu 0 b 1\n"))
	for run, want := range map[string]string{
		"t Q0 x.p2 1 9 x\nt Q0 a.p0 2 8 x\nu Q0 y.p1 1 9 x\n": `; the likely cause: "a.p0" is "a" of the truth with ".p0" after it: leave that out ` +
			"of each id",
		"t Q0 x.p2 1 9 x\nt Q0 b 2 8 x\nu Q0 y.p1 1 9 x\n": `; the truth judges, for example, "a" for topic "t"`,
	} {
		_, diagnostics, err := truth.Evaluate(t.Context(), measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", run))
		if err != nil || len(diagnostics) != 1 || !strings.HasSuffix(diagnostics[0].Message, "; check the third field of the lines"+want) {
			t.Errorf("%v, %v; want %s", diagnostics, err, want)
		}
	}
}
