package spans_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/spans"
)

// TestRead_SkipsComments evaluates files with comments of CoNLL-U, which need not be the same in truth and run.
func TestRead_SkipsComments(t *testing.T) {
	const name = "F1(average=micro)"
	truth := read(t, conll, "# sent_id = 1\n# text = # 1 is first\n# B-ORG\n1 O\nEU B-ORG\n\n#\n#2\nPeter B-PER\n", name)
	run := "# B-ORG\n1 O\nEU B-ORG\n\n# newdoc\nPeter B-PER\n"
	if e := evaluate(t, truth, run); len(e.Diagnostics) > 0 || *e.Result.Measures[name] != 1 {
		t.Errorf("%v, %v", measuretest.Lines(e.Diagnostics), e.Result.Measures)
	}
}

// TestRead_ExplainsOtherTokens evaluates a token whose characters only look alike.
func TestRead_ExplainsOtherTokens(t *testing.T) {
	truth := read(t, conll, "Caf\u00e9 B-ORG\n", "F1(average=micro)")
	const composed, decomposed = "Caf\u00e9", "Cafe\u0301"
	measuretest.Expect(t, evaluate(t, truth, decomposed+" B-ORG\n").Diagnostics, `run:1 error: the token "`+decomposed+`" where the truth has the `+
		`token "`+composed+`", at token 1 of sentence 1; expected the same tokens and empty lines, line for line; the likely cause: "`+decomposed+
		`" differs from "`+composed+`" only in the Unicode form of its characters, and both are compared byte by byte: write it in the form NFC, `+
		`as unicodedata.normalize("NFC", ...) of Python does`)
}

// TestEvaluate_NamesTheCauseOfOffsets evaluates spans whose offsets count something else than characters from 0.
func TestEvaluate_NamesTheCauseOfOffsets(t *testing.T) {
	const truthText = `{"id":1,"spans":[{"start":0,"end":4,"type":"A"},{"start":6,"end":9,"type":"B"},{"start":20,"end":30,"type":"A"}]}` + "\n" +
		`{"id":2,"spans":[{"start":3,"end":5,"type":"A"}]}` + "\n"
	truth := read(t, jsonl, truthText, "F1(average=micro)")
	two := "\n" + `{"id":2,"spans":[]}`
	for name, c := range map[string]struct {
		run  string
		want []string
	}{
		"equal": {truthText, nil},
		"from 1": {`{"id":1,"spans":[{"start":1,"end":5,"type":"A"},{"start":7,"end":10,"type":"B"},{"start":20,"end":31,"type":"A"}]}` + two,
			[]string{"run warning: 2 of the 3 spans that equal none of the truth are one character off; the likely cause: offsets count from 1: …"}},
		"from 1 to the last": {`{"id":1,"spans":[{"start":1,"end":4,"type":"A"},{"start":7,"end":9,"type":"B"}]}` + two,
			[]string{"run warning: 2 of the 2 spans that equal none of the truth are one character off; the likely cause: start counts from 1: …"}},
		"to the last": {`{"id":1,"spans":[{"start":0,"end":3,"type":"A"},{"start":6,"end":8,"type":"B"}]}` + two,
			[]string{"run warning: 2 of the 2 spans that equal none of the truth are one character off; the likely cause: end is the last…"}},
		"bytes": {`{"id":1,"spans":[{"start":0,"end":5,"type":"A"},{"start":8,"end":11,"type":"B"},{"start":25,"end":35,"type":"A"}]}` + two,
			[]string{"run warning: 2 of the 3 spans that equal none of the truth are the farther behind a true one, the later they come…"}},
		"ends behind": {`{"id":1,"spans":[{"start":0,"end":5,"type":"A"},{"start":6,"end":10,"type":"B"},{"start":20,"end":31,"type":"A"}]}` + two, nil},
		"ends farther behind": {`{"id":1,"spans":[{"start":0,"end":4,"type":"A"},{"start":6,"end":10,"type":"B"},{"start":20,"end":32,"type":"A"}]}` +
			two, nil},
		"all as far behind": {`{"id":1,"spans":[{"start":5,"end":9,"type":"A"},{"start":11,"end":14,"type":"B"},{"start":25,"end":35,"type":"A"}]}` +
			two, nil},
		"other spans": {`{"id":1,"spans":[{"start":2,"end":3,"type":"A"},{"start":11,"end":12,"type":"B"}]}` + two, nil},
		"a text that is too short": {`{"id":1,"text":"ab","spans":[{"start":0,"end":3,"type":"A"}]}` + two,
			[]string{"run:1 warning: the span from 0 to 3 ends after the 2 characters of the text"}},
		"UTF-16": {`{"id":1,"text":"a😀","spans":[{"start":1,"end":3,"type":"A"}]}` + two, []string{
			"run:1 warning: the span from 1 to 3 ends after the 2 characters of the text; the likely cause: offsets count UTF-16 units or b…"}},
		"bytes of a text with characters of two units": {`{"id":1,"text":"😀éa","spans":[{"start":3,"end":4,"type":"A"}]}` + two, []string{
			"run:1 warning: the span from 3 to 4 ends after the 3 characters of the text; the likely cause: offsets count UTF-16 units or b…"}},
		"bytes of a text": {`{"id":1,"text":"aé","spans":[{"start":1,"end":3,"type":"A"}]}` + two, []string{
			"run:1 warning: the span from 1 to 3 ends after the 2 characters of the text; the likely cause: offsets count bytes, …"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", c.run)})
			if err != nil {
				t.Fatal(err)
			}
			measuretest.Expect(t, e.Diagnostics, c.want...)
		})
	}
}

// TestEvaluate_NamesOtherCountingByTexts evaluates documents with one span each. The texts of the truth tell what other programs count.
func TestEvaluate_NamesOtherCountingByTexts(t *testing.T) {
	// document writes a document whose only span is a name behind a text, with its start and end by the sizes of the characters before it.
	document := func(id int, before string, size func(rune) int, withText bool) string {
		start := 0
		for _, r := range before {
			start += size(r)
		}
		text := ""
		if withText {
			text = fmt.Sprintf(`"text":%q,`, before+"Anna")
		}
		return fmt.Sprintf(`{"id":%d,%s"spans":[{"start":%d,"end":%d,"type":"A"}]}`+"\n", id, text, start, start+4)
	}
	character := func(rune) int { return 1 }
	units := utf16.RuneLen
	file := func(texts []string, size func(rune) int, withText bool) string {
		var all strings.Builder
		for i, text := range texts {
			all.WriteString(document(i, text, size, withText))
		}
		return all.String()
	}
	wide := []string{"a ", "\U0001f600\U0001f600 a ", "\U0001f600 ", "\u00e9\U0001f600\U0001f600\U0001f600 ", "\u00e9\u00e9 "}
	single := []string{"\U0001f600 ", "a\U0001f600 ", "\U0001f600b "}
	const start = " that equal none of the truth would equal one if offsets were counted in another way; the likely cause: "
	for name, c := range map[string]struct {
		texts []string
		size  func(rune) int
		want  []string
	}{
		"characters": {wide, character, nil},
		"UTF-16": {wide, units,
			[]string{"run warning: 3 of the 3 spans" + start + "offsets count UTF-16 units, as in Java and JavaScript, and not characters"}},
		"bytes": {wide, utf8.RuneLen, []string{"run warning: 4 of the 4 spans" + start + "offsets count bytes, and not characters"}},
		"UTF-16 or from 1": {single, units, []string{"run warning: 3 of the 3 spans" + start + "offsets count UTF-16 units, as in Java and " +
			"JavaScript, and not characters. Or offsets count from 1: take 1 …"}},
		"others": {wide, func(r rune) int { return 5 * utf16.RuneLen(r) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			truth := read(t, jsonl, file(c.texts, character, true), "F1(average=micro)")
			measuretest.Expect(t, evaluate(t, truth, file(c.texts, c.size, false)).Diagnostics, c.want...)
		})
	}
}

// TestReadTruth_ReportsSpansOfFurtherTexts reads a truth with a fault between texts that have characters beyond ASCII.
func TestReadTruth_ReportsSpansOfFurtherTexts(t *testing.T) {
	const first, second = `{"start":1,"end":2}`, `{"start":0,"end":9}`
	var text strings.Builder
	for id, list := range []string{first, first + "," + first, first, first + "," + second + "," + second, first} {
		fmt.Fprintf(&text, `{"id":%d,"text":"äöü","spans":[%s]}`+"\n", id, list)
	}
	asked := measuretest.Parse(t, measure.Spans, "F1(average=micro)")
	_, found, err := spans.Computation.ReadTruth(t.Context(), jsonl, measure.Options{}, asked,
		[]measure.File{measuretest.File("f", text.String())})
	if err != nil {
		t.Fatal(err)
	}
	var faulty []int
	for _, d := range found {
		if d.Severity == measure.Error {
			faulty = append(faulty, d.Line)
		}
	}
	if !slices.Equal(faulty, []int{2, 4}) {
		t.Errorf("faults in the lines %d: %s", faulty, measuretest.Lines(found))
	}
}

// TestEvaluate_DoesNotAccuseRunsThatCountCharacters evaluates runs most of whose spans are right, and two of which are by chance where a
// program that counts bytes would see them.
func TestEvaluate_DoesNotAccuseRunsThatCountCharacters(t *testing.T) {
	var all, run strings.Builder
	for i := range 10 {
		const span = `"spans":[{"start":%d,"end":%d,"type":"A"}]}` + "\n"
		fmt.Fprintf(&all, `{"id":%d,"text":"\u00e9\u00e9\u00e9\u00e9\u00e9 Anna",`+span, i, 6, 10)
		shift := 0
		if i < 2 {
			shift = 5
		}
		fmt.Fprintf(&run, `{"id":%d,`+span, i, 6+shift, 10+shift)
	}
	truth := read(t, jsonl, all.String(), "F1(average=micro)")
	measuretest.Expect(t, evaluate(t, truth, run.String()).Diagnostics)
}

// TestKnown_TellsNothingAboutSpans compares a run with the public ids and types of a truth. Its owner may read the diagnostics while the
// run is blinded, so they must not say how its spans differ from the true ones.
func TestKnown_TellsNothingAboutSpans(t *testing.T) {
	truth := read(t, jsonl, `{"id":1,"spans":[{"start":0,"end":4,"type":"A"},{"start":6,"end":9,"type":"A"}]}`, "F1(average=micro)")
	run := `{"id":1,"spans":[{"start":1,"end":5,"type":"A"},{"start":7,"end":10,"type":"A"}]}`
	if e := evaluate(t, truth, run); len(e.Diagnostics) != 1 {
		t.Errorf("the evaluation has the diagnostics %q", measuretest.Lines(e.Diagnostics))
	}
	found, err := truth.Known(true, true).Compare(t.Context(), measuretest.File("run", run))
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found)
}
