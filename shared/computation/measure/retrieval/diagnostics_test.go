package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

func TestReadQrels_ReportsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty": {"", []string{"q error: the file is empty or has no judgments; each line needs topic, iteration, document and grade…"}},
		"blank": {"\n \n", []string{"q error: the file is empty or has no judgments…"}},
		"too few": {"t 0 a\n\nt 0\n", []string{"q:1 error: the line has only 3 of 4 fields: topic, iteration, document and grade…",
			"q:3 error: the line has only 2 of 4 fields…"}},
		"too many": {"t 0 a 1 x\nt Q0 a 1 2.5 x\n", []string{"q:1 error: the line has more than 4 fields: topic, iteration, document and grade…",
			"q:2 error: the line has more than 4 fields: topic, iteration, document and grade; it looks like one of a run…"}},
		"fraction": {"t 0 a 1.5\n", []string{`q:1 error: the grade "1.5" is not a whole number from -32767 to 32767…`}},
		"only comments": {"# 0 a 1\n#t 0 a 1\n", []string{
			"q error: the file is empty or has no judgments…",
			`q:2 warning: the line begins with # and is a comment, as in trec_eval 10, though it has the fields of a line; if "#t" is a topic…`}},
		"text":      {"t 0 a 2x\nt 0 b high\n", []string{`q:1 error: the grade "2x"…`, `q:2 error: the grade "high"…`}},
		"too great": {"t 0 a 32768\nt 0 b -32768\n", []string{`q:1 error: the grade "32768"…`, `q:2 error: the grade "-32768"…`}},
		"twice": {"t 0 a 1\nu 0 a 1\nt 0 a 1\nt 0 a 2\n", []string{
			`q:3 error: topic "t" has document "a" already, in line 1; keep one of them, or choose the kind diversity if the second field is ` +
				"a subtopic (lines 3 and 4)"}},
		"documents second": {"t a 0 1\nt b 0 1\n", []string{`q:2 error: topic "t" has document "0" already, in line 1; keep one of them, or ` +
			"exchange the second field and the third one if the second one has the documents"}},
		"names of fields": {"topic iteration document score\n", []string{
			`q:1 error: the grade "score" is not a whole number from -32767 to 32767; the line seems to name the fields: leave it out`}},
		"names of BEIR": {"query-id\tcorpus-id\tscore\nt\ta\t1\n", []string{
			"q:1 error: the line has only 3 of 4 fields: topic, iteration, document and grade; the line seems to name the fields: leave it out",
			"q:2 error: the line has only 3 of 4 fields: topic, iteration, document and grade; the iteration seems to be missing: write 0 …"}},
		"quotes":          {"t 0 \"a\" 1\n", []string{"q:1 error: fields of the line stand in quotes…"}},
		"a quoted header": {"\"topic\" \"iter\" \"docno\" \"rel\"\n", []string{"q:1 error: fields of the line stand in quotes…"}},
		"zero byte":       {"t 0 a 1\nt 0 b\x00 1\n", []string{"q:2 error: the line has a zero byte…"}},
		"zip": {"PK\x03\x04", []string{
			"q error: the file is a zip archive, or a spreadsheet such as .xlsx; send it as plain UTF-8 text, or that text compressed with gzip…"}},
		"faults mixed": {"t 0 a 1\nt 0 b\nt 0 a 1\n", []string{
			"q:2 error: the line has only 3 of 4 fields…", `q:3 error: topic "t" has document "a" already…`}},
	} {
		t.Run(name, func(t *testing.T) {
			q, diagnostics, err := ReadQrels(t.Context(), measuretest.File("q", c.text))
			if q != nil || err != nil {
				t.Errorf("got %v, %v", q, err)
			}
			measuretest.Expect(t, diagnostics, c.want...)
		})
	}
	q, diagnostics, err := ReadQrels(t.Context())
	if q != nil || err != nil || len(diagnostics) != 1 {
		t.Errorf("no file at all: %v, %v, %v", q, diagnostics, err)
	}
	_, diagnostics, _ = ReadQrels(t.Context(), measuretest.File("q1", "t 0 a 1\n"), measuretest.File("q2", "u 0 a 1\nt 0 a 1\n"),
		measuretest.File("q3", ""))
	measuretest.Expect(t, diagnostics, `q2:2 error: topic "t" has document "a" already, in line 1 of q1; keep one of them…`,
		"q3 error: the file is empty or has no judgments…")
}

func TestEvaluate_ReportsFaults(t *testing.T) {
	const truth = "t 0 a 1\nu 0 a 1\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"empty": {"", []string{
			"r error: the file is empty or has no lines; each line needs topic, Q0, document, rank, score and tag…"}},
		"blank": {"\n\r\n", []string{"r error: the file is empty or has no lines…"}},
		"too few": {"t Q0 a 1 1 x\nt Q0 b 2 1\nt\n", []string{
			"r:2 error: the line has only 5 of 6 fields: topic, Q0, document, rank, score and tag…", "r:3 error: the line has only 1 of 6 fields…"}},
		"topics and documents in CSV": {"topic,document\nt,a\nt,b\n", []string{"r:1 error: the line has only 1 of 6 fields: topic, Q0, " +
			"document, rank, score and tag, with spaces or tabs between them, and neither commas nor semicolons (lines 1 to 3)"}},
		"text as score": {"t Q0 a 1 abc x\nt Q0 b 2 1x x\nt Q0 c 3 1,5 x\n", []string{
			`r:1 error: the score "abc" is not a number; the fifth field is the score…`, `r:2 error: the score "1x"…`,
			`r:3 error: the score "1,5"…`}},
		"not finite": {"t Q0 a 1 NaN x\nt Q0 b 2 -inf x\nt Q0 c 3 1e999 x\n", []string{
			`r:1 error: the score "NaN" is not a finite number…`, `r:2 error: the score "-inf" is not a finite…`,
			`r:3 error: the score "1e999" is not a finite…`}},
		"hexadecimal": {"t Q0 a 1 0x1p-2 x\n", []string{
			`r:1 error: the score "0x1p-2" is not a decimal number; write it like 12.5 or 1.25e1…`}},
		"twice": {"t Q0 a 1 9 x\nu Q0 a 1 9 x\n\nt Q0 a 2 8 x\nt Q0 a 3 7 x\n", []string{
			`r:4 error: topic "t" has document "a" already, in line 1; keep one of them (lines 4 and 5)`}},
		"runs joined": {"t Q0 a 1 9 x\nu Q0 a 1 9 x\nt Q0 a 1 9 y\nu Q0 a 1 9 y\n", []string{
			`r:3 error: topic "t" has document "a" already, in line 1; keep one of them; the likely cause: several runs were joined, since the ` +
				`lines have different tags in the last field ("x", "y"): give each run on its own`,
			`r:4 error: topic "u" has document "a" already, in line 2; keep one of them`}},
		"written twice": {"t Q0 a 1 9 x\nu Q0 a 1 9 x\nt Q0 a 1 9 x\nu Q0 a 1 9 x\n", []string{
			`r:3 error: topic "t" has document "a" already, in line 1; keep one of them; the likely cause: several runs were joined, or one was ` +
				`written twice, since most topics begin again from line 3 on: give one run only`,
			`r:4 error: topic "u" has document "a" already, in line 2; keep one of them`}},
		"ids with a space": {"t Q0 an a 1 9 x\nt Q0 an b 2 8 x\nu Q0 an a 1 9 x\n", []string{
			`r:1 error: the id of the document seems to have a space in it ("an a"): ids have none, so replace it wherever the id stands (lines 1 and 3)`,
			`r:2 error: the id of the document seems to have a space in it ("an b")…`}},
		"numbers after a space": {"t Q0 a 1 1 9 x\nt Q0 a 2 2 8 x\nu Q0 a 1 1 9 x\n", []string{
			"r:1 warning: the line has more than six fields…", "r:2 warning: rank…",
			`r:2 error: topic "t" has document "a" already, in line 1; keep one of them`}},
		"exchanged fields": {"t a Q0 1 9 x\nu b Q0 1 9 x\n", []string{
			"r:1 error: the second field and the third one seem to be exchanged: write Q0 before the document (lines 1 and 2)"}},
		"several tags": {"t Q0 a 1 9 x\nt Q0 b 1 8 y\nu Q0 a 1 9 x\n", nil},
		"twice outside": {"t Q0 a 1 9 x\nu Q0 a 1 9 x\nv Q0 a 2 8 x\nv Q0 a 2 8 x\n", []string{
			"r warning: topics that are not in the truth and do not count: 1 of 3 topics of the run…",
			`r:4 error: topic "v" has document "a" already, in line 3…`}},
		"no overlap": {"v Q0 a 1 9 x\nw Q0 a 1 9 x\n", []string{
			`r error: none of the topics of the run ("v", "w") is among the 2 of the truth; check the first field of the lines…`,
			`r error: the topics of the truth are "t", "u"…`}},
		"missing": {"u Q0 a 1 9 x\n", []string{
			`r warning: topics missing from the run, which count with nothing retrieved: 1 of 2 topics of the truth: "t"…`}},
		"unknown": {"t Q0 a 1 1 x\nu Q0 a 1 1 x\n7 Q0 a 1 1 x\n6 Q0 a 1 1 x\n5 Q0 a 1 1 x\n4 Q0 a 1 1 x\n3 Q0 a 1 1 x\n2 Q0 a 1 1 x\n",
			[]string{`r warning: topics that are not in the truth and do not count: 6 of 8 topics of the run: "2", "3", "4", "5", "6" and 1 more…`}},
		"more fields": {"t Q0 a 1 1 x\nu Q0 a 1 1 x y\nu Q0 b 1 1 x y z\n", []string{
			"r:2 warning: the line has more than six fields; what follows the sixth is ignored…"}},
		"upside down": {"t Q0 a 1 1 x\nt Q0 b 2 7 x\nu Q0 a 1 1 x\nu Q0 b 2 7 x\n", []string{
			"r:2 warning: rank and score contradict those of the line before; documents are ranked only by score…"}},
		"missing, unknown": {"u Q0 a 1 9 x\nw Q0 a 1 9 x\n", []string{
			"r warning: topics missing from the run, which count with nothing retrieved: 1 of 2 topics of the truth…",
			`r warning: topics that are not in the truth and do not count: 1 of 2 topics of the run: "w"`}},
		"ranks that fall":    {"t Q0 a 3 7 x\nt Q0 b 2 1 x\nu Q0 a 1 1 x\n", []string{"r:2 warning: rank and score contradict…"}},
		"ranks of one digit": {"t Q0 a 10 7 x\nt Q0 b 9 1 x\nu Q0 a 1 1 x\n", []string{"r:2 warning: rank and score contradict…"}},
		"any order":          {"t Q0 b 2 1 x\nt Q0 a 1 7 x\nu Q0 a 1 1 x\nu Q0 b 1 7 x\n", nil},
		"ties":               {"t Q0 a 1 7 x\nt Q0 b 2 7 x\nu Q0 a 1 1 x\n", nil},
		"all tied": {"t Q0 a 1 7 x\nt Q0 b 2 7 x\nt Q0 c 3 7 x\nt Q0 d 4 7 x\nu Q0 a 1 1 x\n", []string{
			"r warning: most scores are equal: 3 of 3 documents have the score of the document before them…"}},
		"half tied": {"t Q0 a 1 7 x\nt Q0 b 2 7 x\nt Q0 c 3 7 x\nt Q0 d 4 7 x\nt Q0 e 5 6 x\nt Q0 f 6 5 x\nt Q0 g 7 4 x\nu Q0 a 1 1 x\n", nil},
		"ascending": {"t Q0 a 0 1 x\nt Q0 b 0 2 x\nt Q0 c 0 3 x\nt Q0 d 0 4 x\nu Q0 a 1 1 x\n", []string{
			"r warning: the scores ascend: 3 of 3 documents have a higher score than the document before them…"}},
		"last line first": {"t Q0 d 4 1 x\nt Q0 c 3 2 x\nt Q0 b 2 3 x\nt Q0 a 1 4 x\nu Q0 a 1 1 x\n", nil},
		"one rank":        {"t Q0 a 0 7 x\nt Q0 b 0 6 x\nt Q0 c 0 8 x\nu Q0 a 1 1 x\n", nil},
		"other topics":    {"u Q0 a 1 1 x\nt Q0 b 2 7 x\n", nil},
		"no ranks":        {"t Q0 a - 1 x\nt Q0 b 2 7 x\nu Q0 a 1 1 x\nu Q0 b nan 7 x\n", nil},
		"ranks further down": {"t Q0 a 1 7 x\nt Q0 b 2 7 x\nt Q0 c 3.0 6 x\nt Q0 d 4.0 9 x\nu Q0 a 1 1 x\n", []string{
			"r:4 warning: rank and score contradict those of the line before…"}},
		"shuffled": {"t Q0 c 3 1 x\nt Q0 a 1 3 x\nt Q0 b 2 2 x\nu Q0 a 1 1 x\n", nil},
		"comments": {"# a comment\n#\n  # t Q0\nt Q0 a 1 7 x\n# Q0 b 2 6 x\nu Q0 a 1 1 x\n", nil},
		"hash topics": {"t Q0 a 1 7 x\nu Q0 a 1 1 x\n#3 Q0 a 1 1 x\n#4 Q0 a 1 1 x\n", []string{
			`r:3 warning: the line begins with # and is a comment, as in trec_eval 10, though it has the fields of a line; if "#3" is a topic…`}},
		"quotes":    {"t Q0 \"a\" 1 9 x\nu \"Q0\" \"b\" 1 9 x\n", []string{"r:1 error: fields of the line stand in quotes…"}},
		"index":     {"0 t Q0 a 1 9 x\n1 t Q0 b 2 8 x\n", []string{"r:1 error: a field too many seems to stand before the topic…"}},
		"zero byte": {"t Q0 a\x00 1 1 x\n", []string{"r:1 error: the line has a zero byte…"}},
		"faults mixed": {"t Q0 a 1 1 x\nu Q0 a 1 x x y\nt Q0 a 1 1 x y\n", []string{
			`r:2 error: the score "x"…`, "r:3 warning: the line has more than six fields…",
			`r:3 error: topic "t" has document "a" already, in line 1…`}},
		"long topic": {strings.Repeat("ü", 100) + "a Q0 a 1 1 x\n", []string{
			`r error: none of the topics of the run ("` + strings.Repeat("ü", 30) + `"...) is…`, "r error: the topics of the truth are…"}},
		"bzip2": {"BZh91AY&SY", []string{"r error: the file is compressed with bzip2…"}},
	} {
		t.Run(name, func(t *testing.T) {
			result, diagnostics, err := readTruth(t, measuretest.File("q", truth)).Evaluate(t.Context(),
				measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", c.text))
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, diagnostics, c.want...)
			failed := measure.HasErrors(diagnostics)
			if failed != (result.Measures == nil) {
				t.Errorf("failed: %v, measures %v", failed, result.Measures)
			}
			if !failed && !slices.Equal(result.Warnings, diagnostics) {
				t.Errorf("warnings %v", result.Warnings)
			}
			// Without the truth, all diagnostics are reported except those about its topics.
			rankings, alone, err := ReadRankings(t.Context(), measuretest.File("r", c.text))
			want := slices.DeleteFunc(slices.Clone(diagnostics), func(d measure.Diagnostic) bool { return strings.Contains(d.Message, "truth") })
			if err != nil || !slices.Equal(measuretest.Lines(alone), measuretest.Lines(want)) {
				t.Errorf("without the truth: %v, %v", alone, err)
			}
			if (rankings == nil) != measure.HasErrors(alone) {
				t.Errorf("rankings %v with %v", rankings, alone)
			}
		})
	}
}

// TestEvaluate_NamesTheFileWithExchangedColumns evaluates a run with a truth whose first field has the documents, and the opposite.
func TestEvaluate_NamesTheFileWithExchangedColumns(t *testing.T) {
	const (
		ofTruth = "; the likely cause: the first field of the truth has documents and the third one topics, so exchange them there, and not " +
			"in the run"
		ofRun  = "; the likely cause: the first field of the run has documents and the third one topics, so exchange them"
		either = "; the likely cause: in the run or in the truth, the first field has documents and the third one topics, so exchange them " +
			"where that is so"
	)
	for _, c := range []struct{ truth, run, want string }{
		{"a 0 t 1\nb 0 t 1\nc 0 t 1\nd 0 t 1\n", "t Q0 a 1 1 x\n", ofTruth},
		{"a 0 t 1\nb 0 t 0\nc 0 u 1\n", "t Q0 a 1 2 x\nt Q0 b 2 1 x\nu Q0 c 1 1 x\n", ofTruth},
		{"a 0 t 1\nb 0 u 1\nc 0 v 1\n", "t Q0 a 1 2 x\nt Q0 b 2 1 x\nu Q0 a 1 1 x\n", ofTruth},
		{"a 0 t 1\nb 0 u 1\nc 0 t 1\n", "t Q0 a 1 2 x\nu Q0 b 1 1 x\n", ofTruth},
		{"t 0 a 1\nt 0 b 1\n", "a Q0 t 1 1 x\nb Q0 t 1 1 x\n", ofRun},
		{"t 0 a 1\nt 0 b 1\n", "a Q0 t 1 1 x\n", ofRun},
		{"t 0 a 1\nu 0 b 1\n", "a Q0 t 1 1 x\nb Q0 u 1 1 x\n", either},
	} {
		_, diagnostics, err := readTruth(t, measuretest.File("q", c.truth)).Evaluate(t.Context(),
			measuretest.Parse(t, measure.Retrieval, "AP"), measuretest.File("r", c.run))
		if err != nil || len(diagnostics) == 0 || !strings.HasSuffix(diagnostics[0].Message, c.want) {
			t.Errorf("%v, %v; want %s", diagnostics, err, c.want)
		}
	}
}

func TestEvaluate_ReportsFaultsOfSeveralFiles(t *testing.T) {
	truth := readTruth(t, measuretest.File("q", "t 0 a 1\n"))
	_, diagnostics, err := truth.Evaluate(t.Context(), nil, measuretest.File("r1", "t Q0 a 1 1 x\nt Q0 b 1 x x\n"),
		measuretest.File("r2", "\nt Q0 b 1 1\nt Q0 a 1 1 x\n"), measuretest.File("r3", ""))
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, diagnostics, `r1:2 error: the score "x"…`, "r2:2 error: the line has only 5 of 6 fields…",
		`r2:3 error: topic "t" has document "a" already, in line 1 of r1; keep one of them…`, "r3 error: the file is empty or has no lines…")
	_, diagnostics, err = truth.Evaluate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, diagnostics, " error: there is no file of the run…")
}

// expectAlways validates a run several times, because its chunks are parsed concurrently.
func expectAlways(t *testing.T, run string, want ...string) {
	t.Helper()
	for range 5 {
		_, diagnostics, err := ReadRankings(t.Context(), measuretest.File("r", run))
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, diagnostics, want...)
	}
}

// TestReadRankings_CountsEqualFaults spreads a fault over many chunks.
func TestReadRankings_CountsEqualFaults(t *testing.T) {
	var text strings.Builder
	for i := range 60_000 {
		if i%500 == 7 {
			text.WriteString("t Q0 broken\n")
			continue
		}
		fmt.Fprintf(&text, "t Q0 document-%d 1 %d x\n", i, -i)
	}
	expectAlways(t, text.String(), "r:8 error: the line has only 3 of 6 fields: topic, Q0, document, rank, score and tag "+
		"(lines 8, 508, 1008 and 117 more up to 59508)")
}

func TestReadRankings_WarnsOfTheFirstLongLine(t *testing.T) {
	text := strings.Repeat("a", 1000) + " Q0 %d %[1]d -%[1]d x%[2]s\n"
	var run strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&run, text, i, strings.Repeat(" more", i/300))
	}
	expectAlways(t, run.String(), "r:301 warning: the line has more than six fields…")
}

// TestReadRankings_OrdersFaultsOfLines reads lines whose faults the parsers find, and then an overlong line, which the reader finds.
func TestReadRankings_OrdersFaultsOfLines(t *testing.T) {
	expectAlways(t, strings.Repeat("broken\n", 150)+strings.Repeat("x", 1<<20)+"\n",
		"r:1 error: the line has only 1 of 6 fields: topic, Q0, document, rank, score and tag (lines 1 to 150)",
		"r:151 error: the line is longer than…")
}

// TestReadRankings_CountsRepeats spreads repeated documents over several topics, and expects the first ones and the number of all.
func TestReadRankings_CountsRepeats(t *testing.T) {
	var text strings.Builder
	const topics, docs = 40, 400
	for round := range 2 {
		for topic := range topics {
			for doc := range docs {
				fmt.Fprintf(&text, "topic%d Q0 document%d 1 -%d x\n", topic, doc/(round+1)*(round+1)+round*(doc&1)*docs, doc)
			}
		}
	}
	// In the second round every other document (the even ones) is a repetition.
	var want []string
	for doc := 0; doc < 22; doc += 2 {
		want = append(want, fmt.Sprintf(`r:%d error: topic "topic0" has document "document%d" already, in line %d; keep one of them`,
			topics*docs+doc+1, doc, doc+1))
	}
	want[0] += "; the likely cause: several runs were joined, or one was written twice, since most topics begin again from line 16001 on: " +
		"give one run only"
	want[10] += "; the other lines have the same kind of fault with other values (lines 16021, 16023, 16025 and 7987 more up to 31999)"
	expectAlways(t, text.String(), want...)
}

func TestReadRun_IsBounded(t *testing.T) {
	var none Qrels
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "topic%d Q0 document 1 1 x\n", i)
	}
	for _, c := range []struct {
		limits limits
		want   []string
	}{
		{limits{topics: 20_000, lines: 20_000}, nil},
		{limits{topics: 19_999, lines: 20_000}, []string{"r error: more than 19999 topics of the run are not in the truth…"}},
		{limits{topics: 20_000, lines: 5_000}, []string{"r error: the run has more than 5000 lines; leave out low ranks…"}},
	} {
		_, report, err := readRun(t.Context(), &none, c.limits, []measure.File{measuretest.File("r", text.String())})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, report.Diagnostics(), c.want...)
	}
}

// The first file is so large that its parsers exceed the limit before its end, however many there are.
func TestReadRun_ReportsNothingOfFilesAfterTheLimit(t *testing.T) {
	const lines = 1000
	var first strings.Builder
	for n := 0; first.Len() < (2*runtime.GOMAXPROCS(0)+4)<<17; n++ {
		fmt.Fprintf(&first, "topic Q0 document %d -%[1]d x\n", n)
	}
	files := []measure.File{measuretest.File("first", first.String()), measuretest.File("second", "topic Q0 other 1 1 x\n")}
	_, report, err := readRun(t.Context(), new(Qrels), limits{topics: 10, lines: lines}, files)
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, report.Diagnostics(), "first error: the run has more than 1000 lines; leave out low ranks…")
}

func TestEvaluate_ReturnsErrorsOfFiles(t *testing.T) {
	broken := errors.New("connection lost")
	failing := func(text string) measure.File {
		return measure.File{Name: "f", Content: io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))}
	}
	if _, _, err := ReadQrels(t.Context(), failing("t 0 a 1\n")); !errors.Is(err, broken) {
		t.Errorf("ReadQrels: %v", err)
	}
	truth := readTruth(t, measuretest.File("q", "t 0 a 1\n"))
	if _, _, err := truth.Evaluate(t.Context(), nil, measuretest.File("r", "t Q0 a 1 1 x\n"),
		failing("t Q0 b 1 1 x\n")); !errors.Is(err, broken) {
		t.Errorf("Evaluate: %v", err)
	}
	if _, _, err := ReadRankings(t.Context(), failing("")); !errors.Is(err, broken) {
		t.Errorf("ReadRankings: %v", err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ReadQrels(done, measuretest.File("q", "t 0 a 1\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadQrels: %v", err)
	}
	if _, _, err := truth.Evaluate(done, nil, measuretest.File("r", "t Q0 a 1 1 x\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
	// The reader looks at the context between chunks, so even a run without an end stops.
	during, stop := context.WithCancel(t.Context())
	endless := &measuretest.Endless{Append: func(text []byte, topic int) []byte {
		if topic == 50_000 {
			stop()
		}
		return fmt.Appendf(text, "topic%d Q0 a 1 1 x\n", topic)
	}}
	if _, _, err := truth.Evaluate(during, nil, measure.File{Name: "r", Content: endless}); !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate: %v", err)
	}
}
