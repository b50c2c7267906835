package tools

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/functions/tools/inputs"
	"assay/shared/problem"
)

// fieldError is the pointer and the detail of an error that names one member of the input; empty for others.
func fieldError(err error) string {
	var e *problem.Error
	if !errors.As(err, &e) || e.Kind != problem.Invalid || len(e.Fields) != 1 {
		return ""
	}
	return e.Fields[0].Pointer + " " + e.Fields[0].Detail
}

// TestBootstrapRounds_AreBounded has as many values as there are at most, and one more.
func TestBootstrapRounds_AreBounded(t *testing.T) {
	for draws, want := range map[int]int{0: 10_000, 1: 10_000, 20_000: 10_000, 40_000: 5000, maxDraws / 100: 100, maxDraws/100 + 1: 0,
		maxDraws + 1: 0} {
		if got := bootstrapRounds(draws); got != want {
			t.Errorf("%d draws: %d rounds, want %d", draws, got, want)
		}
	}
	if bootstrapRounds(inputs.MaxValues) == 0 {
		t.Error("there is no time for as many values as inputs have at most")
	}
	values := map[string]float64{}
	for i := range maxDraws/100/200 + 1 {
		values[fmt.Sprint(i)] = 1
	}
	out, all := LeaderboardOutput{Entries: make([]LeaderboardEntry, 200)}, make([]map[string]float64, 200)
	for i := range all {
		all[i] = values
	}
	if got := fieldError(out.computeIntervals(t.Context(), all, 1)); !strings.HasPrefix(got, "/limit ") ||
		!strings.Contains(got, "fewer than these 200 entries") {
		t.Errorf("%q", got)
	}
}

func TestRandomizationRounds_AreBounded(t *testing.T) {
	for _, tt := range []struct {
		asked, pairs, topics, want int
		says                       string
	}{
		{0, 1, 50, 10_000, ""},
		{100_000, 190, 100, 100_000, ""},
		{0, 190, 100_000, 105, ""},
		{105, 190, 100_000, 105, ""},
		{106, 190, 100_000, 0, "/rounds there is time for 105 rounds of 190 pairs of runs on 100000 topics: ask for no more"},
		{0, 190, 106_000, 0, "/runs there is no time to test 190 pairs of runs on 106000 topics: name fewer runs"},
		{100, 190, 106_000, 0, "/runs there is no time to test 190 pairs of runs on 106000 topics: name fewer runs"},
		{0, 1, 3_000_000_000, 0, "/runs there is no time to test 1 pair of runs"},
	} {
		got, err := randomizationRounds(tt.asked, tt.pairs, tt.topics)
		if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.HasPrefix(fieldError(err), tt.says) {
			t.Errorf("%d rounds of %d pairs on %d topics: %d, %v %q", tt.asked, tt.pairs, tt.topics, got, err, fieldError(err))
		}
	}
}
