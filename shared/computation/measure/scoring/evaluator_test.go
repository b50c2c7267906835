package scoring_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/scoring"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

var (
	retrievalSettings = scoring.Settings{
		Kind: measure.Retrieval, Measures: []string{"AP", "RR@10"}, Format: measure.Format{Kind: measure.TRECRun},
	}
	classificationSettings = scoring.Settings{
		Kind: measure.Classification, Measures: []string{"Accuracy", "Kappa", "F1( positive = 'yes' )"},
		Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"},
	}
	regressionSettings = scoring.Settings{
		Kind: measure.Regression, Measures: []string{"MAE", "Pearson"},
		Format: measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "y"},
	}
)

var clusteringSettings = scoring.Settings{
	Kind: measure.Clustering, Measures: []string{"ARI", "Purity"},
	Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"},
}

var textSettings = scoring.Settings{
	Kind: measure.Text, Measures: []string{"EM", "chrF++"},
	Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"},
}

var spansSettings = scoring.Settings{
	Kind: measure.Spans, Measures: []string{"F1(average=micro)", "DocumentIoU"},
	Format: measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "label"},
}

var multilabelSettings = scoring.Settings{
	Kind: measure.Multilabel, Measures: []string{"ExactMatch", "F1(average=samples)"},
	Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label", Separator: " "},
}

var probabilitiesSettings = scoring.Settings{
	Kind: measure.Probabilities, Measures: []string{"AUC(average=macro)", "Brier"},
	Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"},
}

func file(name, content string) scoring.File {
	return scoring.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// readTruth reads a truth and expects no diagnostics.
func readTruth(t *testing.T, s scoring.Settings, content string) *scoring.Evaluator {
	t.Helper()
	truth, diagnostics, err := scoring.ReadTruth(t.Context(), s, []scoring.File{file("truth", content)})
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(err, diagnostics)
	}
	return truth
}

func values(r measure.Result) map[string]string {
	all := map[string]string{}
	for name, value := range r.Measures {
		if value == nil {
			all[name] = "none: " + r.Reasons[name]
		} else {
			all[name] = fmt.Sprint(*value)
		}
	}
	return all
}

func TestEvaluate_OfEachKind(t *testing.T) {
	for _, test := range []struct {
		settings   scoring.Settings
		truth, run string
		want       map[string]string
	}{
		{retrievalSettings, "1 0 a 1\n1 0 b 0\n", "1 Q0 b 1 2.0 x\n1 Q0 a 2 1.0 x\n", map[string]string{"AP": "0.5", "RR@10": "0.5"}},
		{classificationSettings, "id,label\n1,yes\n2,no\n", "id,label\n2,yes\n1,yes\n", map[string]string{
			"Accuracy": "0.5", "Kappa": "0", "F1(positive=yes)": "0.6666666666666666"}},
		{regressionSettings, `{"id":1,"y":1}` + "\n" + `{"id":2,"y":2}`, `{"id":2,"y":3}` + "\n" + `{"id":1,"y":3}`, map[string]string{
			"MAE": "1.5", "Pearson": "none: all predicted values are equal"}},
		{clusteringSettings, "id,label\n1,a\n2,b\n3,b\n", "id,label\n2,x\n1,y\n3,x\n", map[string]string{"ARI": "1", "Purity": "1"}},
		{textSettings, "id,label\n1,a lake\n2,\n", "id,label\n2,\n1,The Lake.\n", map[string]string{
			"EM": "1", "chrF(word_order=2)": "17.86013100019124"}},
		{probabilitiesSettings, "id,label\n1,a\n2,b\n", "b,id,a\n0.5,1,0.5\n1,2,0\n", map[string]string{
			"AUC(average=macro)": "1", "Brier": "0.125"}},
		{multilabelSettings, "id,label\n1,a b\n2,\n3,b\n", "id,label\n2,\n1,b a\n3,a b\n", map[string]string{
			"ExactMatch": "0.6666666666666666", "F1(average=samples)": "0.5555555555555555"}},
	} {
		t.Run(string(test.settings.Kind), func(t *testing.T) {
			truth := readTruth(t, test.settings, test.truth)
			e, err := truth.Read(t.Context(), []scoring.File{file("run", test.run)})
			if err != nil || len(e.Diagnostics) > 0 {
				t.Fatal(e, err)
			}
			if got := values(e.Result); !maps.Equal(got, test.want) {
				t.Errorf("measured %v, want %v", got, test.want)
			}
			diagnostics, err := scoring.ValidateRun(t.Context(), test.settings, []scoring.File{file("run", test.run)})
			if err != nil || len(diagnostics) > 0 {
				t.Errorf("a good run is not valid: %v, %v", diagnostics, err)
			}
			if version := scoring.Version(test.settings.Kind); !strings.HasPrefix(version, string(test.settings.Kind)+"/") {
				t.Errorf("the evaluator has the version %q", version)
			}
		})
	}
}

func TestEvaluate_ReportsFaults(t *testing.T) {
	for _, s := range []scoring.Settings{retrievalSettings, classificationSettings, regressionSettings, clusteringSettings, textSettings,
		multilabelSettings, probabilitiesSettings} {
		t.Run(string(s.Kind), func(t *testing.T) {
			good := map[measure.Kind]string{
				measure.Retrieval: "1 0 a 1\n", measure.Classification: "id,label\n1,yes\n", measure.Regression: `{"id":1,"y":1}`,
				measure.Clustering: "id,label\n1,yes\n", measure.Text: "id,label\n1,yes\n", measure.Multilabel: "id,label\n1,yes no\n",
				measure.Probabilities: "id,label\n1,yes\n",
			}[s.Kind]
			bad := []scoring.File{file("bad", "one two\n")}
			check := func(diagnostics []measure.Diagnostic, err error) {
				t.Helper()
				if err != nil || len(diagnostics) == 0 || diagnostics[0].Severity != measure.Error || diagnostics[0].File != "bad" ||
					diagnostics[0].Line != 1 {
					t.Errorf("diagnostics %v, error %v; want an error on line 1 of bad", diagnostics, err)
				}
			}
			truth, diagnostics, err := scoring.ReadTruth(t.Context(), s, bad)
			check(diagnostics, err)
			if truth != nil {
				t.Error("a bad truth is there")
			}
			e, err := readTruth(t, s, good).Read(t.Context(), bad)
			if err != nil {
				t.Fatal(err)
			}
			check(e.Diagnostics, nil)
			if len(e.Result.Measures) > 0 {
				t.Errorf("a bad run has the measures %v", values(e.Result))
			}
			check(scoring.ValidateRun(t.Context(), s, bad))
			if diagnostics, err = scoring.ValidateRun(t.Context(), s, nil); err != nil || len(diagnostics) == 0 {
				t.Errorf("a run without files has the diagnostics %v, error %v", diagnostics, err)
			}
		})
	}
}

func TestEvaluate_ReturnsWarnings(t *testing.T) {
	truth := readTruth(t, classificationSettings, "id,label\n1,yes\n2,no\n")
	e, err := truth.Read(t.Context(), []scoring.File{file("run", "id,label\n1,Yes\n2,no\n")})
	if err != nil || len(e.Diagnostics) != 1 || len(e.Result.Warnings) != 1 || e.Result.Measures["Accuracy"] == nil {
		t.Errorf("evaluation %+v, error %v", e, err)
	}
}

func TestReadTruth_WarnsOfUnknownLabels(t *testing.T) {
	truth, diagnostics, err := scoring.ReadTruth(t.Context(), classificationSettings, []scoring.File{file("truth", "id,label\n1,Yes\n")})
	if err != nil || truth == nil || len(diagnostics) != 1 || diagnostics[0].Severity != measure.Warning ||
		!strings.HasPrefix(diagnostics[0].Message, "F1(positive=yes) has no value for any run") {
		t.Errorf("diagnostics %v, error %v", diagnostics, err)
	}
}

func TestValidateRun_ComparesWithTheInputs(t *testing.T) {
	for name, c := range map[string]struct {
		settings          scoring.Settings
		file, inputs, run string
		want              []string
	}{
		"topics": {retrievalSettings, "topics.tsv", "1\twhat\n2\twho\n", "1 Q0 a 1 1 t\n3 Q0 a 1 1 t\n", []string{
			`run warning: topics missing from the run: 1 of 2 topics of the inputs of the dataset: "2"`,
			`run warning: topics that are not in the inputs of the dataset: 1 of 2 topics of the run: "3"`,
		}},
		"documents": {retrievalSettings, "documents.tsv", "a\ttext\nb\ttext\n", "1 Q0 a 1 2 t\n1 Q0 c 2 1 t\n", []string{
			`run warning: documents that are not in the inputs of the dataset: 1 of 2 documents that the run has over all topics: "c"`,
		}},
		"items in JSON lines": {classificationSettings, "items.jsonl", `{"id":1,"text":"a"}`, "id,label\n1,yes\n2,no\n", []string{
			`run warning: ids that are not in the inputs of the dataset: 1 of 2 ids of the run: "2"`,
		}},
		"items in CSV": {regressionSettings, "items.csv", "id,text\n1,a\n2,b\n", `{"id":1,"y":1}`, []string{
			`run warning: there is no prediction for 1 of 2 ids of the inputs of the dataset: "2"`,
		}},
		"no tokens": {scoring.Settings{Kind: measure.Spans, Measures: []string{"DocumentF1"},
			Format: measure.Format{Kind: measure.CoNLL}}, "topics.tsv", "1\twhat\n", "a B-X\n", nil},
		"tokens": {scoring.Settings{Kind: measure.Spans, Measures: []string{"DocumentF1"}, Format: measure.Format{Kind: measure.CoNLL}},
			"tokens.txt", "a\nb\n", "a B-X\nc O\n", []string{`run:2 warning: the token "c" where the input of the dataset has the token "b", ` +
				`at token 2 of sentence 1; expected the same tokens and empty lines, line for line`}},
		"texts": {spansSettings, "texts.jsonl", `{"id":1,"text":"a😀b"}` + "\n" + `{"id":2,"text":"é"}` + "\n" + `{"id":3,"text":"ab"}` + "\n" +
			`{"id":4}`, `{"id":1,"label":[{"start":3,"end":4}]}` + "\n" + `{"id":2,"label":[{"start":0,"end":2}]}` + "\n" +
			`{"id":3,"label":[{"start":0,"end":2}]}` + "\n" + `{"id":4,"label":[{"start":0,"end":9}]}`, []string{
			"run:1 warning: the span from 3 to 4 ends after the 3 characters of the text in the inputs of the dataset; the likely cause: offsets " +
				"count UTF-16 units or bytes, and not characters",
			"run:2 warning: the span from 0 to 2 ends after the 1 character of the text in the inputs of the dataset; the likely cause: offsets " +
				"count bytes, and not characters"}},
		"texts in CSV": {spansSettings, "texts.csv", "text,id\nab,1\n", `{"id":1,"label":[{"start":1,"end":9}]}` + "\n" + `{"id":2,"label":[]}`, []string{
			"run:1 warning: the span from 1 to 9 ends after the 2 characters of the text in the inputs of the dataset",
			`run warning: ids that are not in the inputs of the dataset: 1 of 2 ids of the run: "2"`}},
		"a text in the run": {spansSettings, "texts.jsonl", `{"id":1,"text":"ab"}`, `{"id":1,"text":"a","label":[{"start":1,"end":9}]}`, []string{
			"run:1 warning: the span from 1 to 9 ends after the 1 character of the text"}},
		"only a header": {classificationSettings, "items.csv", "id,text\n1,a\n2,b\n", "id,label\n", []string{
			`run error: the file is empty or has no examples; expected one for each line, with the fields "id" and "label"`}},
		"JSON for csv": {classificationSettings, "items.csv", "id,text\n1,a\n2,b\n", `{"id": "1", "label": "yes"}` + "\n", []string{
			`run error: the file is JSON; expected csv with the fields "id" and "label": write a line for each item, ` +
				"with its id and its value"}},
		"an id twice": {classificationSettings, "items.csv", "id,text\n1,a\n2,b\n", "id,label\n1,yes\n2,no\n1,yes\n", []string{
			"run:4 error: the id \"1\" was given before, on line 2; expected every id once"}},
		"nothing known": {classificationSettings, "readme.md", "a text\n", "id,label\n1,yes\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.settings
			known, err := scoring.ReadInputs(t.Context(), s, []scoring.File{file(c.file, c.inputs)})
			if err != nil {
				t.Fatal(err)
			}
			diagnostics, err := scoring.ValidateRun(t.Context(), s, []scoring.File{file("run", c.run)}, known)
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, diagnostics, c.want...)
		})
	}
}

// TestEvaluate_OfManyRunsAtOnce evaluates runs concurrently. It is most useful under the race detector.
func TestEvaluate_OfManyRunsAtOnce(t *testing.T) {
	truth := readTruth(t, classificationSettings, "id,label\n1,yes\n2,no\n3,yes\n")
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			label := []string{"yes", "no", fmt.Sprint("new", i)}[i%3]
			content := fmt.Sprintf("id,label\n3,%[1]s\n2,%[1]s\n1,%[1]s\n", label)
			if i%3 == 2 {
				content = fmt.Sprintf("id,label\n3,%s\n2,yes\n1,no\n", label)
			}
			e, err := truth.Read(t.Context(), []scoring.File{file("run", content)})
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := *e.Result.Measures["Accuracy"], []float64{2. / 3, 1. / 3, 0}[i%3]; got != want {
				t.Errorf("accuracy of %s is %v, want %v", label, got, want)
			}
		})
	}
	wait.Wait()
}

// tracked counts open files.
type tracked struct {
	io.Reader
	open *int
}

func (f tracked) Close() error {
	*f.open--
	return nil
}

func TestContents_OpenFilesWhenRead(t *testing.T) {
	open, opened := 0, 0
	counted := func(name, content string) scoring.File {
		return scoring.File{Name: name, Open: func() (io.ReadCloser, error) {
			open++
			opened++
			return tracked{strings.NewReader(content), &open}, nil
		}}
	}
	broken := errors.New("broken")
	failing := scoring.File{Name: "failing", Open: func() (io.ReadCloser, error) { return nil, broken }}
	for _, s := range []scoring.Settings{retrievalSettings, classificationSettings} {
		one, two := "1 0 a 1\n", "2 0 a 1\n"
		if s.Kind == measure.Classification {
			one, two = "id,label\n1,yes\n", "id,label\n2,yes\n"
		}
		opened = 0
		if _, diagnostics, err := scoring.ReadTruth(t.Context(), s, []scoring.File{counted("one", one), counted("two", two)}); err != nil ||
			len(diagnostics) > 0 {
			t.Fatal(err, diagnostics)
		}
		if opened != 2 || open != 0 {
			t.Errorf("%s: %d opened and %d left open, want 2 and 0", s.Kind, opened, open)
		}
		opened = 0
		_, _, err := scoring.ReadTruth(t.Context(), s, []scoring.File{counted("one", one), failing, counted("two", two)})
		if !errors.Is(err, broken) || opened != 1 || open != 0 {
			t.Errorf("%s: error %v, %d opened and %d left open; want %v, 1 and 0", s.Kind, err, opened, open, broken)
		}
	}
}

func TestReadTruth_StopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []scoring.Settings{retrievalSettings, classificationSettings, regressionSettings} {
		if _, _, err := scoring.ReadTruth(ctx, s, []scoring.File{file("truth", "1 0 a 1\n")}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", s.Kind, err)
		}
	}
}

func TestCheck_ReportsInvalidSettings(t *testing.T) {
	measures := func(s scoring.Settings, texts ...string) scoring.Settings {
		s.Measures = texts
		return s
	}
	format := func(s scoring.Settings, kind, id, value string) scoring.Settings {
		s.Format = measure.Format{Kind: kind, IDField: id, ValueField: value}
		return s
	}
	separated := func(s scoring.Settings, kind, separator string) scoring.Settings {
		s.Format.Kind, s.Format.Separator = kind, separator
		return s
	}
	tagsSettings := scoring.Settings{Kind: measure.Spans, Measures: []string{"F1(average=micro,scheme=IOB2)"},
		Format: measure.Format{Kind: measure.CoNLL}}
	unknown := retrievalSettings
	unknown.Kind = "worker"
	for name, c := range map[string]struct {
		settings scoring.Settings
		want     []string // pointers, each with the start of the detail
	}{
		"good retrieval":      {retrievalSettings, nil},
		"good classification": {classificationSettings, nil},
		"good regression":     {regressionSettings, nil},
		"kind":                {unknown, []string{`/evaluator/kind "worker" is not built in; use retrieval, `}},
		"format of retrieval": {format(retrievalSettings, "csv", "id", "label"), []string{
			`/runFormat/kind "csv" does not go with retrieval, but with classification, multilabel, probabilities, regression, clustering, text; use trec-run`}},
		"format of classification": {format(classificationSettings, "trec-run", "", ""), []string{
			`/runFormat/kind "trec-run" does not go with classification, but with retrieval, diversity; use jsonl or csv`}},
		"fields of a trec-run": {format(retrievalSettings, "trec-run", "id", ""), []string{
			"/runFormat/idField the fields of trec-run have no names: leave it out"}},
		"no fields": {format(regressionSettings, "jsonl", "", ""), []string{
			"/runFormat/idField is needed for jsonl", "/runFormat/valueField is needed for jsonl"}},
		"separator": {separated(multilabelSettings, "jsonl", "|"), []string{
			"/runFormat/separator is only for csv of multilabel: leave it out"}},
		"separator of another kind": {separated(classificationSettings, "csv", "|"), []string{
			"/runFormat/separator is only for csv of multilabel"}},
		"separator that is a quote": {separated(multilabelSettings, "csv", "\" "), []string{
			"/runFormat/separator must have at most 8 bytes, and no quote"}},
		"separator that is long": {separated(multilabelSettings, "csv", "123456789"), []string{
			"/runFormat/separator must have at most 8 bytes"}},
		"separator of tabs": {separated(multilabelSettings, "csv", "\t"), nil},
		"one field for both": {format(regressionSettings, "jsonl", "y", "y"), []string{
			"/runFormat/valueField must be another field than idField"}},
		"fields of conll": {format(tagsSettings, "conll", "", "spans"), []string{
			"/runFormat/valueField the fields of conll have no names: leave it out"}},
		"a scheme of spans of characters": {format(tagsSettings, "jsonl", "id", "spans"), []string{
			"/evaluator/measures/0 scheme is only for the format conll: leave it out"}},
		"no measures": {measures(regressionSettings), []string{"/evaluator/measures needs at least one measure"}},
		"measures": {measures(regressionSettings, "MAE", "mae", "F1", "MAE"), []string{
			`/evaluator/measures/1 measure "mae": there is no regression measure "mae"; did you mean MAE?`,
			`/evaluator/measures/2 measure "F1": there is no regression measure "F1"`,
			"/evaluator/measures/3 MAE is the same measure as MAE; name it once"}},
		"same measure written otherwise": {measures(retrievalSettings, "AP", "MAP(rel=1)"), []string{
			"/evaluator/measures/1 MAP(rel=1) is the same measure as AP; name it once"}},
		"format and measures at once": {format(measures(regressionSettings, "AP"), "xml", "id", "y"), []string{
			`/runFormat/kind "xml" does not go with regression; use jsonl or csv`, `/evaluator/measures/0 measure "AP"`}},
	} {
		problems := lists.Map(scoring.Check(c.settings), func(f problem.Field) string { return f.Pointer + " " + f.Detail })
		if !slices.EqualFunc(problems, c.want, strings.HasPrefix) {
			t.Errorf("%s: problems are\n%s\nwant\n%s", name, strings.Join(problems, "\n"), strings.Join(c.want, "\n"))
		}
		if _, _, err := scoring.ReadTruth(t.Context(), c.settings, []scoring.File{file("truth", "")}); (err != nil) != (len(c.want) > 0) {
			t.Errorf("%s: ReadTruth has the error %v", name, err)
		}
	}
}
