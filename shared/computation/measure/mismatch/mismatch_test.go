package mismatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

func TestExplain_NamesTheDifference(t *testing.T) {
	for _, c := range []struct{ unknown, known, want string }{
		{"1", "1.0", "how a number is written"},
		{"007", "7", "how a number is written"},
		{"true", "True", "upper and lower case"},
		{" pos", "pos", "blanks before or after it"},
		{"\u200bpos\u00a0", "pos", "blanks before or after it"},
		{"caf\u00e9", "cafe\u0301", "the Unicode form of its characters; NFD"},
		{"cafe\u0301", "caf\u00e9", "the Unicode form of its characters; NFC"},
		{"\uff11", "1", "the Unicode form of its characters; NFKC"},
		{"1", "\uff11", "the Unicode form of its characters"},
		{"Pos ", "pos", "blanks before or after it and upper and lower case"},
		{"Pos ", "pos ", "upper and lower case"},
		{"1E0", "1e0", "how a number is written"},
		{"positive", "pos", ""},
		{"1", "2", ""},
		{"12345678901234567", "12345678901234568", ""},
		{"1", "1", ""},
	} {
		got := mismatch.Explain(steps.Of(t.Context()), []string{"other", c.unknown}, slices.Values([]string{"another", c.known}))
		difference, form, _ := strings.Cut(c.want, "; ")
		want := fmt.Sprintf("; the likely cause: %q differs from %q only in %s, and both are compared byte by byte",
			c.unknown, c.known, difference)
		if form != "" {
			want += fmt.Sprintf(": write it in the form %s, as unicodedata.normalize(%[1]q, ...) of Python does", form)
		}
		if c.want == "" {
			want = ""
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := mismatch.Explain(steps.Of(t.Context()), nil, slices.Values([]string{"a"})); got != "" {
		t.Error(got)
	}
}

// TestIDs_NamesOneCause compares the ids of runs with those of truths, and expects the whole clause.
func TestIDs_NamesOneCause(t *testing.T) {
	const cause = "; the likely cause: "
	for name, c := range map[string]struct {
		run, truth []string
		sparse     bool
		want       string
	}{
		"spelling first": {run: []string{"x/A"}, truth: []string{"x/a", "A"}, want: cause +
			`"x/A" differs from "x/a" only in upper and lower case, and both are compared byte by byte`},
		"shortened": {run: []string{"1.33988E+17", "1.33995e+17"}, truth: []string{"133995432098777777", "133987654321000000"}, want: cause +
			`"1.33988E+17" is a long number such as "133987654321000000", which a spreadsheet shortened: write the ids again, as text and not as numbers`},
		"short by nature": {run: []string{"1.33988E+17"}, truth: []string{"133997654321000000"}},
		"one shortened":   {run: []string{"1.33988E+17", "x", "y"}, truth: []string{"133987654321000000", "a", "b"}},
		"path and ending": {run: []string{"/data/test/d-1.txt", "/data/more/d-2.txt"}, truth: []string{"d-1", "d-2"}, want: cause +
			`"/data/test/d-1.txt" is "d-1" of the truth with "/data/test/" before it and ".txt" after it: leave that out of each id`},
		"ending": {run: []string{"a.v1.txt", "b.v2.txt"}, truth: []string{"a.v1", "b.v2"}, want: cause +
			`"a.v1.txt" is "a.v1" of the truth with ".txt" after it: leave that out of each id`},
		"a very long path": {run: []string{strings.Repeat("x", 1100) + "/a"}, truth: []string{"a"}},
		"letters": {run: []string{"q301", "q302"}, truth: []string{"301", "302"}, want: cause +
			`"q301" is "301" of the truth with "q" before it: leave that out of each id`},
		"an ending of one id": {run: []string{"a.txt", "b", "c"}, truth: []string{"a", "x", "y"}},
		"the id is given too": {run: []string{"a.txt", "a"}, truth: []string{"a", "b"}},
		"no boundary":         {run: []string{"ab", "cd"}, truth: []string{"a", "c"}},
		"passages": {run: []string{"x.p0", "y.p1", "z.p12"}, truth: []string{"a", "y"}, sparse: true, want: cause +
			`"y.p1" is "y" of the truth with ".p1" after it: leave that out of each id`},
		"few passages": {run: []string{"x", "y.p1", "z"}, truth: []string{"a", "y"}, sparse: true},
		"ending of the truth": {run: []string{"d1", "d2"}, truth: []string{"d2.txt", "d1.txt"}, want: cause +
			`"d1" is "d1.txt" of the truth without ".txt" after it: add that to each id`},
		"letters of the truth": {run: []string{"1", "2", "3"}, truth: []string{"q1", "q2", "q3"}, want: cause +
			`"1" is "q1" of the truth without "q" before it: add that to each id`},
		"within words too": {run: []string{"a"}, truth: []string{"ba-a"}, want: cause +
			`"a" is "ba-a" of the truth without "ba-" before it: add that to each id`},
		"sparse, of the truth": {run: []string{"d1", "d2", "x"}, truth: []string{"d1.txt", "d2.txt", "y.txt"}, sparse: true, want: cause +
			`"d1" is "d1.txt" of the truth without ".txt" after it: add that to each id`},
		"one sparse id of the truth": {run: []string{"1", "2"}, truth: []string{"doc-1", "doc-3"}, sparse: true},
		"from 0": {run: []string{"s0", "s1", "s2"}, truth: []string{"s1", "s2", "s3"}, want: cause +
			`the run counts from "s0" to "s2", and the truth from "s1" to "s3": add 1 to the number of each id`},
		"from 1": {run: []string{"08.a", "09.a", "10.a"}, truth: []string{"07.a", "08.a", "09.a"}, want: cause +
			`the run counts from "08.a" to "10.a", and the truth from "07.a" to "09.a": take 1 from the number of each id`},
		"two series": {run: []string{"de-0", "de-1", "de-2", "en-0", "en-1", "en-2"},
			truth: []string{"de-1", "de-2", "de-3", "en-1", "en-2", "en-3"}, want: cause +
				`the run counts from "de-0" to "de-2", and the truth from "de-1" to "de-3": add 1 to the number of each id`},
		"one series of two": {run: []string{"de-0", "de-1", "de-2", "en-9"}, truth: []string{"de-1", "de-2", "de-3", "en-1"}},
		"two ids":           {run: []string{"s0", "s1"}, truth: []string{"s1", "s2"}},
		"a gap":             {run: []string{"s0", "s1", "s2", "s4"}, truth: []string{"s1", "s2", "s4", "s5"}},
		"within the truth":  {run: []string{"s1", "s2", "s3", "s4", "s5"}, truth: []string{"s1", "s2", "s4", "s5", "s6"}},
		"huge numbers":      {run: []string{"s1", "99999999999999999999"}, truth: []string{"s1", "99999999999999999998"}},
		"others":            {run: []string{"a", "b"}, truth: []string{"c", "d"}},
		"none unknown":      {run: []string{"a"}, truth: []string{"a", "b"}},
	} {
		has := func(id string) bool { return slices.Contains(c.truth, id) }
		left := lists.Without(c.truth, c.run...)
		lacks := func(id string) bool { return slices.Contains(left, id) }
		ids := mismatch.IDs{Of: measure.OfTruth, Has: has, Lacks: lacks, Sparse: c.sparse, Left: slices.Values(left)}
		unknown := lists.Without(c.run, c.truth...)
		if got := ids.Explain(steps.Of(t.Context()), unknown); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestIDs_DivideOnlyTheRunsIDs compares one id with many that have it within a word, and expects no memory for each of them.
func TestIDs_DivideOnlyTheRunsIDs(t *testing.T) {
	var left []string
	for i := range 10_000 {
		left = append(left, fmt.Sprint("bab-1-2-3-4-5-6-7-8-9-", i))
	}
	never := func(string) bool { return false }
	ids := mismatch.IDs{Of: measure.OfTruth, Has: never, Lacks: never, Left: slices.Values(left)}
	allocations := testing.AllocsPerRun(1, func() {
		if got := ids.Explain(steps.Of(t.Context()), []string{"a"}); got != "" {
			t.Error(got)
		}
	})
	if allocations > float64(len(left))/10 {
		t.Errorf("comparing %d ids took %.0f allocations", len(left), allocations)
	}
}
