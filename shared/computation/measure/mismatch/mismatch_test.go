package mismatch_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
)

func TestExplain_NamesTheDifference(t *testing.T) {
	for _, c := range []struct{ unknown, known, want string }{
		{"1", "1.0", "how a number is written"},
		{"007", "7", "how a number is written"},
		{"true", "True", "upper and lower case"},
		{" pos", "pos", "blanks before or after it"},
		{"\u200bpos\u00a0", "pos", "blanks before or after it"},
		{"caf\u00e9", "cafe\u0301", "the Unicode form of its characters"},
		{"\uff11", "1", "the Unicode form of its characters"},
		{"Pos ", "pos", "blanks before or after it and upper and lower case"},
		{"Pos ", "pos ", "upper and lower case"},
		{"1E0", "1e0", "how a number is written"},
		{"positive", "pos", ""},
		{"1", "2", ""},
		{"12345678901234567", "12345678901234568", ""},
		{"1", "1", ""},
	} {
		got := mismatch.Explain(steps.Of(t.Context()), []string{"other", c.unknown}, slices.Values([]string{"another", c.known}))
		want := fmt.Sprintf("; the likely cause: %q differs from %q only in %s, and both are compared byte by byte", c.unknown, c.known, c.want)
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
