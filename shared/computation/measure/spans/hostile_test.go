package spans_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/spans"
)

// TestRead_ReportsFaultsByLine reads files of tokens and of spans with all kinds of faults.
func TestRead_ReportsFaultsByLine(t *testing.T) {
	const tokens = "EU B-ORG\nrejects O\n\nPeter B-PER\nBlackburn I-PER\n"
	const texts = `{"id": 1, "spans": [{"start": 0, "end": 4, "type": "PER"}]}` + "\n" + `{"id": 2, "spans": []}` + "\n"
	long := strings.Repeat("x", 1025)
	one := func(list string) string {
		return `{"id": 2, "spans": []}` + "\n" + `{"id": 1, "spans": ` + list + "}\n"
	}
	for _, test := range []struct {
		name   string
		format measure.Format
		scheme string
		run    string
		want   []string
	}{
		{"another token", conll, "", "EU B-ORG\nrejected O\n", []string{
			`run:2 error: the token "rejected" where the truth has the token "rejects", at token 2 of sentence 1; expected the same tokens and empty ` +
				`lines, line for line`}},
		{"no end of the sentence", conll, "", "EU B-ORG\nrejects O\nPeter B-PER\n", []string{
			`run:3 error: the token "Peter" where the truth ends the sentence, at token 3 of sentence 1; expected…`}},
		{"an end of the sentence too early", conll, "", "EU B-ORG\n \t\nrejects O\n", []string{
			`run:2 error: the sentence ends where the truth has the token "rejects", at token 2 of sentence 1; expected…`}},
		{"too few tokens", conll, "", "EU B-ORG\nrejects O\n\n", []string{
			`run error: the run ends after 2 of the 4 tokens of the truth; the next one is "Peter", at token 1 of sentence 2`}},
		{"too few tokens of a sentence", conll, "", "EU B-ORG\nrejects O\n\nPeter B-PER", []string{
			`run:4 error: the sentence ends where the truth has the token "Blackburn", at token 2 of sentence 2; expected…`}},
		{"too many tokens", conll, "", tokens + "\n. O\n", []string{
			`run:7 error: the token "." where the truth has no more tokens, at token 1 of sentence 3; expected…`}},
		{"a missing token", conll, "", "EU B-ORG\n\tO\n\nPeter B-PER\nBlackburn I-PER\n", []string{
			`run:2 error: the line has one column, "O"; expected a token in the first and its tag in the last, separated by spaces or tabs; the ` +
				`token before the tag is missing: pandas reads tokens such as NA and null as missing, unless read_csv has keep_default_na=False`}},
		{"annotations of brat", conll, "", "T1\tORG 0 2\tEU\n", []string{`run error: the file is annotations of brat, which has a file for each ` +
			`text and no ids; expected a token and its tag in each line: write one line for each text, with its id and all its spans`}},
		{"CoNLL-U", conll, "", "# id = 1\n1\tEU" + strings.Repeat("\t_", 7) + "\tNE=B-ORG\n2\trejects" + strings.Repeat("\t_", 8) + "\n",
			[]string{`run error: the file is CoNLL-U, whose first column has the numbers of tokens; expected a token and its tag in each ` +
				`line: write the token, which is the second column, and its tag, such as O or B-PER, in each line`}},
		{"no tag", conll, "", "EU\n", []string{
			`run:1 error: the line has one column, "EU"; expected a token in the first and its tag in the last, separated by spaces or tabs`}},
		{"tags that are none", conll, "", "EU PER\nrejects B-\nx O-PER\ny b-PER\n# id = 7\n", []string{
			`run:1 error: the last column is "PER"; expected the tag O, or B, I, E, S, L or U with a hyphen and a type, such as B-PER`,
			`run:2 error: the last column is "B-"; expected…`,
			`run:3 error: the last column is "O-PER"; expected…`,
			`run:3 error: the token "x" where the truth ends…`,
		}},
		{"a comment within a sentence", conll, "", "EU B-ORG\n# id = 7\n", []string{
			`run:2 error: the last column is "7"; expected the tag O, or B, I, E, S, L or U with a hyphen and a type, such as B-PER; if the line is a ` +
				`comment, write it before the first token of the sentence`,
			`run:2 error: the token "#" where…`}},
		{"a comment of one word within a sentence", conll, "", "EU B-ORG\n#\n", []string{
			`run:2 error: the line has one column, "#"; expected a token in the first and its tag in the last, separated by spaces or tabs; if the ` +
				`line is a comment, write it before the first token of the sentence`}},
		{"a line without a tag before others", conll, "", "EU\nPeter B-PER\n", []string{
			`run:1 error: the line has one column, "EU"; expected…`}},
		{"a line that is not UTF-8 before others", conll, "", "\xff O\nrejects O\n", []string{
			`run:1 error: the line is not valid UTF-8; save the file as UTF-8`}},
		{"a comment that ends with a tag", conll, "", "# text = O\nEU B-ORG\n", []string{
			`run:1 error: the token "#" where the truth has the token "EU", at token 1 of sentence 1; expected the same tokens and empty lines, line ` +
				`for line; if the line is a comment, it must not end with a tag such as O or B`}},
		{"a long token", conll, "", long + " O\n", []string{`run:1 error: the token "xx…`}},
		{"a long type", conll, "", "EU B-" + long + "\n", []string{`run:1 error: the type "xx…`, "run:1 error: the sentence ends…"}},
		{"columns", conll, "", "EU" + strings.Repeat(" O", 64) + "\n", []string{"run:1 error: the line has more than 64 columns"}},
		{"an empty file", conll, "", " \n-DOCSTART- -X- O\n\n", []string{
			`run error: the file is empty or has no tokens; expected one for each line, with its tag`}},
		{"a prefix of another scheme", conll, "IOB2", "EU S-ORG\n", []string{
			`run:1 error: the prefix S is none of the scheme IOB2, which a measure names; expected one of I, O, B`,
			"run:1 error: the sentence ends…"}},
		{"a type that the truth lacks", conll, "", strings.Replace(tokens, "B-ORG", "B-ORGANIZATION", 1), []string{
			`run:1 warning: the truth has no type "ORGANIZATION" but "ORG", "PER"; every prediction of it counts as wrong`}},
		{"a type in another case", jsonl, "", one(`[{"start": 0, "end": 4, "type": "per"}]`), []string{
			`run:2 warning: the truth has no type "per" but "PER"; every prediction of it counts as wrong; the likely cause: "per" differs ` +
				`from "PER" only in upper and lower case, and both are compared byte by byte`}},
		{"the same span twice", jsonl, "", one(`[{"start": 1, "end": 4, "type": "PER"}, {"type": "PER", "end": 4, "start": 1}]`), []string{
			`run:2 error: "spans" has the span from 1 to 4 with the type "PER" twice; expected every span once`}},
		{"an end before the start", jsonl, "", one(`[{"start": 1, "end": 4}, {"start": 4, "end": 4}]`), []string{
			`run:2 warning: the truth has no type "_" but "PER"; …`,
			`run:2 error: span 2 of "spans": it begins at 4 and ends before 4; expected…`}},
		{"no start", jsonl, "", one(`[{"end": 4}]`), []string{`run:2 error: span 1 of "spans": it has no "start"; expected the number of a character`}},
		{"members that are none", jsonl, "", one(`[{"begin": 0, "end": 4, "label": "PER"}]`), []string{
			`run:2 error: span 1 of "spans": it has no "start" but "begin", "label"; expected the number of a character`}},
		{"a type by another name", jsonl, "", one(`[{"start": 0, "end": 4, "text": "Jane", "label": "PER"}]`), []string{
			`run:2 error: span 1 of "spans": it has no "type" but "text", "label"; name a type so, or leave it out where spans have none`}},
		{"a type and a label", jsonl, "", one(`[{"start": 0, "end": 4, "type": "PER", "label": 1}]`), nil},
		{"no type but a text", jsonl, "", one(`[{"start": 0, "end": 4, "text": "Jane"}]`), []string{
			`run:2 warning: the truth has no type "_" but "PER"; …`}},
		{"a number that is none", jsonl, "", one(`[{"start": 1.0, "end": 4}]`), []string{
			`run:2 error: span 1 of "spans": "start" is "1.0"; expected a whole number from 0 to 1000000000`}},
		{"a number that is too large", jsonl, "", one(`[{"start": 1, "end": 1000000001}]`), []string{
			`run:2 error: span 1 of "spans": "end" is "1000000001"; expected…`}},
		{"a start given twice", jsonl, "", one(`[{"start": 1, "start": 1, "end": 3}]`), []string{
			`run:2 error: span 1 of "spans": it has "start" twice; expected it once`}},
		{"an empty type", jsonl, "", one(`[{"start": 1, "end": 3, "type": ""}]`), []string{`run:2 error: span 1 of "spans": "type" is empty; …`}},
		{"a type that is a number", jsonl, "", one(`[{"start": 1, "end": 3, "type": 7}]`), []string{
			`run:2 error: span 1 of "spans": "type" is a number; expected a string`}},
		{"pairs of numbers", jsonl, "", one(`[[1, 2]]`), []string{
			`run:2 error: span 1 of "spans": expected an object like {"start": 0, "end": 4, "type": "PER"}`}},
		{"no list", jsonl, "", one(`"1-4"`), []string{`run:2 error: "spans" is a string; expected an array`}},
		{"no spans", jsonl, "", `{"id": 1}` + "\n" + `{"id": 2, "spans": []}`, []string{
			`run:1 error: the object has no "spans", only "id"; expected it in every line`}},
		{"a missing document", jsonl, "", `{"id": 2, "spans": []}`, []string{
			`run error: there is no prediction for 1 of 2 ids of the truth: "1"; expected one for each`}},
		{"a document given twice", jsonl, "", texts + `{"id": 2, "spans": []}`, []string{
			`run:3 error: the id "2" was given before, on line 2; expected every id once`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			measures, text := []string{"F1(average=micro)"}, tokens
			if test.scheme != "" {
				measures = []string{"F1(average=micro,scheme=" + test.scheme + ")"}
			}
			if test.format == jsonl {
				text = texts
			}
			e := evaluate(t, read(t, test.format, text, measures...), test.run)
			measuretest.Expect(t, e.Diagnostics, test.want...)
		})
	}
}

// TestRead_BoundsTypes reads files with one type too many, and files with the maximum on both sides.
func TestRead_BoundsTypes(t *testing.T) {
	write := func(from, to int) string {
		var b strings.Builder
		for i := range bounds.Types + 1 {
			fmt.Fprintf(&b, "a S-%d\n", min(max(i, from), to-1))
		}
		return b.String()
	}
	file := measuretest.File("truth", write(0, bounds.Types+1))
	_, found, err := spans.Computation.ReadTruth(t.Context(), conll, measure.Options{}, nil, []measure.File{file})
	if err != nil {
		t.Fatal(err)
	}
	measuretest.Expect(t, found, `truth:1001 error: the type "1000" is one too many; expected at most 1000 different ones`)
	truth := read(t, conll, write(0, bounds.Types), "F1(average=micro)")
	if e := evaluate(t, truth, write(1, bounds.Types+1)); measure.HasErrors(e.Diagnostics) || *e.Result.Measures["F1(average=micro)"] == 0 {
		t.Error(measuretest.Lines(e.Diagnostics))
	}
	if e := evaluate(t, truth, write(0, bounds.Types+1)); !measure.HasErrors(e.Diagnostics) {
		t.Error("a run may have more types than a truth")
	}
}

// TestRead_EndlessFilesAreRefused reads files without an end. Each must end with a diagnostic.
func TestRead_EndlessFilesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		format measure.Format
		rest   *measuretest.Endless
	}{
		"tokens":           {conll, measuretest.Numbered("token", " O\n")},
		"types":            {conll, measuretest.Numbered("a B-", "\n")},
		"numbered objects": {jsonl, measuretest.Numbered(`{"id": 1, "spans": [{"start": 0, "end": `, "}]}\n")},
		"brackets":         {jsonl, measuretest.Repeat(strings.Repeat("[", 60_000) + "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			text := "a O\n"
			if test.format == jsonl {
				text = `{"id": 1, "spans": []}`
			}
			e, err := read(t, test.format, text, "F1(average=micro)").Evaluate(t.Context(), []measure.File{{Name: "run", Content: test.rest}})
			if err != nil || !measure.HasErrors(e.Diagnostics) || test.rest.Bytes > 50<<20 {
				t.Errorf("%v after %d bytes", err, test.rest.Bytes)
			}
		})
	}
}

// TestEvaluate_NamesATruthOfNumbers says that a truth has numbers in the place of tokens.
func TestEvaluate_NamesATruthOfNumbers(t *testing.T) {
	e := evaluate(t, read(t, conll, "1 EU B-ORG\n2 rejects O\n", "F1(average=micro)"), "EU B-ORG\nrejects O\n")
	measuretest.Expect(t, e.Diagnostics, `run:1 error: the token "EU" where the truth has the token "1", at token 1 of sentence 1; expected the `+
		`same tokens and empty lines, line for line; the likely cause: the first column of the truth has the numbers of the tokens, as in `+
		`CoNLL-U, and not the tokens`)
}

// TestEvaluate_KeepsNoValuesOfManyDocuments computes many measures that are means over documents, and bounds the memory.
func TestEvaluate_KeepsNoValuesOfManyDocuments(t *testing.T) {
	const documents = 100_000
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("DocumentF1(type='%d')", i))
	}
	asked := measuretest.Parse(t, measure.Spans, names...)
	text := strings.Repeat("a B\n\n", documents)
	truth, diagnostics, err := spans.Computation.ReadTruth(t.Context(), measure.Format{Kind: measure.CoNLL}, measure.Options{}, asked,
		[]measure.File{measuretest.File("truth", text)})
	if err != nil || measure.HasErrors(diagnostics) {
		t.Fatal(diagnostics, err)
	}
	if used := measuretest.Allocated(func() {
		if _, err := truth.Evaluate(t.Context(), []measure.File{measuretest.File("run", text)}); err != nil {
			t.Error(err)
		}
	}); used > 16<<20 {
		t.Errorf("%d bytes in %d documents allocate %d bytes", len(text), documents, used)
	}
}

// columnsOf reads a file of FuzzConll with functions of package strings: the tokens, and the ends of sentences.
func columnsOf(text string) (sentences [][][2]string, ok bool) {
	var last [][2]string
	const known = "OBIESLU"
	end := func() {
		if len(last) > 0 {
			sentences, last = append(sentences, last), nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		columns := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\r", r) })
		switch {
		case len(columns) == 0 || columns[0] == "-DOCSTART-":
			end()
			continue
		case len(columns) == 1:
			return nil, false
		}
		prefix, kind, typed := strings.Cut(columns[len(columns)-1], "-")
		if len(prefix) != 1 || !strings.Contains(known, prefix) || typed && (kind == "" || prefix == "O") {
			return nil, false
		}
		if len(columns[0]) > 1024 || len(kind) > 1024 || len(columns) > 64 {
			return nil, false
		}
		last = append(last, [2]string{columns[0], columns[len(columns)-1]})
	}
	end()
	return sentences, len(sentences) > 0
}

// FuzzConll compares the reader with columnsOf, and evaluates sound files against themselves.
func FuzzConll(f *testing.F) {
	for _, seed := range []string{"EU NNP B-ORG\nrejects O\n\n-DOCSTART- O\n\na\tI-x\r\n", "a B\nb I-A\nc E-A\nd S-A", "\n", "a  \v O",
		"a B-\nb", "# x", "a O\r\r\n", "\xff O", "a B-A\na I-B\na U-_\na L-A\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		measures := measuretest.Parse(t, measure.Spans, "F1(average=micro)", "IoU(average=macro)", "DocumentF1")
		truth, found, err := spans.Computation.ReadTruth(t.Context(), conll, measure.Options{}, measures,
			[]measure.File{measuretest.File("f", text)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", []byte(text), found)
		if strings.ContainsAny(text, "\x00\r") || strings.HasPrefix(text, "\x1f\x8b") || len(text) > bounds.Line {
			return
		}
		sentences, ok := columnsOf(text)
		if strings.ToValidUTF8(text, "") != text {
			ok = false
		}
		if _, reason := lines.Unpack(strings.NewReader(text), lines.StandardExpansion); reason != nil {
			ok = false
		}
		if ok != (truth != nil) || ok && truth.Topics != len(sentences) && len(sentences) <= measure.MaxExamples {
			t.Fatalf("%q: sentences %v, read %v, %v", text, sentences, truth != nil, measuretest.Lines(found))
		}
		if truth == nil {
			return
		}
		var again strings.Builder
		for _, s := range sentences {
			for _, token := range s {
				fmt.Fprintf(&again, "%s - %s\n", token[0], token[1])
			}
			again.WriteByte('\n')
		}
		e := evaluate(t, truth, again.String())
		if x := e.Result.Measures["DocumentF1"]; len(e.Diagnostics) > 0 || x == nil || *x != 1 {
			t.Fatalf("%q: %v, %v", text, measuretest.Lines(e.Diagnostics), x)
		}
		if x := e.Result.Measures["F1(average=micro)"]; x != nil && *x != 1 {
			t.Fatalf("%q: F1 is %v", text, *x)
		}
	})
}

// FuzzSpans compares the spans of one line with the result of encoding/json.
func FuzzSpans(f *testing.F) {
	for _, seed := range []string{`{"id":1,"spans":[{"start":0,"end":4,"type":"PER"},{"end":2,"start":1}]}`, `{"spans":[],"id":"ä"}`,
		`{"id":1,"spans":[{"start":-1,"end":1e3}]}`, `{"id":1,"spans":[{}, [], 1, "a", null]}`, `{"id":1,"spans":[{"start":0,"end":1,"type":"\u00e4\ud800"}]}`,
		`{"id":1,"spans":[{"start":0,"end":4,"x":[{"start":1}]} , {"start":0,"end":4}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		measures := measuretest.Parse(t, measure.Spans, "F1(average=micro)", "F1(average=macro,overlap=proportional)", "DocumentIoU")
		truth, found, err := spans.Computation.ReadTruth(t.Context(), jsonl, measure.Options{}, measures,
			[]measure.File{measuretest.File("f", text)})
		if err != nil {
			t.Fatal(err)
		}
		measuretest.CheckDiagnostics(t, "f", []byte(text), found)
		if truth == nil {
			return
		}
		total := 0
		for _, line := range bytes.Split([]byte(text), []byte("\n")) {
			var document struct{ Spans []struct{ Start, End int } }
			line = bytes.TrimSpace(line)
			if len(line) == 0 || bytes.HasPrefix(line, []byte("\x1f\x8b")) {
				continue
			}
			if err := json.Unmarshal(line, &document); err != nil {
				return // encoding/json also accepts members in another case
			}
			for _, s := range document.Spans {
				if s.Start < 0 || s.End <= s.Start {
					return
				}
				total++
			}
		}
		e := evaluate(t, truth, text)
		if x := e.Result.Measures["DocumentIoU"]; len(e.Diagnostics) > 0 || x == nil || *x != 1 {
			t.Fatalf("%q: %v", text, measuretest.Lines(e.Diagnostics))
		}
		if x := e.Result.Measures["F1(average=micro)"]; (x != nil) != (total > 0) || x != nil && *x != 1 {
			t.Fatalf("%q: %d spans, F1 %v", text, total, x)
		}
	})
}
