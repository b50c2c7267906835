package conversion_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

func TestRuns_ReportFaults(t *testing.T) {
	const (
		runNames  = "topic, docid, rank, score, tag"
		qrelNames = "topic, iteration, docid, grade"
	)
	for name, c := range map[string]struct {
		convert converter
		from    conversion.Format
		content string
		want    []string
	}{
		"a short line": {runs, conversion.TRECRun, "1 Q0 a 1 1\n", []string{
			"f:1 error: the line has only 5 of 6 fields: topic, Q0, docid, rank, score and tag; the tag, which is the name of the run, seems to " +
				"be missing: write any word after the score"}},
		"a long line": {qrels, conversion.TRECQrels, "1 0 a 1 x\n", []string{
			"f:1 error: the line has more than 4 fields: topic, iteration, docid and grade"}},
		"quotes in TREC": {runs, conversion.TRECRun, "1 \"Q0\" \"a\" 1 2.5 \"x\"\n", []string{
			"f:1 error: fields of the line stand in quotes…"}},
		"quotes within quotes": {runs, conversion.CSV, "topic,docid,score\n1,\"\"\"a\"\"\",2.5\n", []string{
			`f:2 error: the docid "\"a\"" stands in quotes, which would be a part of it; leave them out`}},
		"an index in TREC": {runs, conversion.TRECRun, "0 1 Q0 a 1 2.5 x\n", []string{
			"f:1 error: a field too many seems to stand before the topic…"}},
		"exchanged columns": {qrels, conversion.TRECQrels, "1 0 1 a\n", []string{
			`f:1 error: the grade "a" is not a whole number from -32767 to 32767; document and grade seem to be exchanged…`}},
		"a bad value in TREC": {runs, conversion.TRECRun, "1 Q0 a 1 nan x\n", []string{`f:1 error: the score "nan" is not a finite number; write one such as 12.5, or leave the line out`}},
		"a comment like a line": {runs, conversion.TRECRun, "# a run\n1 Q0 a 1 1 x\n# 2 Q0 a 1 1 x\n#3 Q0 a 1 1 x\n#4 Q0 a 1 1 x\n", []string{
			`f:4 warning: the line begins with # and is a comment, as in trec_eval 10, though it has the fields of a line; if "#3" is a topic, change its id so that it does not begin with #, in all files`,
		}},
		"line ends of CR alone": {qrels, conversion.TRECQrels, "1 0 a 1\r1 0 b 1\r", []string{
			"f:1 error: a carriage return (CR) stands within the line; lines must not end with CR only, so save the file with LF " +
				"or CRLF at the end of each line",
		}},
		"bad values in csv": {qrels, conversion.CSV, "topic,docid,grade,iteration\n,a b,32768,\n1,a,1\n\"x\ny\",a,1,0\n1,\"a,1,0\n", []string{
			"f:2 error: the topic is empty; expected a value",
			"f:2 error: the iteration is empty; expected a value",
			`f:2 error: the docid "a b" has white space, which the formats of TREC cannot hold; replace it by another character`,
			`f:2 error: the grade "32768" is not a whole number from -32767 to 32767`,
			"f:3 error: the record has 3 fields, and the first line has 4; expected as many",
			`f:4 error: the topic "x\ny" has white space, which the formats of TREC cannot hold; replace it by another character`,
			"f:6 error: a quoted field does not end with a quote before a separator or the end of the line; close it, and write a quote within it " +
				"twice",
		}},
		"a bad first line": {runs, conversion.CSV, "topic,docno,topic,score\n1,a,1,1\n", []string{
			`f:1 error: the first line names the field "topic" twice; expected it once`,
		}},
		"a first line without names": {runs, conversion.CSV, "topic,text,tag\n1,a,1\n", []string{
			`f:1 warning: the field "text" is left out, here and in any other line, as is any other than ` + runNames,
			`f:1 error: the first line names no field "docid"; it has "topic", "text", "tag", and expected are ` + runNames +
				`, separated by commas, tabs or semicolons`,
		}},
		"a first line that is not closed": {runs, conversion.CSV, "\"topic\n", []string{
			"f:1 error: a quoted field does not end with a quote before a separator or the end of the line; close it, and write a quote within it " +
				"twice",
		}},
		"bad objects": {qrels, conversion.JSONL, "x\n[1]\n{}\n" + `{"topic":null,"docid":"a","grade":1}` + "\n" +
			`{"topic":"1","docid":"a","grade":"1"}` + "\n" +
			`{"topic":"1","topic":"2","docid":"a","grade":1}` + "\n" + `{"topic":"\ud800","docid":"a","grade":1}` + "\n" +
			`{"topic":"1","docid":"","grade":1.5}` + "\n", []string{
			"f:1 error: the line is not JSON; expected an object with topic, iteration, docid, grade",
			"f:2 error: the line is an array; expected an object with " + qrelNames +
				"; write such an object for each item, on a line of its own",
			`f:3 error: the object has no "topic"; expected it in every line`,
			`f:4 error: "topic" is null; expected a string or number`,
			`f:5 error: "grade" is a string; expected a number: write it without quotes`,
			`f:6 error: the object has "topic" twice; expected it once`,
			`f:7 error: "topic" has an escape that stands for half a character or for a zero byte: "\ud800"; write the character itself`,
			"f:8 error: the docid is empty; expected a value",
			`f:8 error: the grade "1.5" is not a whole number from -32767 to 32767`,
		}},
		"bad tabs": {qrels, conversion.BEIR, "q1\td1\t1\nq1 d1 1\n\nq1\td1\t1\t2\nq\t\tx\n", []string{
			`f:1 error: the first line is "q1\td1\t1"; expected query-id, corpus-id and score, separated by tabs`,
			"f:2 error: the line has 1 of 3 fields: query-id, corpus-id and score, separated by tabs",
			"f:4 error: the line has 4 of 3 fields: query-id, corpus-id and score, separated by tabs",
			"f:5 error: the docid is empty; expected a value",
			`f:5 error: the grade "x" is not a whole number from -32767 to 32767`,
		}},
		"nothing": {runs, conversion.JSONL, "\n\n", []string{
			"f error: the file is empty or has no lines of runs; expected one for each document"}},
		"a first line alone": {qrels, conversion.BEIR, "query-id\tcorpus-id\tscore\n", []string{
			"f error: the file is empty or has no lines of relevance judgments; expected one for each document"}},
	} {
		t.Run(name, func(t *testing.T) {
			diagnostics, err := c.convert(t, io.Discard, c.from, conversion.CSV, measuretest.File("f", c.content))
			if err != nil {
				t.Error(err)
			}
			measuretest.Expect(t, diagnostics, c.want...)
		})
	}
	diagnostics, err := runs(t, io.Discard, conversion.CSV, conversion.CSV)
	if err != nil {
		t.Error(err)
	}
	measuretest.Expect(t, diagnostics, " error: there is no file to convert")
}

// lines returns the first n lines of an endless file.
func lines(n int, of *measuretest.Endless) io.Reader {
	var text []byte
	for i := range n {
		text = of.Append(text, i+1)
	}
	return bytes.NewReader(text)
}

// TestRuns_NeedBoundedMemory converts endless files and a large valid file. The allocated memory, kept or not, does not depend on
// their length.
func TestRuns_NeedBoundedMemory(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		from    conversion.Format
		content io.Reader
		refused bool
	}{
		"a line of 20 MB":                 {conversion.JSONL, io.LimitReader(measuretest.Numbered("", ""), 20*mib), true},
		"a quote that is never closed":    {conversion.CSV, measuretest.Numbered("topic,docid,rank,score\n\"", "\n"), true},
		"errors without end":              {conversion.TRECRun, measuretest.Numbered("x ", "\n"), true},
		"objects that are none, for ever": {conversion.JSONL, measuretest.Numbered("[", "]\n"), true},
		"a long run as it should be":      {conversion.TRECRun, lines(200_000, measuretest.Numbered("topic Q0 document-", " 1 12.5 x\n")), false},
		"many objects as they should be": {
			conversion.JSONL, lines(100_000, measuretest.Numbered(`{"topic":"t","docid":"`, `","rank":1,"score":1}`+"\n")), false},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := measuretest.Allocated(func() {
				diagnostics, err := conversion.Runs.Convert(t.Context(), io.Discard, c.from, conversion.JSONL,
					measure.File{Name: "f", Content: c.content})
				if err != nil || measure.HasErrors(diagnostics) != c.refused || len(diagnostics) > measure.MaxDiagnostics {
					t.Errorf("%v, %q", err, measuretest.Lines(diagnostics))
				}
			})
			if allocated > 64*mib {
				t.Errorf("allocated %d MiB", allocated/mib)
			}
		})
	}
}

// BenchmarkRuns converts runs of 1 and 50 MB in the format of TREC, or their equivalents, from each format to another.
func BenchmarkRuns(b *testing.B) {
	for _, c := range []struct{ from, to conversion.Format }{
		{conversion.TRECRun, conversion.JSONL}, {conversion.TRECRun, conversion.CSV}, {conversion.JSONL, conversion.TRECRun},
		{conversion.CSV, conversion.TRECRun},
	} {
		for _, megabytes := range []int{1, 50} {
			b.Run(fmt.Sprintf("%s to %s %d MB", c.from, c.to, megabytes), func(b *testing.B) {
				var text strings.Builder
				for i := 0; text.Len() < megabytes*1_000_000; i++ {
					fmt.Fprintf(&text, "%d Q0 document-%08d %d %.6f bm25\n", 1000+i/1000, i*7919%100_000_000, i%1000+1, 30-float64(i%1000)/50)
				}
				var content strings.Builder
				if _, err := runs(b, &content, conversion.TRECRun, c.from, measuretest.File("f", text.String())); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(content.Len()))
				b.ReportAllocs()
				for b.Loop() {
					if diagnostics, err := runs(b, io.Discard, c.from, c.to, measuretest.File("f", content.String())); err != nil || diagnostics != nil {
						b.Fatal(measuretest.Lines(diagnostics), err)
					}
				}
			})
		}
	}
}

// TestRuns_StopAtTheMostFaults reads JSON files with twice as many faults as a reader reports.
func TestRuns_StopAtTheMostFaults(t *testing.T) {
	const most = measure.MaxFaults
	for name, content := range map[string]string{
		"values in the place of objects": "[1" + strings.Repeat(",1", 2*most) + "]",
		"values in the place of topics":  `{"q":1` + strings.Repeat(`,"q":1`, 2*most) + "}",
		"documents without scores":       `{"q":{"d":null` + strings.Repeat(`,"d":null`, 2*most) + "}}",
	} {
		found, err := runs(t, io.Discard, conversion.JSON, conversion.CSV, measuretest.File("f", content))
		if err != nil {
			t.Error(err)
		}
		faults := 0
		for _, d := range found {
			faults += max(1, d.Count)
		}
		if faults > most+1 {
			t.Errorf("%s: %d faults", name, faults)
		}
	}
}
