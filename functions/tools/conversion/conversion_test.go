package conversion_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/functions/tools/conversion"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

const (
	trecRun = "1 Q0 d\"7 1 12.50 bm25\n1 Q0 d,8 2 -1e-3 bm25\n"
	jsonRun = `{"topic":"1","docid":"d\"7","rank":1,"score":12.50,"tag":"bm25"}` + "\n" +
		`{"topic":"1","docid":"d,8","rank":2,"score":-1e-3,"tag":"bm25"}` + "\n"
	csvRun   = "topic,docid,rank,score,tag\n1,\"d\"\"7\",1,12.50,bm25\n1,\"d,8\",2,-1e-3,bm25\n"
	trecQrel = "q1 0 d\\7 2\nq2 0 ü -1\n"
	jsonQrel = `{"topic":"q1","iteration":"0","docid":"d\\7","grade":2}` + "\n" + `{"topic":"q2","iteration":"0","docid":"ü","grade":-1}` +
		"\n"
	csvQrel  = "topic,iteration,docid,grade\nq1,0,d\\7,2\nq2,0,ü,-1\n"
	beirQrel = "query-id\tcorpus-id\tscore\nq1\td\\7\t2\nq2\tü\t-1\n"
)

type converter func(t testing.TB, w io.Writer, from, to conversion.Format, files ...measure.File) ([]measure.Diagnostic, error)

func runs(t testing.TB, w io.Writer, from, to conversion.Format, files ...measure.File) ([]measure.Diagnostic, error) {
	return conversion.Runs.Convert(t.Context(), w, from, to, files...)
}

func qrels(t testing.TB, w io.Writer, from, to conversion.Format, files ...measure.File) ([]measure.Diagnostic, error) {
	return conversion.Qrels.Convert(t.Context(), w, from, to, files...)
}

// TestFormats_ConvertIntoEachOther converts the same two lines from each format to each format.
func TestFormats_ConvertIntoEachOther(t *testing.T) {
	for _, c := range []struct {
		convert converter
		files   map[conversion.Format]string
	}{
		{runs, map[conversion.Format]string{conversion.TRECRun: trecRun, conversion.JSONL: jsonRun, conversion.CSV: csvRun}},
		{qrels, map[conversion.Format]string{conversion.TRECQrels: trecQrel, conversion.JSONL: jsonQrel, conversion.CSV: csvQrel,
			conversion.BEIR: beirQrel}},
	} {
		for from, content := range c.files {
			for to, want := range c.files {
				var out strings.Builder
				diagnostics, err := c.convert(t, &out, from, to, measuretest.File("f", content))
				if err != nil || diagnostics != nil || out.String() != want {
					t.Errorf("from %s to %s: %v, %v, got\n%swant\n%s", from, to, measuretest.Lines(diagnostics), err, out.String(), want)
				}
			}
		}
	}
}

func TestRuns_ReadsLeniently(t *testing.T) {
	for name, c := range map[string]struct {
		convert  converter
		from     conversion.Format
		to       conversion.Format
		content  string
		want     string
		warnings []string
	}{
		"white space, blank lines and numbers that JSON does not have": {runs, conversion.TRECRun, conversion.JSONL,
			"\xef\xbb\xbf1\tQ0  a +01 +.50 x more\r\n\n  \n1 0 b 02 01. x\n",
			`{"topic":"1","docid":"a","rank":1,"score":0.5,"tag":"x"}` + "\n" + `{"topic":"1","docid":"b","rank":2,"score":1,"tag":"x"}` + "\n",
			[]string{"f:1 warning: the line has more than six fields; what follows the sixth is left out, here and in any other line"}},
		"members in any order, as numbers and with escapes": {runs, conversion.JSONL, conversion.TRECRun,
			` {"score":1e2, "r\u0061nk":3, "docid":17, "topic":"\u0061\ud83d\ude00"} ` + "\n", "a😀 Q0 17 3 1e2 run\n", nil},
		"fields that are not kept": {runs, conversion.CSV, conversion.JSONL, "docid,qtext,topic,score,rank\na,\"two\nlines\",t,1,1\nb,x,t,0,2\n",
			`{"topic":"t","docid":"a","rank":1,"score":1,"tag":"run"}` + "\n" + `{"topic":"t","docid":"b","rank":2,"score":0,"tag":"run"}` + "\n",
			[]string{`f:1 warning: the field "qtext" is left out, here and in any other line, as is any other than topic, docid, rank, score, tag`}},
		"members that are not kept": {qrels, conversion.JSONL, conversion.CSV, `{"topic":1,"docid":"a","grade":0,"by":{"x":[1]}}` + "\n" +
			`{"by":1,"topic":1,"docid":"b","grade":0}`,
			"topic,iteration,docid,grade\n1,0,a,0\n1,0,b,0\n", []string{
				`f:1 warning: the field "by" is left out, here and in any other line, as is any other than topic, iteration, docid, grade`}},
		"iterations that BEIR does not have": {qrels, conversion.TRECQrels, conversion.BEIR, "1 0 a 1\n1 Q0 b 1\n1 2 c 1\n1 3 d 1\n",
			"query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t1\n1\tc\t1\n1\td\t1\n", []string{
				`f:3 warning: the iteration "2" is left out, here and in any other line, since the BEIR format has none`}},
		"ranks that evaluation does not read": {
			runs, conversion.TRECRun, conversion.JSONL, "1 Q0 a - 3 x\n1 Q0 b 2.0 2 x\n1 Q0 c 99999999999 1 x\n",
			`{"topic":"1","docid":"a","rank":"-","score":3,"tag":"x"}` + "\n" + `{"topic":"1","docid":"b","rank":2.0,"score":2,"tag":"x"}` + "\n" +
				`{"topic":"1","docid":"c","rank":99999999999,"score":1,"tag":"x"}` + "\n", nil},
		"ranks that are strings": {runs, conversion.JSONL, conversion.TRECRun, `{"topic":1,"docid":"a","rank":"1st","score":2}`,
			"1 Q0 a 1st 2 run\n", nil},
		"whole grades, and comments": {qrels, conversion.TRECQrels, conversion.BEIR, "# judged in May\n1 0 a 1.0\n  #\n1 0 b -2.\n1 0 c +01\n",
			"query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t-2\n1\tc\t1\n", nil},
		"tabs instead of commas": {qrels, conversion.CSV, conversion.TRECQrels, "docid\ttopic\tgrade\n\"a,b\"\t1\t1.0\n", "1 0 a,b 1\n", nil},
		"control characters": {qrels, conversion.TRECQrels, conversion.JSONL, "1 0 a\x01\x1f 1\n",
			`{"topic":"1","iteration":"0","docid":"a\u0001\u001f","grade":1}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			diagnostics, err := c.convert(t, &out, c.from, c.to, measuretest.File("f", c.content))
			if err != nil || out.String() != c.want {
				t.Errorf("%v, got\n%swant\n%s", err, out.String(), c.want)
			}
			measuretest.Expect(t, diagnostics, c.warnings...)
		})
	}
}

func TestRuns_TakeSeveralFiles(t *testing.T) {
	var out strings.Builder
	diagnostics, err := runs(t, &out, conversion.CSV, conversion.CSV, measuretest.File("f", csvRun),
		measuretest.File("g", measuretest.Gzip(t, "topic,docid,rank,score\n2,a,1,1\n")))
	if want := csvRun + "2,a,1,1,run\n"; err != nil || diagnostics != nil || out.String() != want {
		t.Errorf("%v, %v, got\n%s", measuretest.Lines(diagnostics), err, out.String())
	}
}

func TestRuns_WriteNothingAfterAnError(t *testing.T) {
	var out strings.Builder
	diagnostics, err := qrels(t, &out, conversion.TRECQrels, conversion.CSV, measuretest.File("f", "1 0 a 1\n1 0 b x\n1 0 c 1\n"),
		measuretest.File("g", "1 0 d 1\n1 0 e\n"))
	if err != nil || out.String() != "topic,iteration,docid,grade\n1,0,a,1\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	measuretest.Expect(t, diagnostics, `f:2 error: the grade "x" is not a whole number from -32767 to 32767`,
		"g:2 error: the line has only 3 of 4 fields: topic, iteration, docid and grade")
}

func TestRuns_ReturnErrorsOfFiles(t *testing.T) {
	errRead := errors.New("the connection is gone")
	closed, out := io.Pipe()
	_ = closed.Close() // has no error
	for name, c := range map[string]struct {
		content io.Reader
		out     io.Writer
		want    error
	}{
		"of the reader":             {iotest.ErrReader(errRead), io.Discard, errRead},
		"of the writer":             {strings.NewReader(strings.Repeat(trecRun, 10_000)), out, io.ErrClosedPipe},
		"of the writer, at the end": {strings.NewReader(trecRun), out, io.ErrClosedPipe},
	} {
		if _, err := runs(t, c.out, conversion.TRECRun, conversion.CSV, measure.File{Content: c.content}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFormats_RoundTrip converts random runs and judgments through several formats and expects the original text.
func TestFormats_RoundTrip(t *testing.T) {
	word := rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r > '#' && r != 0xfeff }), 1, 8, -1)
	nightlytest.Check(t, func(r *rapid.T) {
		convert := runs
		first := conversion.TRECRun
		formats := conversion.Runs.Formats
		line := func() string {
			return fmt.Sprintf("%s Q0 %s %d %g %s\n", word.Draw(r, "topic"), word.Draw(r, "docid"), rapid.IntRange(0, 99).Draw(r, "rank"),
				rapid.Float64Range(-9, 9).Draw(r, "score"), word.Draw(r, "tag"))
		}
		if rapid.Bool().Draw(r, "qrels") {
			convert = qrels
			first = conversion.TRECQrels
			formats = conversion.Qrels.Formats
			line = func() string {
				return fmt.Sprintf("%s 0 %s %d\n", word.Draw(r, "topic"), word.Draw(r, "docid"), rapid.IntRange(-9, 9).Draw(r, "grade"))
			}
		}
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(r, "lines") {
			b.WriteString(line())
		}
		text, from := b.String(), first
		for _, to := range append(rapid.SliceOfN(rapid.SampledFrom(formats), 1, 4).Draw(r, "formats"), first) {
			var out strings.Builder
			diagnostics, err := convert(t, &out, from, to, measuretest.File("f", text))
			if err != nil || diagnostics != nil {
				r.Fatalf("from %s to %s: %q, %v\n%s", from, to, measuretest.Lines(diagnostics), err, text)
			}
			text, from = out.String(), to
		}
		if text != b.String() {
			r.Fatalf("got\n%swant\n%s", text, b.String())
		}
	})
}

// checkConverted checks the promises of every conversion. The output of an accepted file can be read without diagnostics and
// converts back to the same file. A refused file has an error.
func checkConverted(t *testing.T, convert converter, formats []conversion.Format, from conversion.Format, content []byte) {
	for _, to := range formats {
		var out, back, again bytes.Buffer
		diagnostics, err := convert(t, &out, from, to, measure.File{Name: "f", Content: bytes.NewReader(content)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", content, diagnostics)
		if measure.HasErrors(diagnostics) || bytes.Contains(content, []byte("\xef\xbb\xbf")) || out.Len() > 60<<10 {
			continue // an id that starts with a byte order mark loses it at the start of a file
		}
		diagnostics, err = convert(t, &back, to, formats[0], measure.File{Name: "out", Content: bytes.NewReader(out.Bytes())})
		if err == nil && len(diagnostics) > 0 && strings.Contains(diagnostics[0].Message, "begins with #") {
			continue
		}
		if err != nil || diagnostics != nil {
			t.Fatalf("%s as %s is refused: %q, %v\n%s", from, to, measuretest.Lines(diagnostics), err, out.Bytes())
		}
		if _, err = convert(t, &again, formats[0], to, measure.File{Name: "back", Content: &back}); err != nil ||
			!bytes.Equal(again.Bytes(), out.Bytes()) {
			t.Fatalf("%v\n%sbecomes\n%s", err, out.Bytes(), again.Bytes())
		}
	}
}

func FuzzRuns(f *testing.F) {
	for i, seed := range []string{trecRun, jsonRun, csvRun, "1 Q0 a +01 .5 x y\n", `{"topic":1,"docid":"\u0061","rank":0,"score":-0,"x":[]}`,
		"tag,score,rank,docid,topic\n\"\n"} {
		f.Add(i%3, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, format int, content []byte) {
		from := conversion.Runs.Formats[uint(format)%3]
		checkConverted(t, runs, conversion.Runs.Formats, from, content)
		// A converted TREC run is also valid for evaluation, unless it contains a document twice.
		var out bytes.Buffer
		if diagnostics, err := runs(t, &out, from, conversion.TRECRun, measure.File{Name: "f", Content: bytes.NewReader(content)}); err != nil ||
			measure.HasErrors(diagnostics) || out.Len() > 60<<10 {
			return
		}
		_, diagnostics, err := retrieval.ReadRankings(t.Context(), measure.File{Name: "out", Content: &out})
		if err != nil || slices.ContainsFunc(diagnostics, func(d measure.Diagnostic) bool {
			return d.Severity == measure.Error && !strings.Contains(d.Message, "already")
		}) {
			t.Fatal(measuretest.Lines(diagnostics), err)
		}
	})
}

func FuzzQrels(f *testing.F) {
	for i, seed := range []string{trecQrel, jsonQrel, csvQrel, beirQrel, "1 Q0 a +01\n", `{"topic":1,"docid":"\u0061","grade":-0,"x":[]}`,
		"grade,docid,topic\n\"\n", "query-id\tcorpus-id\tscore\n\t\t\n"} {
		f.Add(i%4, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, format int, content []byte) {
		checkConverted(t, qrels, conversion.Qrels.Formats, conversion.Qrels.Formats[uint(format)%4], content)
	})
}

// TestRuns_AcceptWhatEvaluationAccepts draws valid and invalid files, and converts each file that evaluation can read.
func TestRuns_AcceptWhatEvaluationAccepts(t *testing.T) {
	field := rapid.SampledFrom([]string{"1", "1.0", "-", "#1", "x", "-1", "1e400", "99999999999999999999", "é", "0x1", "\x00", "a,b", `"`})
	space := rapid.SampledFrom([]string{" ", "\t", " \v\f"})
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r", "\n\n", " \n"})
	nightlytest.Check(t, func(r *rapid.T) {
		var text strings.Builder
		width := 4 + 2*rapid.IntRange(0, 1).Draw(r, "run")
		for i := range rapid.IntRange(1, 4).Draw(r, "lines") {
			for column := range width {
				switch {
				case column == 2:
					fmt.Fprint(&text, "d", i)
				case column == width-2+width%4/2 && rapid.IntRange(0, 9).Draw(r, "odd") > 0:
					text.WriteString("2.0")
				default:
					text.WriteString(field.Draw(r, "field"))
				}
				text.WriteString(space.Draw(r, "space"))
			}
			text.WriteString(end.Draw(r, "end"))
		}
		convert := runs
		format := conversion.TRECRun
		f := measuretest.File("f", text.String())
		var read []measure.Diagnostic
		var err error
		if width == 6 {
			_, read, err = retrieval.ReadRankings(t.Context(), f)
		} else {
			convert, format = qrels, conversion.TRECQrels
			_, read, err = retrieval.ReadQrels(t.Context(), f)
		}
		if err != nil || measure.HasErrors(read) {
			return
		}
		for _, to := range []conversion.Format{format, conversion.JSONL, conversion.CSV} {
			if found, err := convert(t, io.Discard, format, to, measuretest.File("f", text.String())); err != nil || measure.HasErrors(found) {
				r.Fatalf("%q as %s is refused: %v, %v", text.String(), to, measuretest.Lines(found), err)
			}
		}
	})
}

func TestQrels_TopicsThatLookLikeComments(t *testing.T) {
	const text = "topic,docid,grade\n#3,a,1\n"
	if found, err := qrels(t, io.Discard, conversion.CSV, conversion.TRECQrels, measuretest.File("f", text)); err != nil || len(found) != 1 ||
		!strings.Contains(found[0].Message, `the topic "#3" begins with #`) {
		t.Errorf("%v, %v", measuretest.Lines(found), err)
	}
	if found, err := qrels(t, io.Discard, conversion.CSV, conversion.BEIR, measuretest.File("f", text)); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", measuretest.Lines(found), err)
	}
}
