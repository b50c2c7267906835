package text

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
)

// reference is the content of the file that testdata/reference.py writes.
type reference struct {
	Cases []struct {
		Examples []struct {
			References []string
			Text       string
			Values     map[string]float64
		}
		Values map[string]float64
	}
	Stems   map[string]string
	Classes [][2]any // the first character of each range of characters, and the class of the range
	Lower   map[string]string
	Chinese []rune // the characters that sacrebleu's zh separates
}

var readReference = sync.OnceValues(func() (r reference, err error) {
	f, err := os.Open("testdata/reference.json.gz")
	if err != nil {
		return r, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return r, err
	}
	return r, json.NewDecoder(unpacked).Decode(&r)
})

var format = measure.Format{Kind: measure.JSONL, IDField: "id", ValueField: "text"}

// lines writes a JSON object for each value, with a number as id.
func lines[T any](list []T, value func(T) any) measure.File {
	var b strings.Builder
	for i, x := range list {
		text, _ := json.Marshal(map[string]any{"id": i, "text": value(x)})
		b.Write(append(text, '\n'))
	}
	return measuretest.File("texts.jsonl", b.String())
}

// notWordless leaves out the warnings about texts without words and about Unicode forms, which many of the random texts have.
func notWordless(all []measure.Diagnostic) []measure.Diagnostic {
	return slices.DeleteFunc(all, func(d measure.Diagnostic) bool {
		return strings.Contains(d.Message, " no word for ROUGE") || strings.Contains(d.Message, "different Unicode forms")
	})
}

// TestComputation_EqualsTheReferences compares 500 random files with values of rouge-score, sacrebleu and SQuAD's definition.
func TestComputation_EqualsTheReferences(t *testing.T) {
	all, err := readReference()
	if err != nil || len(all.Cases) != 500 {
		t.Fatal(len(all.Cases), err)
	}
	for i, c := range all.Cases {
		type example = struct {
			References []string
			Text       string
			Values     map[string]float64
		}
		var names []string
		for _, values := range []map[string]float64{c.Values, c.Examples[0].Values} {
			for name := range values {
				names = append(names, name)
			}
		}
		asked := measuretest.Parse(t, measure.Text, names...)
		files := []measure.File{lines(c.Examples, func(e example) any {
			if len(e.References) == 1 && i%2 == 0 {
				return e.References[0]
			}
			return e.References
		})}
		truth, diagnostics, err := Computation.ReadTruth(t.Context(), format, measure.Options{}, asked, files)
		if err != nil || len(notWordless(diagnostics)) > 0 {
			t.Fatal(diagnostics, err)
		}
		e, err := truth.Evaluate(t.Context(), []measure.File{lines(c.Examples, func(e example) any { return e.Text })})
		if err != nil || len(notWordless(e.Diagnostics)) > 0 || len(asked) != 53 || len(e.Result.Measures) != len(asked) {
			t.Fatal(e, err, len(asked))
		}
		check := func(of, name string, got *float64, want float64) {
			if got == nil || math.Abs(*got-want) > 1e-9 {
				t.Errorf("case %d, %s: %s is %v, want %v", i, of, name, got, want)
			}
		}
		for name, want := range c.Values {
			check("all texts", name, e.Result.Measures[name], want)
		}
		for name := range c.Examples[0].Values {
			sum := 0.0
			for j, example := range c.Examples {
				got := e.Result.PerTopic[fmt.Sprint(j)][name]
				check(fmt.Sprintf("%q of %q", example.Text, example.References), name, &got, example.Values[name])
				sum += example.Values[name]
			}
			check("mean", name, e.Result.Measures[name], sum/float64(len(c.Examples)))
		}
	}
}

func TestStem_IsThatOfNLTK(t *testing.T) {
	all, err := readReference()
	if err != nil || len(all.Stems) < 5000 {
		t.Fatal(len(all.Stems), err)
	}
	for word, want := range all.Stems {
		if got := stem(word); got != want {
			t.Errorf("the stem of %s is %s, want %s", word, got, want)
		}
	}
}

func TestLower_IsThatOfPython(t *testing.T) {
	all, err := readReference()
	if err != nil || len(all.Lower) < 1500 {
		t.Fatal(len(all.Lower), err)
	}
	for text, want := range all.Lower {
		if got := lower(text); got != want {
			t.Errorf("%+q in lower case is %+q, want %+q", text, got, want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if text := string(r); all.Lower[text] == "" && lower(text) != text {
			t.Errorf("%U has another lower case", r)
		}
	}
}

// TestCharacters_AreThoseOfPython compares the classes of all characters, except characters that Unicode 15 added: Python 3.11 lacks them.
func TestCharacters_AreThoseOfPython(t *testing.T) {
	all, err := readReference()
	if err != nil || len(all.Classes) < 1000 {
		t.Fatal(len(all.Classes), err)
	}
	for i, run := range all.Classes {
		end, class := rune(unicode.MaxRune+1), run[1].(string)
		if i+1 < len(all.Classes) {
			end = rune(all.Classes[i+1][0].(float64))
		}
		for r := rune(run[0].(float64)); r < end && class != "Cn" && class != "Cs"; r++ {
			if isWord(r) != strings.Contains(class, "w") || isSpace(r) != strings.Contains(class, "s") ||
				unicode.IsNumber(r) != (class[0] == 'N') || unicode.IsPunct(r) != (class[0] == 'P') || unicode.IsSymbol(r) != (class[0] == 'S') {
				t.Errorf("%U is not %s", r, class)
			}
		}
	}
}

func TestChinese_IsThatOfSacrebleu(t *testing.T) {
	all, err := readReference()
	if err != nil || len(all.Chinese) != 32002 {
		t.Fatal(len(all.Chinese), err)
	}
	var separated []rune
	for r := range rune(unicode.MaxRune + 1) {
		if isChinese(r) {
			separated = append(separated, r)
		}
	}
	if !slices.Equal(separated, all.Chinese) {
		t.Errorf("%d characters are separated, want %d", len(separated), len(all.Chinese))
	}
}

// TestComputation_OfOtherScripts compares with values of rouge-score with the tokenizer of testdata/reference.py, and of sacrebleu.
func TestComputation_OfOtherScripts(t *testing.T) {
	asked := measuretest.Parse(t, measure.Text, "ROUGE1", "ROUGE1(tokenize=unicode)", "ROUGE2(tokenize=unicode)", "ROUGEL(tokenize=unicode)",
		"BLEU", "BLEU(tokenize=zh)")
	for reference, c := range map[string]struct {
		text string
		want [6]float64
	}{
		"Президент прибыл в Москву утром.": {"Утром президент приехал в Москву.",
			[6]float64{0, 0.8000000000000002, 0.25, 0.6, 17.965205598154213, 17.965205598154213}},
		"东京是日本的首都,人口约1400万。": {"日本首都东京的人口约为1400万。",
			[6]float64{1.0, 0.9230769230769231, 0.5, 0.6923076923076923, 0, 23.098191831535463}},
		"データは東京にある。": {"東京のデータがある。",
			[6]float64{0, 0.7777777777777778, 0.5, 0.5555555555555556, 0, 27.534765745159184}},
		"แมวนั่งบนเสื่อสีน้ำเงิน": {"แมวสีน้ำเงินนั่งบนเสื่อ",
			[6]float64{0, 1.0, 0.8666666666666667, 0.625, 0, 0}},
		"दिल्ली भारत की राजधानी है।": {"भारत की राजधानी दिल्ली है।",
			[6]float64{0, 1.0, 0.5, 0.8000000000000002, 45.180100180492246, 45.180100180492246}},
		"وصل الرئيس إلى القاهرة ٢٠٢٦": {"الرئيس وصل القاهرة ٢٠٢٦",
			[6]float64{0, 0.888888888888889, 0.28571428571428575, 0.6666666666666665, 29.588031349552907, 29.588031349552907}},
	} {
		truth, diagnostics, err := Computation.ReadTruth(t.Context(), format, measure.Options{}, asked,
			[]measure.File{lines([]string{reference}, func(text string) any { return text })})
		if err != nil || truth == nil {
			t.Fatal(diagnostics, err)
		}
		e, err := truth.Evaluate(t.Context(), []measure.File{lines([]string{c.text}, func(text string) any { return text })})
		if err != nil || measure.HasErrors(e.Diagnostics) {
			t.Fatal(e, err)
		}
		for i, m := range asked {
			if got := *e.Result.Measures[m.String()]; math.Abs(got-c.want[i]) > 1e-9 {
				t.Errorf("%s of %q is %v, want %v", m, c.text, got, c.want[i])
			}
		}
	}
}

// TestComputation_HasTheSignaturesOfSacrebleu compares signatures with those that sacrebleu prints for the same references.
func TestComputation_HasTheSignaturesOfSacrebleu(t *testing.T) {
	asked := measuretest.Parse(t, measure.Text, "EM", "BLEU", "BLEU(tokenize=intl,lowercase=True)", "BLEU(tokenize=zh)", "chrF",
		"chrF(word_order=2,char_order=4)")
	for truth, n := range map[string]string{
		`["a"]` + "\n" + `"b"`:                   "1",
		`["a","b","c"]` + "\n" + `["a","b","d"]`: "3",
		`["a","b"]` + "\n" + `["a"]`:             "var",
		`[]` + "\n" + `"a"`:                      "1", // no reference counts as an empty one
		`[]` + "\n" + `["a","b"]`:                "var",
	} {
		first, second, _ := strings.Cut(truth, "\n")
		read, diagnostics, err := Computation.ReadTruth(t.Context(), format, measure.Options{}, asked,
			[]measure.File{measuretest.File("truth", fmt.Sprintf("{\"id\":1,\"text\":%s}\n{\"id\":2,\"text\":%s}\n", first, second))})
		if err != nil || read == nil {
			t.Fatal(diagnostics, err)
		}
		e, err := read.Evaluate(t.Context(), []measure.File{measuretest.File("run", "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"a\"}\n")})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"BLEU":                               "nrefs:" + n + "|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
			"BLEU(tokenize=intl,lowercase=True)": "nrefs:" + n + "|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0",
			"BLEU(tokenize=zh)":                  "nrefs:" + n + "|case:mixed|eff:no|tok:zh|smooth:exp|version:2.6.0",
			"chrF":                               "nrefs:" + n + "|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0",
			asked[5].String():                    "nrefs:" + n + "|case:mixed|eff:yes|nc:4|nw:2|space:no|version:2.6.0",
		}
		if !maps.Equal(e.Result.Signatures, want) {
			t.Errorf("%s: %v", truth, e.Result.Signatures)
		}
	}
}
