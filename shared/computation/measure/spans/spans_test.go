package spans_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/spans"
	"assay/shared/computation/measure/steps"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var (
	conll = measure.Format{Kind: measure.CoNLL}
	jsonl = measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "spans"}
)

// read reads a truth without faults.
func read(t testing.TB, format measure.Format, text string, names ...string) *measure.Reference {
	t.Helper()
	truth, found, err := spans.Computation.ReadTruth(t.Context(), format, measure.Options{}, measuretest.Parse(t, measure.Spans, names...),
		[]measure.File{measuretest.File("truth", text)})
	if err != nil || truth == nil {
		t.Fatalf("%v, %v\n%s", measuretest.Lines(found), err, text)
	}
	return truth
}

// evaluate evaluates a run.
func evaluate(t testing.TB, truth *measure.Reference, text string) *measure.Scores {
	t.Helper()
	e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", text)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write writes the tags of sentences, or the spans of documents.
func write(t testing.TB, format string, raw json.RawMessage) string {
	var b strings.Builder
	if format == measure.CoNLL {
		var sentences [][]string
		if err := json.Unmarshal(raw, &sentences); err != nil {
			t.Fatal(err)
		}
		for _, tags := range sentences {
			for i, tag := range tags {
				fmt.Fprintf(&b, "token%d\tNN\t%s\n", i, tag)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	var documents [][][3]any
	if err := json.Unmarshal(raw, &documents); err != nil {
		t.Fatal(err)
	}
	for i, list := range documents {
		all := []map[string]any{}
		for _, s := range list {
			one := map[string]any{"type": s[0], "start": s[1], "end": s[2]}
			if s[0] == "_" {
				delete(one, "type")
			}
			all = append(all, one)
		}
		line, _ := json.Marshal(map[string]any{"id": i, "spans": all})
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// TestEvaluate_EqualsTheReference compares 1,000 random cases with values of seqeval and of the definitions.
func TestEvaluate_EqualsTheReference(t *testing.T) {
	f, err := os.Open("testdata/reference.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Format           string
		Truth, Predicted json.RawMessage
		Values           map[string]*float64
	}
	if err := json.NewDecoder(unpacked).Decode(&cases); err != nil || len(cases) != 1000 {
		t.Fatal(len(cases), err)
	}
	values := 0
	for i, c := range cases {
		format := conll
		if c.Format == measure.JSONL {
			format = jsonl
		}
		var names []string
		for name := range c.Values {
			names = append(names, name)
		}
		e := evaluate(t, read(t, format, write(t, c.Format, c.Truth), names...), write(t, c.Format, c.Predicted))
		if measure.HasErrors(e.Diagnostics) {
			t.Fatalf("case %d: %v", i, measuretest.Lines(e.Diagnostics))
		}
		for name, want := range c.Values {
			name = measuretest.Parse(t, measure.Spans, name)[0].String()
			got, reason := e.Result.Measures[name], e.Result.Reasons[name]
			values++
			switch {
			case want == nil && (got != nil || reason == ""):
				t.Errorf("case %d: %s is %v for %q, want no value and a reason", i, name, got, reason)
			case want != nil && (got == nil || math.Abs(*got-*want) > 1e-9):
				t.Errorf("case %d: %s is %v (%s), want %v", i, name, got, reason, *want)
			}
		}
	}
	if values < 40_000 {
		t.Errorf("compared %d values", values)
	}
}

// TestEvaluate_OfTheTruthIsOne evaluates the truth as a run. Every measure must be 1, in whatever order lines and spans are. For other
// runs, all values must be from 0 to 1.
func TestEvaluate_OfTheTruthIsOne(t *testing.T) {
	names := []string{"F1(average=micro)", "Precision(average=macro,overlap=any)", "Recall(average=weighted,overlap=proportional)",
		"F1(average=macro,overlap=units)", "IoU(average=weighted)", "DocumentF1", "DocumentIoU"}
	one := rapid.Custom(func(t *rapid.T) [3]int {
		return [3]int{rapid.IntRange(0, 2).Draw(t, "type"), rapid.IntRange(0, 20).Draw(t, "start"), rapid.IntRange(1, 20).Draw(t, "length")}
	})
	list := rapid.SliceOfNDistinct(one, 1, 6, rapid.ID[[3]int])
	line := func(id int, list [][3]int) string {
		texts := []string{}
		for _, s := range list {
			texts = append(texts, fmt.Sprintf(`{"type":"%c","end":%d,"start":%d,"x":[{}]}`, 'A'+s[0], s[1]+s[2], s[1]))
		}
		return fmt.Sprintf("{\"spans\": [%s ] , \"id\": %d}\n", strings.Join(texts, " , "), id)
	}
	nightlytest.Check(t, func(r *rapid.T) {
		var truth, run, same string
		for i := range rapid.IntRange(1, 4).Draw(r, "documents") {
			drawn := list.Draw(r, "spans")
			truth += line(i, drawn)
			same = line(i, rapid.Permutation(drawn).Draw(r, "order")) + same
			run += line(i, list.Draw(r, "predicted"))
		}
		of := read(t, jsonl, truth, names...)
		for _, name := range names {
			if x := evaluate(t, of, same).Result.Measures[name]; x == nil || math.Abs(*x-1) > 1e-12 {
				r.Errorf("%s of the truth is %v", name, x)
			}
			if x := evaluate(t, of, run).Result.Measures[name]; x == nil || !(*x >= 0 && *x <= 1+1e-12) {
				r.Errorf("%s is %v", name, x)
			}
		}
	})
}

// TestEvaluate_HasValuesByDocument compares the mean of the values by document with the measure. Only means over documents have such
// values.
func TestEvaluate_HasValuesByDocument(t *testing.T) {
	truth := read(t, jsonl, `{"id": "a", "spans": [{"start": 0, "end": 4}]}
{"id": "b", "spans": []}
{"id": "c", "spans": [{"start": 0, "end": 2, "type": "X"}]}
`, "F1(average=micro)", "DocumentF1", "DocumentIoU(type=X)", "DocumentF1(type=Y)")
	e := evaluate(t, truth, `{"id": "c", "spans": []}
{"id": "a", "spans": [{"start": 2, "end": 6}]}
{"id": "b", "spans": []}
`)
	want := map[string]map[string]float64{"a": {"DocumentF1": 0.5, "DocumentIoU(type=X)": 1}, "b": {"DocumentF1": 1, "DocumentIoU(type=X)": 1},
		"c": {"DocumentF1": 0, "DocumentIoU(type=X)": 0}}
	if got := fmt.Sprint(e.Result.PerTopic); got != fmt.Sprint(want) || truth.Topics != 3 {
		t.Errorf("%s, %d topics", got, truth.Topics)
	}
	if got := *e.Result.Measures["DocumentF1"]; got != 0.5 {
		t.Errorf("DocumentF1 is %v", got)
	}
	if got := e.Result.Reasons["DocumentF1(type=Y)"]; got != `no span of the truth has the type "Y"` {
		t.Error(got)
	}

	tagged := read(t, conll, "a B-X\n\nb O\n\n-DOCSTART- O\n\nc I-X\n", "DocumentF1")
	e = evaluate(t, tagged, "-DOCSTART- -X- O\n\na B-X\n\n\nb B-X\n\nc O")
	if got := fmt.Sprint(e.Result.PerTopic); got != "map[1:map[DocumentF1:1] 2:map[DocumentF1:0] 3:map[DocumentF1:0]]" {
		t.Error(got, measuretest.Lines(e.Diagnostics))
	}
	e = evaluate(t, read(t, conll, "a B-X\n", "F1(average=micro)"), "a B-X\n")
	if e.Result.PerTopic != nil {
		t.Error(e.Result.PerTopic)
	}
}

// TestEvaluate_ResamplesDocuments compares samples with evaluations of files that have the sampled documents.
func TestEvaluate_ResamplesDocuments(t *testing.T) {
	names := []string{"F1(average=micro)", "Recall(average=macro)", "F1(average=weighted)", "Precision(type=X)", "IoU(average=macro)",
		"IoU(type=Y)", "F1(average=micro,overlap=any)", "Recall(type=X,overlap=proportional)", "F1(average=macro,overlap=units)"}
	nightlytest.Check(t, func(r *rapid.T) {
		span := rapid.SampledFrom([]string{`{"start": 0, "end": 2, "type": "X"}`, `{"start": 1, "end": 4, "type": "X"}`,
			`{"start": 1, "end": 2, "type": "Y"}`, `{"start": 3, "end": 9, "type": "Z"}`})
		list := rapid.SliceOfNDistinct(span, 0, 4, rapid.ID)
		n := rapid.IntRange(1, 8).Draw(r, "documents")
		examples := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, n).Draw(r, "examples")
		var files, sampled [2]string // truth and run
		for side := range files {
			var documents []string
			for i := range n {
				documents = append(documents, strings.Join(list.Draw(r, "spans"), ","))
				files[side] += fmt.Sprintf("{\"id\": %d, \"spans\": [%s]}\n", i, documents[i])
			}
			for i, from := range append([]int{0}, examples...) {
				sampled[side] += fmt.Sprintf("{\"id\": %d, \"spans\": [%s]}\n", i, documents[from])
			}
		}
		for _, name := range names {
			e := evaluate(t, read(t, jsonl, files[0], name), files[1])
			for range 2 {
				got := e.Resample(steps.Of(t.Context()), append([]int{0}, examples...))
				want := evaluate(t, read(t, jsonl, sampled[0], name), sampled[1]).Result.Measures[name]
				if (got == nil) != (want == nil) || got != nil && math.Abs(*got-*want) > 1e-9 || e.Examples != n {
					r.Fatalf("%s of %v among %v is %v, want %v", name, examples, files, got, want)
				}
			}
		}
	})
}

// TestEvaluate_OfManyDocumentsHasNoValuesByDocument evaluates a run of more than MaxExamples documents. It must have only the means.
func TestEvaluate_OfManyDocumentsHasNoValuesByDocument(t *testing.T) {
	for _, n := range []int{measure.MaxExamples, measure.MaxExamples + 1} {
		text := strings.Repeat("a B-X\n\n", n)
		truth := read(t, conll, text, "DocumentF1")
		e := evaluate(t, truth, text)
		kept, mean := n <= measure.MaxExamples, e.Result.Measures["DocumentF1"]
		samples := evaluate(t, read(t, conll, text, "F1(average=micro)"), text).Resample
		if (e.Result.PerTopic != nil) != kept || (truth.Topics > 0) != kept || *mean != 1 || (samples != nil) != kept || e.Resample != nil {
			t.Errorf("%d documents have %d values, and the truth %d", n, len(e.Result.PerTopic), truth.Topics)
		}
	}
}

func TestReadTruth_WarnsOfTypesThatItLacks(t *testing.T) {
	_, found, err := spans.Computation.ReadTruth(t.Context(), conll, measure.Options{}, measuretest.Parse(t, measure.Spans, "F1(type=PERS)"),
		[]measure.File{measuretest.File("truth", "Anna B-PER\n")})
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found,
		` warning: F1(type=PERS) has no value for any run, since no span of the truth has the type "PERS"; check how the type is written`)
}

// TestTruth_KnowsWhatIsPublic compares runs with the ids or tokens of a truth, with its types, or with both.
func TestTruth_KnowsWhatIsPublic(t *testing.T) {
	const type2 = `run:1 warning: the truth has no type "C" but "A", "B"; every prediction of it counts as wrong`
	for _, test := range []struct {
		format      measure.Format
		ids, types  bool
		truth, run  string
		diagnostics []string
	}{
		{conll, true, false, "a B-B\nb B-A\n", "a B-C\nc B-A\n", []string{
			`run:2 error: the token "c" where the truth has the token "b", at token 2 of sentence 1; expected…`}},
		{conll, false, true, "a B-B\nb B-A\n", "a B-C\n\nc B-A\n", []string{type2}},
		{conll, true, true, "a B-B\nb B-A\n", "a B-C\n", []string{type2, `run:1 error: the sentence ends where the truth has the token "b"…`}},
		{jsonl, true, false, `{"id": "a", "spans": []}`, `{"id": "b", "spans": [{"start": 0, "end": 4, "type": "C"}]}`, []string{
			`run:1 error: the truth has no id "b"…`}},
		{jsonl, false, true, `{"id": "a", "spans": [{"start": 0, "end": 1, "type": "B"}, {"start": 0, "end": 1, "type": "A"}]}`,
			`{"id": "b", "spans": [{"start": 0, "end": 4, "type": "C"}]}`, []string{type2}},
	} {
		truth := read(t, test.format, test.truth, "DocumentF1")
		if truth.Known(false, false) != nil {
			t.Error("something is known where nothing is public")
		}
		found, err := truth.Known(test.ids, test.types).Compare(t.Context(), measuretest.File("run", test.run))
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, found, test.diagnostics...)
	}
}

// TestKnownInput_WarnsOfOtherTokens compares runs with tokens that participants have, with and without other columns.
func TestKnownInput_WarnsOfOtherTokens(t *testing.T) {
	for _, test := range []struct {
		input, run  string
		diagnostics []string
	}{
		{"EU\nrejects\n\nPeter\n", "EU B-ORG\nrejected O\n\nPeter O\n", []string{`run:2 warning: the token "rejected" where the input of the ` +
			`dataset has the token "rejects", at token 2 of sentence 1; expected the same tokens and empty lines, line for line`}},
		{"EU NNP\nrejects VBZ\n\n-DOCSTART-\nPeter NNP\n", "EU B-ORG\nrejects O\n", []string{
			`run warning: the run ends after 2 of the 3 tokens of the input of the dataset; the next one is "Peter", at token 1 of sentence 2`}},
		{"EU\nrejects\n", "EU B-ORG\nrejects O\n", nil},
		{"EU\nrejects\n", "Peter B-PER\n", nil}, // the inputs are other texts
		{"EU\nrejects\n", "EU PER\n", []string{`run:1 error: the last column is "PER"…`,
			`run:1 warning: the sentence ends where the input of the dataset has the token "rejects"…`}},
	} {
		known, err := spans.KnownInput(t.Context(), measuretest.File("input", test.input))
		if err != nil {
			t.Fatal(err)
		}
		found, err := known.Compare(t.Context(), measuretest.File("run", test.run))
		if err != nil {
			t.Fatal(err)
		}
		measuretest.Expect(t, found, test.diagnostics...)
	}
	for _, text := range []string{"", "1 A lake\n2 A large river\n", strings.Repeat("a ", 70)} {
		if known, err := spans.KnownInput(t.Context(), measuretest.File("input", text)); known != nil || err != nil {
			t.Errorf("%q has tokens", text)
		}
	}
}

// million writes a million tokens in sentences of 20, or documents with about as many characters. Three of ten units are in spans of four
// types.
func million(format string) string {
	var b strings.Builder
	for i := range 1_000_000 / 20 {
		if format == measure.JSONL {
			fmt.Fprintf(&b, `{"id": "document-%d", "spans": [`, i)
			for j := range 3 {
				fmt.Fprintf(&b, `%s{"start": %d, "end": %d, "type": "TYPE%d"}`, ", "[:2*min(j, 1)], 30*j, 30*j+(i+j)%20+5, (i+j)%4)
			}
			b.WriteString("]}\n")
			continue
		}
		for j := range 20 {
			tag := "O"
			if j%7 < 2 {
				tag = "BI"[j%7:j%7+1] + "-TYPE" + strconv.Itoa((i+j/7)%4)
			}
			fmt.Fprintf(&b, "token%d NN B-NP %s\n", (i*j)%1000, tag)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func benchmarkMillion(b *testing.B, format measure.Format, names ...string) {
	text := million(format.Kind)
	b.SetBytes(2 * int64(len(text)))
	for b.Loop() {
		e := evaluate(b, read(b, format, text, names...), text)
		if *e.Result.Measures[names[0]] != 1 {
			b.Fatal(measuretest.Lines(e.Diagnostics))
		}
	}
}

func BenchmarkEvaluate_MillionTokens(b *testing.B) {
	benchmarkMillion(b, conll, "F1(average=micro)", "F1(average=macro,scheme=IOB2)", "DocumentF1")
}

func BenchmarkEvaluate_FiftyThousandDocuments(b *testing.B) {
	benchmarkMillion(b, jsonl, "F1(average=micro)", "F1(average=macro,overlap=proportional)", "DocumentF1")
}
