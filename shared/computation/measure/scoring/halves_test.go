package scoring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// halvesCase is a truth with halves and a run, and the values of scikit-learn for both halves.
type halvesCase struct {
	Kind   measure.Kind       `json:"kind"`
	Truth  []string           `json:"truth"`
	Run    []string           `json:"run"`
	Halves []string           `json:"halves"`
	Values map[string]float64 `json:"values"`
}

// settings returns the settings for the measures of the case.
func (c halvesCase) settings() scoring.Settings {
	s := scoring.Settings{Kind: c.Kind, Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "target"}}
	for _, name := range slices.Sorted(maps.Keys(c.Values)) {
		if name, isPublic := strings.CutPrefix(name, "public:"); isPublic {
			s.Measures = append(s.Measures, name)
		}
	}
	return s
}

// csvOf returns a file with an id and some columns.
func csvOf(header string, columns ...[]string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range columns[0] {
		b.WriteString(fmt.Sprint(i))
		for _, column := range columns {
			b.WriteString("," + column[i])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// readHalves reads a truth with halves. It expects no error.
func readHalves(t *testing.T, s scoring.Settings, truth string) *scoring.Evaluator {
	t.Helper()
	read, found, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", truth)})
	if err != nil || read == nil {
		t.Fatal(found, err)
	}
	return read
}

// TestHalves_EqualScikitLearn compares the values of both halves with those of scikit-learn, for halves in a field of the truth and in a
// file of their own.
func TestHalves_EqualScikitLearn(t *testing.T) {
	text, err := os.ReadFile("testdata/halves/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []halvesCase
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 50 {
		t.Fatal(len(cases), err)
	}
	for i, c := range cases {
		run := []scoring.File{file("run", csvOf("id,target", c.Run))}
		inField := c.settings()
		inField.HalfField = "Usage"
		inFile := c.settings()
		inFile.Halves = []scoring.File{file("halves", csvOf("id,half", c.Halves))}
		for name, truth := range map[string]*scoring.Evaluator{
			"field": readHalves(t, inField, csvOf("id,target,Usage", c.Truth, c.Halves)),
			"file":  readHalves(t, inFile, csvOf("id,target", c.Truth)),
		} {
			e, err := truth.Read(t.Context(), run)
			if err != nil || measure.HasErrors(e.Diagnostics) || len(e.Result.Measures) != len(c.Values) {
				t.Fatal(e.Diagnostics, err)
			}
			for measured, want := range c.Values {
				if got := e.Result.Measures[measured]; got == nil || math.Abs(*got-want) > 1e-9*max(1, math.Abs(want)) {
					t.Errorf("case %d (%s): %s with halves in a %s is %v, want %v", i, c.Kind, measured, name, got, want)
				}
			}
		}
	}
}

// halved returns the settings and the truth of a pair whose ids have halves: in a field of the truth, or in a file of their own.
func (p pair) halved(s scoring.Settings, halves map[string]string, inField bool) (scoring.Settings, string) {
	truth := p.header + strings.Join(p.truth, "")
	switch {
	case !measure.HasFields(p.format.Kind):
		var lines []string
		for id, half := range halves {
			lines = append(lines, id+"\t"+half+"\n")
		}
		s.Halves = []scoring.File{file("halves", strings.Join(lines, ""))}
	case !inField:
		of := p.header
		if of != "" {
			of = "id,half\n"
		}
		for id, half := range halves {
			if p.header == "" {
				of += fmt.Sprintf("{\"id\":%q,\"half\":%q}\n", id, half)
			} else {
				of += id + "," + half + "\n"
			}
		}
		s.Halves = []scoring.File{file("halves", of)}
	default:
		s.HalfField = "Usage"
		truth = strings.Replace(p.header, "x", "x,Usage", 1)
		for _, line := range p.truth {
			half := halves[idOf(line)]
			if p.header == "" {
				line = strings.TrimSuffix(line, "}\n") + fmt.Sprintf(",\"Usage\":%q}\n", half)
			} else {
				line = strings.TrimSuffix(line, "\n") + "," + half + "\n"
			}
			truth += line
		}
	}
	return s, truth
}

// TestHalves_EqualTruthsCutByHand compares both halves with truths and runs of which the other lines were cut off. Diagnostics must be
// those of the whole truth, whatever the half of an id.
func TestHalves_EqualTruthsCutByHand(t *testing.T) {
	for _, kind := range measure.Kinds() {
		compared := 0
		t.Run(kind, func(t *testing.T) {
			nightlytest.Check(t, func(r *rapid.T) {
				p := drawPair(r, measure.Kind(kind))
				halves := map[string]string{}
				for _, line := range p.truth {
					halves[idOf(line)] = rapid.SampledFrom([]string{"public", "Public", "private", "PRIVATE", "Ignored"}).Draw(r, idOf(line))
				}
				names := lists.Map(slices.Sorted(maps.Values(halves)), strings.ToLower)
				if !slices.Contains(names, "public") || !slices.Contains(names, "private") {
					r.Skip()
				}
				settings := scoring.Settings{Kind: p.kind, Format: p.format, Measures: measure.EvaluatorOf(p.kind).Defaults,
					ExtraIDs: rapid.SampledFrom([]measure.ExtraIDs{"", measure.RefuseExtraIDs, measure.IgnoreExtraIDs}).Draw(r, "extra ids")}
				read := func(s scoring.Settings, truth string, lines []string) *scoring.ScoredRun {
					of, found, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", truth)})
					if of == nil {
						r.Fatal(found, err)
					}
					e, err := of.Read(t.Context(), []scoring.File{file("run", p.header+strings.Join(lines, ""))})
					if err != nil {
						r.Fatal(err)
					}
					return e
				}
				s, truth := p.halved(settings, halves, rapid.Bool().Draw(r, "in a field"))
				got := read(s, truth, p.run)
				whole := read(settings, p.header+strings.Join(p.truth, ""), p.run)
				if !slices.Equal(got.Diagnostics, whole.Diagnostics) || !slices.Equal(got.Result.Warnings, whole.Result.Warnings) {
					r.Fatalf("diagnostics with halves are\n%v\nand without\n%v", got.Diagnostics, whole.Diagnostics)
				}
				files := []scoring.File{file("run", p.header+strings.Join(p.run, ""))}
				validated, err := got.Validate(t.Context(), files)
				if alone, _ := scoring.ValidateRun(t.Context(), settings, files); err != nil || !slices.Equal(validated, alone) {
					r.Fatalf("the run is validated with %v, %v, want %v", validated, err, alone)
				}
				if (got.Kept == nil) != (whole.Kept == nil) {
					r.Fatalf("the run is kept: %v, want %v", got.Kept, whole.Kept)
				}
				if measure.HasErrors(whole.Diagnostics) {
					if len(got.Result.Measures) > 0 {
						r.Fatalf("a run with errors has %v", values(got.Result))
					}
					return
				}
				if len(got.Result.Measures) != 2*len(whole.Result.Measures) {
					r.Fatalf("got %v", values(got.Result))
				}
				perTopic := 0
				for _, half := range []string{"public", "private"} {
					selected := map[string]bool{}
					for id, name := range halves {
						selected[id] = strings.EqualFold(name, half)
					}
					cut := p.cut(selected)
					want := read(settings, p.header+strings.Join(cut.truth, ""), cut.run)
					for name, x := range want.Result.Measures {
						y := got.Result.Measures[half+":"+name]
						if (x == nil) != (y == nil) || x != nil && *x != *y || want.Result.Reasons[name] != got.Result.Reasons[half+":"+name] ||
							want.Result.Signatures[name] != got.Result.Signatures[half+":"+name] {
							r.Fatalf("%v of %v: %s:%s is %v, want %v", p, halves, half, name, values(got.Result), values(want.Result))
						}
						compared++
					}
					for id, of := range want.Result.PerTopic {
						perTopic++
						for name, x := range of {
							if y, ok := got.Result.PerTopic[id][half+":"+name]; !ok || x != y || len(got.Result.PerTopic[id]) != len(of) {
								r.Fatalf("%s: %s:%s is %v, want %v", id, half, name, got.Result.PerTopic[id], of)
							}
						}
					}
				}
				if slices.ContainsFunc(slices.Collect(maps.Keys(got.Result.PerTopic)), func(id string) bool {
					return strings.EqualFold(halves[id], "ignored")
				}) {
					r.Fatalf("ignored ids have values: %v of %v", got.Result.PerTopic, halves)
				}
			})
		})
		if compared == 0 {
			t.Errorf("no half of %s was compared", kind)
		}
	}
}

// TestRead_RefusesOrIgnoresExtraIDs evaluates a run with an id that the truth lacks, with and without halves.
func TestRead_RefusesOrIgnoresExtraIDs(t *testing.T) {
	s := labelled("Accuracy")
	run := []scoring.File{file("run", "id,label\n1,a\n2,b\n3,c\n")}
	for extra, want := range map[measure.ExtraIDs]string{
		"":                     `run:4 error: the truth has no id "3"; expected only ids of the truth`,
		measure.RefuseExtraIDs: `run:4 error: the truth has no id "3"; expected only ids of the truth`,
		measure.IgnoreExtraIDs: `run warning: ids that are not in the truth and do not count: 1 of 3 ids of the run: "3"`,
	} {
		for _, field := range []string{"", "Usage"} {
			s.ExtraIDs = extra
			s.HalfField = field
			e, err := readHalves(t, s, "id,label,Usage\n1,a,Public\n2,b,Private\n").Read(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, e.Diagnostics, want)
			for name, value := range e.Result.Measures {
				if *value != 1 {
					t.Errorf("%s is %v", name, *value)
				}
			}
			if (len(e.Result.Measures) > 0) != (extra == measure.IgnoreExtraIDs) {
				t.Errorf("with %q and halves in %q, the run has %v", extra, field, values(e.Result))
			}
		}
	}
}

// TestReadTruth_ReportsFaultsOfHalves reads halves from a field of the truth, or from a file of their own.
func TestReadTruth_ReportsFaultsOfHalves(t *testing.T) {
	csv := classificationSettings
	csv.Measures = []string{"Accuracy"}
	jsonl := csv
	jsonl.Format.Kind = measure.JSONL
	texts := textSettings
	texts.Format.Kind = measure.JSONL
	long := strings.Repeat("long ", 10_000)
	for name, c := range map[string]struct {
		settings      scoring.Settings
		truth, halves string // without halves, they are in the field Usage of the truth
		want          []string
	}{
		"a field":  {csv, "id,Usage,label\n1,Public,a\n2,PRIVATE,b\n3,ignored,b\n", "", nil},
		"a member": {jsonl, `{"id":1,"label":"a","Usage":"Public"}` + "\n" + `{"id":2,"label":"b","Usage":"private"}` + "\n", "", nil},
		"long lines": {texts, `{"id":1,"label":["` + long + `","` + long + `"],"Usage":"public"}` + "\n" +
			`{"id":2,"label":"","Usage":"private"}` + "\n", "", nil},
		"an unknown half": {csv, "id,label,Usage\n1,a,Public\n2,b,dev\n3,b,Private\n4,b,test\n", "", []string{
			`truth:3 error: "Usage" is "dev"; expected public, private or ignored`,
			`truth:5 error: "Usage" is "test"; expected public, private or ignored`}},
		"an empty half": {csv, "id,label,Usage\n1,a,Public\n2,b,\n", "", []string{`truth:3 error: "Usage" is empty; expected a value`}},
		"no field": {csv, "id,label\n1,a\n", "", []string{
			`truth:1 error: the first line names no field "Usage"; it has "id", "label", and fields are separated by commas, tabs or semicolons`}},
		"no member": {jsonl, `{"id":1,"label":"a"}` + "\n", "", []string{
			`truth:1 error: the object has no "Usage", only "id", "label"; expected it in every line`}},
		"no public item": {csv, "id,label,Usage\n1,a,Private\n2,b,ignored\n", "", []string{
			"truth error: no item of the truth is public; expected at least one in the public and one in the private half"}},
		"a file": {csv, "id,label\n1,a\n2,b\n", "half,id\nPublic,2\nPrivate,1\n", nil},
		"faults of a file": {csv, "id,label\n1,a\n2,b\n3,b\n4,b\n", "id,half\n9,public\n1,public\n1,public\n2,no\n", []string{
			`halves:2 warning: the truth has no item "9"; leave this line out, or write the id as in the truth`,
			`halves:4 error: the item "1" was given before; expected each once`,
			`halves:5 error: "half" is "no"; expected public, private or ignored`}},
		"missing ids": {csv, "id,label\n1,a\n2,b\n3,b\n4,b\n", "id,half\n1,public\n3,private\n", []string{
			`halves error: 2 of 4 items of the truth have no half: "2", "4"; expected public, private or ignored for each`}},
		"topics": {retrievalSettings, "1 0 a 1\n2 0 b 1\n3 0 b 1\n", "# topics\n1 public\n2\tPrivate\n3 ignored\n", nil},
		"faults of topics": {retrievalSettings, "1 0 a 1\n2 0 b 1\n", "1 public\n2 private x\n4 public\n2\n1 no\n", []string{
			`halves:2 error: the line has another number of fields than two; expected a topic and its half, separated by spaces or tabs (lines 2 and 4)`,
			`halves:3 warning: the truth has no topic "4"; leave this line out, or write the id as in the truth`,
			`halves:5 error: the half is "no"; expected public, private or ignored`}},
		"topics without a half": {retrievalSettings, "1 0 a 1\n2 0 b 1\n3 0 b 1\n", "1 public\n3 private\n", []string{
			`halves error: 1 of 3 topics of the truth has no half: "2"; expected public, private or ignored for each`}},
		"no topics": {retrievalSettings, "1 0 a 1\n", "# nothing\n", []string{
			"halves error: the file is empty; expected a topic and its half in each line"}},
		"faults of the truth": {csv, "id,label,Usage\n1,a,Public\n1,b,dev\n", "", []string{
			`truth:3 error: the id "1" was given before, on line 2; expected every id once`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.settings
			if c.halves == "" {
				s.HalfField = "Usage"
			} else {
				s.Halves = []scoring.File{file("halves", c.halves)}
			}
			read, found, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", c.truth)})
			if err != nil || (read == nil) != measure.HasErrors(found) {
				t.Fatal(read, err)
			}
			measuretest.Expect(t, found, c.want...)
		})
	}
}
