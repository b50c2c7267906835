package scoring_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// pair is a truth and a run of one kind, as lines. Each line has one id.
type pair struct {
	kind       measure.Kind
	format     measure.Format
	header     string // of both files
	truth, run []string
}

// idOf returns the id of a line of a pair.
func idOf(line string) string {
	if match := jsonID.FindStringSubmatch(line); match != nil {
		return match[1]
	}
	id, _, _ := strings.Cut(strings.Replace(line, ",", " ", 1), " ")
	return id
}

var jsonID = regexp.MustCompile(`^{"id":"?(\w+)`)

// withID returns a line of a pair with another id.
func withID(line, id string) string {
	at := strings.Index(line, idOf(line))
	return line[:at] + id + line[at+len(idOf(line)):]
}

// drawPair draws a truth and a run. Some runs lack ids, repeat ids, or have ids that the truth lacks.
func drawPair(t *rapid.T, kind measure.Kind) (p pair) {
	p.kind = kind
	switch kind {
	case measure.Retrieval, measure.Diversity:
		p.format = measure.Format{Kind: measure.TRECRun}
		for i := range rapid.IntRange(1, 8).Draw(t, "n") {
			topic := rapid.IntRange(0, 4).Draw(t, "topic")
			grade := rapid.IntRange(-1, 2).Draw(t, "grade")
			p.truth = append(p.truth, fmt.Sprintf("%d %d d%d %d\n", topic, i%3, i, grade))
			p.run = append(p.run, fmt.Sprintf("%d Q0 d%d %d %d x\n", topic, i+grade%2, i, rapid.IntRange(0, 5).Draw(t, "score")))
		}
	case measure.Spans:
		p.format = measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "x"}
		spans := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{`{"start":0,"end":2}`, `{"start":1,"end":2,"type":"a"}`,
			`{"start":2,"end":4,"type":"a"}`, `{"start":0,"end":9,"type":"b"}`}), 0, 3, rapid.ID)
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			text := rapid.SampledFrom([]string{"", `,"text":"a😀bcé"`}).Draw(t, "text")
			line := func(name string) string {
				return fmt.Sprintf("{\"id\":\"i%d\",\"x\":[%s]%s}\n", i, strings.Join(spans.Draw(t, name), ","), text)
			}
			p.truth, p.run = append(p.truth, line("true")), append(p.run, line("predicted"))
		}
	default:
		var truth, run string
		p.format, truth, run = extremeFiles(t, kind)
		if kind == measure.Text && rapid.Bool().Draw(t, "missing texts") {
			truth = strings.ReplaceAll(truth, `"The"`, `"nan"`)
			run = strings.ReplaceAll(run, `"The"`, `"nan"`)
		}
		p.truth = slices.Collect(strings.Lines(truth))
		p.run = slices.Collect(strings.Lines(run))
	}
	if kind == measure.Classification && rapid.Bool().Draw(t, "csv") {
		p.format.Kind, p.header = measure.CSV, "id,x\n"
		inCSV := func(line string) string { return strings.NewReplacer(`{"id":`, "", `"x":`, "", "}", "").Replace(line) }
		p.truth, p.run = lists.Map(p.truth, inCSV), lists.Map(p.run, inCSV)
	}
	p.run = rapid.Permutation(p.run).Draw(t, "order")
	line := func(name string) string { return rapid.SampledFrom(p.run).Draw(t, name) }
	switch rapid.SampledFrom([]string{"equal ids", "extra ids", "a missing id", "a repeated id"}).Draw(t, "ids") {
	case "extra ids":
		p.run = append(p.run, withID(line("first"), "90"), withID(line("second"), "91"))
	case "a missing id":
		p.run = p.run[min(1, len(p.run)-1):]
	case "a repeated id":
		p.run = append(p.run, line("repeated"))
	}
	return p
}

// cut returns the pair with only the lines of selected ids.
func (p pair) cut(selected map[string]bool) pair {
	without := func(line string) bool { return !selected[idOf(line)] }
	p.truth = slices.DeleteFunc(slices.Clone(p.truth), without)
	p.run = slices.DeleteFunc(slices.Clone(p.run), without)
	return p
}

// file returns the truth or the run as a file.
func (p pair) file(name string, lines []string) []measure.File {
	return []measure.File{measuretest.File(name, p.header+strings.Join(lines, ""))}
}

// outcome is what a Computation makes of a pair.
type outcome struct {
	Extent     string
	Shape      measure.Shape
	Topics     int
	Steps      int
	Contents   string
	Faults     []string
	OfTruth    []measure.Diagnostic
	OfRun      []measure.Diagnostic
	OfKnown    []measure.Diagnostic
	Result     measure.Result
	Examples   int
	Resampled  *float64
	EveryTopic map[string]map[string]float64
}

// evaluate reads the truth with the options, and evaluates the run.
func (p pair) evaluate(t *rapid.T, asked []measure.Measure, options measure.Options) (o outcome) {
	ctx := t.Context()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	truth, found, err := scoring.Computations[p.kind].ReadTruth(ctx, p.format, options, asked, p.file("truth", p.truth))
	check(err)
	o.OfTruth = found
	if truth == nil {
		return o
	}
	counter := steps.Of(ctx)
	contents := truth.Contents(counter)
	o.Contents, o.Faults = contents.Text, contents.Faults
	o.Extent, o.Shape = truth.Extent, truth.Shape
	o.Topics, o.Steps = truth.Topics, truth.Steps(asked)
	for _, public := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		if known := truth.Known(public[0], public[1]); known != nil {
			found, err := known.Compare(ctx, p.file("run", p.run)...)
			check(err)
			o.OfKnown = append(o.OfKnown, found...)
		}
	}
	e, err := truth.Evaluate(ctx, p.file("run", p.run))
	check(err)
	o.OfRun = e.Diagnostics
	o.Result, o.Examples = e.Result, e.Examples
	if e.Resample != nil {
		o.Resampled = e.Resample(counter, make([]int, 3))
	}
	if e.EveryTopic != nil {
		o.EveryTopic, err = e.EveryTopic(ctx)
		check(err)
	}
	return o
}

// only returns the option that selects ids.
func only(selects func(id string) bool) func() measure.Selector {
	return func() measure.Selector { return func(id []byte) bool { return selects(string(id)) } }
}

// withoutLines removes the numbers of lines from diagnostics.
func withoutLines(list []measure.Diagnostic) []measure.Diagnostic {
	return lists.Map(list, func(d measure.Diagnostic) measure.Diagnostic {
		d.Line, d.Lines = 0, ""
		d.Message = lineNumber.ReplaceAllString(d.Message, "line N")
		return d
	})
}

var lineNumber = regexp.MustCompile(`line \d+`)

// ofWholeRuns match errors that only whole files have; see measure.Options.
var ofWholeRuns = regexp.MustCompile(`^(the file is empty|none of the labels predicted|none of the topics of the run \(\))`)

// TestOptions_SelectWhatFilesCutByHandHave compares parts of truths with truths of which the other lines were cut off: values, values by
// topic and example, diagnostics and descriptions.
func TestOptions_SelectWhatFilesCutByHandHave(t *testing.T) {
	for _, kind := range measure.Kinds() {
		compared := 0
		all := measuretest.Parse(t, measure.Kind(kind), variants(*measure.EvaluatorOf(measure.Kind(kind)))...)
		t.Run(kind, func(t *testing.T) {
			nightlytest.Check(t, func(t *rapid.T) {
				p := drawPair(t, measure.Kind(kind))
				asked := slices.DeleteFunc(slices.Clone(all), func(m measure.Measure) bool { return m.FormatFault(p.format.Kind) != "" })
				selected := map[string]bool{"90": rapid.Bool().Draw(t, "selects 90"), "91": rapid.Bool().Draw(t, "selects 91")}
				for _, line := range p.truth {
					selected[idOf(line)] = rapid.Bool().Draw(t, "selects "+idOf(line))
				}
				extra := rapid.SampledFrom([]measure.ExtraIDs{"", measure.RefuseExtraIDs, measure.IgnoreExtraIDs}).Draw(t, "extra ids")
				got := p.evaluate(t, asked, measure.Options{ExtraIDs: extra, Only: only(func(id string) bool { return selected[id] })})
				cut := p.cut(selected)
				if len(cut.truth) == 0 {
					if lines := measuretest.Lines(got.OfTruth); !slices.Equal(lines, []string{"truth error: " + measure.NothingSelected}) {
						t.Fatal(lines)
					}
					return
				}
				want := cut.evaluate(t, asked, measure.Options{ExtraIDs: extra})
				ofWhole := func(d measure.Diagnostic) bool { return ofWholeRuns.MatchString(d.Message) }
				if slices.ContainsFunc(got.OfRun, ofWhole) || slices.ContainsFunc(got.OfKnown, ofWhole) {
					t.Fatalf("the part has the error of a whole run: %v, %v", got.OfRun, got.OfKnown)
				}
				want.OfKnown = slices.DeleteFunc(want.OfKnown, ofWhole)
				if slices.ContainsFunc(want.OfRun, ofWhole) {
					return
				}
				compared++
				for _, list := range []*[]measure.Diagnostic{&got.OfTruth, &got.OfRun, &got.OfKnown, &got.Result.Warnings,
					&want.OfTruth, &want.OfRun, &want.OfKnown, &want.Result.Warnings} {
					*list = withoutLines(*list)
				}
				of := reflect.TypeFor[outcome]()
				for i := range of.NumField() {
					part := reflect.ValueOf(got).Field(i).Interface()
					whole := reflect.ValueOf(want).Field(i).Interface()
					if !reflect.DeepEqual(part, whole) {
						t.Fatalf("%s of %v in\n%s\nand\n%s\nis\n%+v\nand of files cut by hand\n%+v", of.Field(i).Name, selected, p.truth, p.run, part, whole)
					}
				}
			})
		})
		if compared == 0 {
			t.Errorf("no part of %s was compared", kind)
		}
	}
}

// TestOptions_SayWhatBecomesOfExtraIDs evaluates runs with an id that the truth lacks.
func TestOptions_SayWhatBecomesOfExtraIDs(t *testing.T) {
	refused := `run:2 error: the truth has no id "2"; expected only ids of the truth`
	ignored := `run warning: ids that are not in the truth and do not count: 1 of 2 ids of the run: "2"`
	labels := measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "x"}
	for kind, c := range map[measure.Kind]struct {
		format                  measure.Format
		truth, run, name        string
		usual, refused, ignored string
	}{
		measure.Classification: {labels, `{"id":1,"x":"a"}`, `{"id":1,"x":"a"}` + "\n" + `{"id":2,"x":"a"}`, "Accuracy", refused, refused, ignored},
		measure.Text:           {labels, `{"id":1,"x":"a"}`, `{"id":1,"x":"a"}` + "\n" + `{"id":2,"x":"a"}`, "EM", refused, refused, ignored},
		measure.Spans:          {labels, `{"id":1,"x":[]}`, `{"id":1,"x":[]}` + "\n" + `{"id":2,"x":[]}`, "DocumentF1", refused, refused, ignored},
		measure.Retrieval: {measure.Format{Kind: measure.TRECRun}, "1 0 a 1\n", "1 Q0 a 1 2 x\n2 Q0 b 1 1 x\n", "AP",
			`run warning: topics that are not in the truth and do not count: 1 of 2 topics of the run: "2"`,
			`run error: topics that are not in the truth; leave them out: 1 of 2 topics of the run: "2"`,
			`run warning: topics that are not in the truth and do not count: 1 of 2 topics of the run: "2"`},
	} {
		for extra, want := range map[measure.ExtraIDs]string{"": c.usual, measure.RefuseExtraIDs: c.refused, measure.IgnoreExtraIDs: c.ignored} {
			t.Run(string(kind)+" "+string(extra), func(t *testing.T) {
				truth, found, err := scoring.Computations[kind].ReadTruth(t.Context(), c.format, measure.Options{ExtraIDs: extra},
					measuretest.Parse(t, kind, c.name), []measure.File{measuretest.File("truth", c.truth)})
				if err != nil || truth == nil {
					t.Fatal(found, err)
				}
				run := func() []measure.File { return []measure.File{measuretest.File("run", c.run)} }
				e, err := truth.Evaluate(t.Context(), run())
				if err != nil {
					t.Fatal(err)
				}
				measuretest.Expect(t, e.Diagnostics, want)
				if value := e.Result.Measures[c.name]; (value == nil) != measure.HasErrors(e.Diagnostics) || value != nil && *value != 1 {
					t.Errorf("%s is %v", c.name, value)
				}
				ofKnown, err := truth.Known(true, false).Compare(t.Context(), run()...)
				if err != nil {
					t.Fatal(err)
				}
				measuretest.Expect(t, ofKnown, want)
			})
		}
	}
}

// TestOptions_KeepWhatOnlyWholeFilesShow evaluates parts of runs that would be refused as whole runs.
func TestOptions_KeepWhatOnlyWholeFilesShow(t *testing.T) {
	items := measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "x"}
	topics := measure.Format{Kind: measure.TRECRun}
	for name, c := range map[string]struct {
		kind       measure.Kind
		format     measure.Format
		truth, run string
		measure    string
		want       []string
		value      float64
	}{
		"no label of the part": {measure.Classification, items, "id,x\n1,a\n2,b\n", "id,x\n1,b\n2,b\n", "Accuracy",
			[]string{`run:2 warning: the truth has no label "b"; every prediction of it counts as wrong`}, 0},
		"no topic of the part": {measure.Retrieval, topics, "1 0 a 1\n2 0 b 1\n", "2 Q0 b 1 1 x\n", "AP", []string{
			`run warning: topics missing from the run, which count with nothing retrieved: 1 of 1 topic of the truth: "1"`}, 0},
		"a fault elsewhere": {measure.Regression, items, "id,x\n1,1\n2,2\n", "id,x\n1,1\n2,two\n", "MAE",
			[]string{`run:3 error: "x" is "two"; expected a finite decimal number such as -1.5 or 2e-3`}, math.NaN()},
		"a repeated id elsewhere": {measure.Regression, items, "id,x\n1,1\n2,2\n", "id,x\n1,1\n2,2\n2,2\n", "MAE", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			truth, found, err := scoring.Computations[c.kind].ReadTruth(t.Context(), c.format,
				measure.Options{Only: only(func(id string) bool { return id == "1" })},
				measuretest.Parse(t, c.kind, c.measure), []measure.File{measuretest.File("truth", c.truth)})
			if err != nil || truth == nil {
				t.Fatal(found, err)
			}
			e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", c.run)})
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, e.Diagnostics, c.want...)
			value := e.Result.Measures[c.measure]
			if (value == nil) != math.IsNaN(c.value) || value != nil && *value != c.value {
				t.Errorf("%s is %v, want %v", c.measure, value, c.value)
			}
		})
	}
}

// TestOptions_NeedIDs reads tokens, which have none.
func TestOptions_NeedIDs(t *testing.T) {
	for _, options := range []measure.Options{{Only: only(func(string) bool { return true })}, {ExtraIDs: measure.IgnoreExtraIDs}} {
		truth, _, err := scoring.Computations[measure.Spans].ReadTruth(t.Context(), measure.Format{Kind: measure.CoNLL}, options,
			measuretest.Parse(t, measure.Spans, "DocumentF1"), []measure.File{measuretest.File("truth", "a B\n")})
		if truth != nil || err == nil || !strings.Contains(err.Error(), "have no ids") {
			t.Errorf("tokens were read: %v", err)
		}
	}
}
