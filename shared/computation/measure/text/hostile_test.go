package text

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// everyMeasure lists each family, with parameters that use other branches of the code.
var everyMeasure = []string{"EM", "TokenF1", "ROUGE1", "ROUGE2(stem=True)", "ROUGEL(score=recall)", "ROUGELsum(stem=True)", "BLEU",
	"BLEU(tokenize=intl,lowercase=True)", "BLEU(tokenize=char)", "BLEU(tokenize=zh)", "ROUGEL(tokenize=unicode)", "chrF", "chrF++"}

// TestSubsequences_AreThoseOfTheTable compares subsequences with the table of the textbook definition.
func TestSubsequences_AreThoseOfTheTable(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		symbol := rapid.Uint32Range(1, rapid.Uint32Range(1, 40).Draw(t, "symbols"))
		symbols := func(name string, most int) []uint32 {
			n := rapid.IntRange(0, most).Draw(t, name)
			return rapid.SliceOfN(symbol, n, n).Draw(t, name)
		}
		rows, columns := symbols("rows", 200), symbols("columns", 200)
		table := make([][]int, len(rows)+1)
		for i := range table {
			table[i] = make([]int, len(columns)+1)
			for j := 1; i > 0 && j <= len(columns); j++ {
				table[i][j] = max(table[i-1][j], table[i][j-1])
				if rows[i-1] == columns[j-1] {
					table[i][j] = table[i-1][j-1] + 1
				}
			}
		}
		want := make([]bool, len(rows))
		for i, j := len(rows), len(columns); i > 0 && j > 0; {
			switch {
			case rows[i-1] == columns[j-1]:
				i, j = i-1, j-1
				want[i] = true
			case table[i][j-1] > table[i-1][j]:
				j--
			default:
				i--
			}
		}
		s := subsequences{counter: steps.Of(t.Context())}
		s.reset(41)
		if got := s.length(rows, columns); got != table[len(rows)][len(columns)] {
			t.Errorf("the length is %d, want %d", got, table[len(rows)][len(columns)])
		}
		got := make([]bool, len(rows))
		s.mark(rows, columns, got)
		if !slices.Equal(got, want) {
			t.Errorf("marked %v, want %v", got, want)
		}
	})
}

// TestEvaluation_KnowsTheBestReference evaluates texts that equal one of their references, in any place. Every measure must have its best
// value, except that SQuAD ignores references without words. All values must be within their ranges.
func TestEvaluation_KnowsTheBestReference(t *testing.T) {
	asked := measuretest.Parse(t, measure.Text, everyMeasure...)
	nightlytest.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abcAΣİ .,-&\n1\u0301中")))
		references := rapid.SliceOfN(text, 1, 4).Draw(t, "references")
		written := text.Draw(t, "text")
		measured := func(references []string, written string) map[string]*float64 {
			e := newRunScorer(t.Context(), steps.Of(t.Context()), asked, 1)
			e.compare(0, references, written)
			found, err := e.scores(func(int) string { return "1" })
			if err != nil {
				t.Fatal(err)
			}
			return found.Result.Measures
		}
		for name, x := range measured(references, written) {
			if !(*x >= 0 && *x <= 100+1e-9) || *x > 1+1e-9 && !strings.HasPrefix(name, "BLEU") && !strings.HasPrefix(name, "chrF") {
				t.Errorf("%s is %v", name, *x)
			}
		}
		alone := measured([]string{written}, written)
		among := measured(append(references, written), written)
		for name, x := range alone {
			left := len(answerWords(nil, written)) > 0
			if *among[name] < *x-1e-9 && (left || name != "EM" && name != "TokenF1") {
				t.Errorf("%s is %v with the text among the references, and %v with it alone", name, *among[name], *x)
			}
		}
	})
}

// TestROUGE_TakesTheFirstOfEqualReferences uses two references with the F-measure 2/3. The first has the recall 1.
func TestROUGE_TakesTheFirstOfEqualReferences(t *testing.T) {
	asked := measuretest.Parse(t, measure.Text, "ROUGE1(score=recall)", "ROUGE1")
	for want, references := range map[float64][]string{1: {"b", "\u212a b c d"}, 0.5: {"\u212a b c d", "b"}} {
		e := newRunScorer(t.Context(), steps.Of(t.Context()), asked, 1)
		e.compare(0, references, "k b")
		found, err := e.scores(func(int) string { return "1" })
		if err != nil {
			t.Fatal(err)
		}
		got := found.Result.Measures
		if *got["ROUGE1(score=recall)"] != want || math.Abs(*got["ROUGE1"]-2./3) > 1e-12 {
			t.Errorf("of %q: recall is %v, F %v", references, *got["ROUGE1(score=recall)"], *got["ROUGE1"])
		}
	}
}

// evaluated reads both files with all measures, and returns the diagnostics of the first that has errors.
func evaluated(ctx context.Context, t testing.TB, format measure.Format, truth, run string) (measure.Result, []measure.Diagnostic, error) {
	t.Helper()
	asked := measuretest.Parse(t, measure.Text, everyMeasure...)
	read, diagnostics, err := Computation.ReadTruth(ctx, format, measure.Options{}, asked, []measure.File{measuretest.File("truth", truth)})
	if err != nil || measure.HasErrors(diagnostics) {
		return measure.Result{}, diagnostics, err
	}
	e, err := read.Evaluate(ctx, []measure.File{measuretest.File("run", run)})
	if err != nil {
		return measure.Result{}, nil, err
	}
	return e.Result, e.Diagnostics, nil
}

func TestComputation_ReportsFaults(t *testing.T) {
	long := strings.Repeat("word ", 20_000)
	many := strings.Repeat(`"",`, 100) + `""`
	for name, c := range map[string]struct{ truth, run, want string }{
		"array in a run": {`{"id":1,"text":"a"}`, `{"id":1,"text":["a"]}`, `run:1 error: "text" is an array; expected a string; each id has ` +
			"one value, so write it without brackets"},
		"no text": {`{"id":1,"text":"a"}`, `{"id":1,"text":null}`, `run:1 error: "text" is null; expected a string`},
		"array of numbers": {`{"id":1,"text":["a",1]}`, "",
			`truth:1 error: an element of "text" is a number; expected a string`},
		"array in an array": {`{"id":1,"text":[["a"]]}`, "", `truth:1 error: an element of "text" is an array; expected a string`},
		"references":        {`{"id":1,"text":[` + many + `]}`, "", `truth:1 error: "text" has 101 texts; expected at most 100`},
		"long reference":    {`{"id":1,"text":["a","` + long + `"]}`, "", `truth:1 error: "text" has 100000 bytes ("word word`},
		"all references": {`{"id":1,"text":["` + strings.Repeat(long[:60_000]+`","`, 18) + `"]}`, "",
			`truth:1 error: "text" has texts of 1080000 bytes together; expected at most 1048576`},
		"long text": {`{"id":1,"text":"a"}`, `{"id":1,"text":"` + long + `"}`, `run:1 error: "text" has 100000 bytes ("word word`},
		"long line": {`{"id":1,"text":"a"}`, `{"id":1,"x":"` + strings.Repeat(long, 43) + `"}`,
			`run:1 error: the line is longer than 4194304 bytes`},
		"missing":      {`{"id":1,"text":"a"}` + "\n" + `{"id":2,"text":[]}`, `{"id":1,"text":"b"}`, `run error: there is no prediction for 1 of 2 ids`},
		"unknown":      {`{"id":1,"text":"a"}`, `{"id":3,"text":"b"}`, `run:1 error: the truth has no id "3"; expected only ids of the truth`},
		"twice":        {`{"id":1,"text":"a"}`, "{\"id\":1,\"text\":\"b\"}\n{\"id\":1,\"text\":\"b\"}", `run:2 error: the id "1" was given before, on line 1`},
		"half a pair":  {`{"id":1,"text":["\ud800"]}`, "", `truth:1 error: an element of "text" has an escape that stands for half a character`},
		"cut short":    {`{"id":1,"text":["a"`, "", `truth:1 error: the line is not a JSON object`},
		"not an array": {`{"id":1,"text":{"a":1}}`, "", `truth:1 error: "text" is an object; expected a string or array`},
	} {
		_, diagnostics, err := evaluated(t.Context(), t, format, c.truth, c.run)
		if err != nil || !slices.ContainsFunc(measuretest.Lines(diagnostics), func(line string) bool { return strings.HasPrefix(line, c.want) }) {
			t.Errorf("%s: %.200v, %v", name, diagnostics, err)
		}
	}
}

// TestComputation_WarnsOfUnicodeForms has texts that look like their references.
func TestComputation_WarnsOfUnicodeForms(t *testing.T) {
	truth := `{"id":1,"text":"caf\u00e9"}` + "\n" + `{"id":2,"text":["cafe","caf\u00e9"]}` + "\n" + `{"id":3,"text":"a \u7b54"}` + "\n" +
		`{"id":4,"text":"cafe\u0301"}`
	run := `{"id":1,"text":"cafe\u0301"}` + "\n" + `{"id":2,"text":"cafe\u0301"}` + "\n" + `{"id":3,"text":"a \u7b54"}` + "\n" +
		`{"id":4,"text":"caf\u00e9"}`
	_, diagnostics, err := evaluated(t.Context(), t, format, truth, run)
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, diagnostics, "run warning: 2 texts and their references have different Unicode forms, which count as different "+
		`characters although they look alike; the first is that of the item "1": write all files in the form NFC`)
	equal := strings.ReplaceAll(truth, `["cafe","caf\u00e9"]`, `"caf\u00e9"`)
	if _, diagnostics, err = evaluated(t.Context(), t, format, truth, equal); err != nil || len(diagnostics) > 0 {
		t.Errorf("%v, %v", measuretest.Lines(diagnostics), err)
	}
}

// TestComputation_AdvisesOnlyATokenizerThatHeals has a text without letters and digits of any script.
func TestComputation_AdvisesOnlyATokenizerThatHeals(t *testing.T) {
	_, found, err := Computation.ReadTruth(t.Context(), format, measure.Options{}, measuretest.Parse(t, measure.Text, "ROUGE1"),
		[]measure.File{measuretest.File("f", `{"id":1,"text":"!!!"}`)})
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found, "f warning: 1 of 1 text has no word for ROUGE1, which counts only the letters a to z and digits")
}

// TestComputation_WarnsOfTextsWithoutWords has texts in Russian, in English, of punctuation, and an empty one.
func TestComputation_WarnsOfTextsWithoutWords(t *testing.T) {
	const ascii = "2 of 4 texts have no word for ROUGE2, which counts only the letters a to z and digits; ROUGE2(tokenize=unicode) " +
		"counts words of all scripts, which 1 of them has"
	const other = "1 of 4 texts has no word for ROUGEL(tokenize=unicode), which counts letters and digits"
	content := strings.Join([]string{`{"id":1,"text":"\u043c\u0438\u0440"}`, `{"id":2,"text":"peace"}`, `{"id":3,"text":"?!"}`, `{"id":4,"text":" "}`},
		"\n")
	file := func() []measure.File { return []measure.File{measuretest.File("f", content)} }
	for names, want := range map[string][]string{
		"ROUGE2 ROUGE1(stem=True)":               {ascii},
		"ROUGEL(tokenize=unicode) ROUGE2":        {ascii, other},
		"BLEU chrF EM TokenF1 BLEU(tokenize=zh)": nil,
	} {
		asked := measuretest.Parse(t, measure.Text, strings.Fields(names)...)
		truth, ofTruth, err := Computation.ReadTruth(t.Context(), format, measure.Options{}, asked, file())
		if err != nil || truth == nil {
			t.Fatal(ofTruth, err)
		}
		e, err := truth.Evaluate(t.Context(), file())
		if err != nil {
			t.Fatal(err)
		}
		valid, err := Computation.ValidateRun(t.Context(), format, asked, file())
		if err != nil {
			t.Fatal(err)
		}
		want = lists.Map(want, func(message string) string { return "f warning: " + message })
		for where, found := range map[string][]measure.Diagnostic{"truth": ofTruth, "evaluation": e.Diagnostics, "validation": valid} {
			if !slices.Equal(measuretest.Lines(found), want) {
				t.Errorf("%s by %s: %q, want %q", where, names, measuretest.Lines(found), want)
			}
		}
	}
}

// TestComputation_ReadsCSV reads one reference in each record, and texts with several lines.
func TestComputation_ReadsCSV(t *testing.T) {
	csv := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "text"}
	long := strings.Repeat("word\n", 1000)
	r, diagnostics, err := evaluated(t.Context(), t, csv, "id,text\n1,\"the \"\"lake\"\"\nends\"\n2,\n3,\""+long+"\"\n",
		"text,id\n,2\n\"Lake ends.\",1\n\""+long+"\",3\n")
	if err != nil || len(diagnostics) > 0 || *r.Measures["EM"] != 1 || r.PerTopic["3"]["ROUGELsum(stem=True)"] != 1 {
		t.Error(diagnostics, err)
	}
}

// TestComputation_BoundsItsWork evaluates texts with many lines, each of which is compared with all others.
func TestComputation_BoundsItsWork(t *testing.T) {
	e := newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, "ROUGELsum"), 1)
	e.bound(t.Context(), 100_000)
	text, reference := unlikeLines(100)
	if fault := e.compare(0, []string{reference}, text); !strings.Contains(fault, "more than 100000 steps; give shorter texts, or leave out") {
		t.Errorf("%q", fault)
	}
	e.bound(t.Context(), 1_000_000)
	if fault := e.compare(0, []string{reference}, text); fault != "" {
		t.Error(fault)
	}
	if used := measuretest.Allocated(func() {
		e = newRunScorer(t.Context(), steps.Of(t.Context()), measuretest.Parse(t, measure.Text, everyMeasure...), 1)
		e.compare(0, []string{strings.Repeat("a ", 32<<10)}, strings.Repeat("a ", 32<<10))
	}); used > 256<<20 {
		t.Errorf("two texts of 64 KiB allocate %d bytes", used)
	}
}

func TestComputation_StopsWithTheContext(t *testing.T) {
	asked := measuretest.Parse(t, measure.Text, everyMeasure...)
	ctx, cancel := context.WithCancel(t.Context())
	truth, _, err := Computation.ReadTruth(ctx, format, measure.Options{}, asked, []measure.File{measuretest.File("truth", `{"id":1,"text":"a"}`)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := truth.Evaluate(ctx, []measure.File{measuretest.File("run", `{"id":1,"text":"a"}`)}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestComputation_HasValuesOfUpToTenThousandExamples checks that larger runs have no values by example.
func TestComputation_HasValuesOfUpToTenThousandExamples(t *testing.T) {
	for n, want := range map[int]int{measure.MaxExamples: measure.MaxExamples, measure.MaxExamples + 1: 0} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"b\"}\n", i)
		}
		r, diagnostics, err := evaluated(t.Context(), t, format, b.String(), b.String())
		if err != nil || len(diagnostics) > 0 || len(r.PerTopic) != want || *r.Measures["EM"] != 1 ||
			(r.Reasons[measure.PerTopicReason] == "") != (want > 0) {
			t.Errorf("of %d examples, %d have values: %v, %v", n, len(r.PerTopic), diagnostics, err)
		}
	}
}

func FuzzComputation(f *testing.F) {
	f.Add(`{"id":1,"text":["a b.","c"]}`+"\n"+`{"id":"x","text":[]}`, `{"id":1,"text":"a"}`+"\n"+`{"text":"\u00c9","id":"x"}`, false)
	f.Add("id,text\n1,\"a\nb\"\n2,\n", "text\tid\nΣΑΣ İ\t1\n\t2\n", true)
	f.Add(`{"id":1,"text":[ "a" , "3.14 &amp;lt;<skipped>-\n" ]}`, `{"id":1,"text":"runn\u0301ing 1,0 ٣."}`, false)
	f.Fuzz(func(t *testing.T, truth, run string, csv bool) {
		of := format
		if csv {
			of.Kind = measure.CSV
		}
		r, diagnostics, err := evaluated(t.Context(), t, of, truth, run)
		if err != nil {
			t.Fatal(err)
		}
		if measure.HasErrors(diagnostics) != (len(r.Measures) == 0) {
			t.Errorf("%d measures with %v", len(r.Measures), diagnostics)
		}
		if _, err := json.Marshal(r.PerTopic); err != nil {
			t.Error(err)
		}
		for name, x := range r.Measures {
			if x == nil || !(*x >= 0 && *x <= 100+1e-9) {
				t.Errorf("%s is %v", name, x)
			}
		}
	})
}
