package fields_test

import (
	"strings"
	"testing"

	"assay/shared/computation/measure/fields"
)

const (
	quotes  = "fields of the line stand in quotes"
	shifted = "a field too many seems to stand before the topic"
	header  = "the line seems to name the fields: leave it out"
)

func TestCountFault_NamesTheMissingField(t *testing.T) {
	for line, want := range map[string]string{
		"1 d-1 1 2.5 x":           "Q0 seems to be missing",
		`"1" "d-1" "1" "2.5" "x"`: "Q0 seems to be missing",
		"1 Q0 17 2.5 x":           "the rank seems to be missing",
		"1 0 17 2.5 x":            "the rank seems to be missing",
		"1 Q0 d-1 1 2.5":          "the tag, which is the name of the run,",
		"Q0 d-1 1 2.5 x":          "the topic seems to be missing",
		`{"id":"1"}`:              "the line is JSON",
		`{"id": "a b"}`:           "the line is JSON",
		"{'1': {'d-1': 2.5}}":     "a dictionary or list of Python",
		"1;Q0;d-1;1;2.5;x":        "it looks like CSV or JSON",
		`1\tQ0\td-1\t1\t2.5\tx`:   "it has tabs as two characters",
		"[30 rows x 2 columns]":   "a table that pandas printed",
		"..   ...  ...":           "a table that pandas printed",
		"  id label":              "a table that pandas printed",
	} {
		checkFault(t, line, want, func(parts [][]byte, n int) string {
			return fields.CountFault([]byte(line), parts[:6], n, fields.RunLayout, fields.OtherNumbers)
		})
	}
	for line, want := range map[string]string{
		"1 d-1 2":               "the iteration seems to be missing",
		"0 1 0 d-1 2":           shifted,
		`"7" "1" "0" "d-1" "2"`: shifted,
		"3 0 0 d-1 2":           shifted,
		"3 1 Q0 d-1 2":          shifted,
		"3 1 7 d-1 2":           shifted,
		"1 0 New York 1":        `a space in it ("New York")`,
		"1 Q0 New York 1":       `more than 4 fields`,
		"1 3 New York 1":        `a space in it ("New York")`,
		"1 0 Area 51 1":         `a space in it ("Area 51")`,
		"1 0 7 Eleven 1":        `a space in it ("7 Eleven")`,
		"1 0 New York City 1":   `a space in it ("New York City")`,
		`{"id":"1"}`:            "expected " + fields.QrelsLayout,
	} {
		checkFault(t, line, want, func(parts [][]byte, n int) string {
			return fields.CountFault([]byte(line), parts[:4], min(n, 5), fields.QrelsLayout, fields.OtherNumbers)
		})
	}
	checkFault(t, "1 d-1 2", "the subtopic seems to be missing", func(parts [][]byte, n int) string {
		return fields.CountFault([]byte("1 d-1 2"), parts[:4], n, fields.DiversityQrelsLayout, fields.OtherNumbers)
	})
}

// TestNumbersOf_RecognizesRanks reads runs whose lines have five fields.
func TestNumbersOf_RecognizesRanks(t *testing.T) {
	for text, want := range map[string]fields.Numbers{
		"7 Q0 a 1 x\n7 Q0 b 2 x\n7 Q0 c 3 x\n":                     fields.Ranks,
		"7 Q0 a 0 x\r\n7 Q0 b 1 x\r\n\r\n8 Q0 c 0 x\r\n8 Q0 a 1 x": fields.Ranks,
		"# a comment\n7 Q0 a 1 x\n8 Q0 a 1 x\n8 Q0 b 2 x\n":        fields.Ranks,
		"7 Q0 a 1 x\n8 Q0 a 1 x\n":                                 fields.RanksOrScores,
		"7 Q0 a 12 x\n7 Q0 b 7 x\n":                                fields.OtherNumbers,
		"7 Q0 a 3 x\n7 Q0 b 2 x\n7 Q0 c 1 x\n":                     fields.OtherNumbers,
		"7 Q0 a 1 x\n7 Q0 b 1 x\n":                                 fields.OtherNumbers,
		"7 Q0 a 1 2.5 x\n7 Q0 b 2 x\n":                             fields.OtherNumbers,
		"7 Q0 a 2.5 x\n":                                           fields.OtherNumbers,
		"":                                                         fields.OtherNumbers,
		"7\n":                                                      fields.OtherNumbers,
	} {
		if got := fields.NumbersOf([]byte(text)); got != want {
			t.Errorf("%q: %d; want %d", text, got, want)
		}
	}
}

func TestRunFault_NamesTheCause(t *testing.T) {
	for line, want := range map[string]string{
		"1 Q0 d-1 1 2.5 x":                   "",
		"1 Q0 Q0 1 2.5 x":                    "", // a document with this id
		"1 Q0 d-1 - 2.5 x y":                 "",
		"1 Q0 d-1 nan 2.5 3 y":               "",
		"1 Q0 d-1 1 2.5 3 y":                 "",
		"1 0 Q0 1 2.5 x":                     "", // a document with this id, and 0 in the place of Q0
		"1 d-1 Q0 1 2.5 x":                   "the second field and the third one seem to be exchanged",
		"1 Q0 the lake 1 2.5 x":              `a space in it ("the lake")`,
		"1 Q0 my big lake 1 2.5 x":           `a space in it ("my big")`,
		"1 Q0 my very big lake 1 2.5 x":      `a space in it ("my very")`,
		"1 0 d-1 1 2.5 x y":                  "",
		"1 Q0 d'1 1 2.5 x":                   "",
		`1 "Q0" "d-1" 1 2.5 "x"`:             quotes,
		`"1" Q0 d-1 1 2.5 x`:                 quotes,
		`1 Q0 d-1 1 "2.5" x`:                 quotes,
		"1 Q0 'd-1' 1 2.5 x":                 "",
		`{"a" Q0 d-1 1 2.5 x`:                "", // a topic with this id
		"0 1 Q0 d-1 1 2.5 x":                 shifted,
		"0 1 Q0 17 1 2.5 x":                  shifted,
		"0 1 Q0 d-1 1 2.5":                   shifted,
		"0 1 0 d-1 1 2.5 x":                  shifted,
		`"1" 1 "Q0" "d-1" 1 2.5 "x"`:         quotes + "…" + shifted,
		`"qid" "Q0" "doc" "n" "score" "tag"`: quotes + "…" + header,
		"qid Q0 doc n score tag":             header,
		"1 Q0 d-1 1 high x":                  `the score "high" is not a number`,
		`{"id":"1","text":"a b c d e f g"}`:  "the line is JSON",
		`{ "id": "1", "text": "a b c" }`:     "the line is JSON",
		"{'1': {'d-1': 2.5, 'd-2': 1.5}}}":   "a dictionary or list of Python",
	} {
		checkFault(t, line, want, func(parts [][]byte, n int) string { return fields.RunFault(parts[:6], min(n, 7), true) })
	}
}

func TestQrelsFault_NamesTheCause(t *testing.T) {
	for line, want := range map[string]string{
		"1 0 d-1 1":         "",
		"1 0 1 d-1":         "document and grade seem to be exchanged",
		"1 0 1 1.5":         `the grade "1.5" is not a whole number`,
		`1 0 "d-1" 1`:       quotes,
		`"1" "0" "1" "d-1"`: quotes + "…document and grade seem to be exchanged",
		`{"id": "a b c"}`:   "the line is JSON",
	} {
		checkFault(t, line, want, func(parts [][]byte, _ int) string { return fields.QrelsFault(parts[:4], fields.QrelsLayout) })
	}
}

// checkFault checks that a fault of a line has the wanted texts in their order, between which … stands, or that there is none.
func checkFault(t *testing.T, line, want string, fault func(parts [][]byte, n int) string) {
	t.Helper()
	parts := make([][]byte, 8)
	got := fault(parts, fields.Split([]byte(line), parts))
	rest := got
	for part := range strings.SplitSeq(want, "…") {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%s: %s; want %s", line, got, want)
		}
		rest = after
	}
	if want == "" && got != "" {
		t.Errorf("%s: %s", line, got)
	}
}

func TestIsPrintedHeader_KnowsNamesAboveAnIndex(t *testing.T) {
	for line, want := range map[string]bool{
		"   id label":       true,
		"  qid Q0 docno":    true,
		"id label":          false,
		" id,label":         false,
		"  label":           false,
		"  0 a x":           false,
		` {"id": "a b"}`:    false,
		"  id label 1.5":    false,
		" first; second id": false,
	} {
		if got := fields.IsPrintedHeader([]byte(line)); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
