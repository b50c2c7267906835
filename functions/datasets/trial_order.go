package datasets

import (
	"cmp"
	"slices"

	"assay/shared/edge/api"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// tellOrder says how many of the completed runs that stay completed would get another rank on the organizers' leaderboard. Like the
// leaderboard's comparison of two versions, it ranks the runs with a value in both. If the trial has not evaluated all completed runs,
// tellOrder says so: their ranks among all runs are unknown, even if the order of the evaluated runs stays the same.
func (t *trial) tellOrder(c *api.Call, effect api.Consequence) {
	left := t.those(func(r *tried) bool { return !r.failedBefore() && r.ended && r.fault == "" })
	valued := slices.DeleteFunc(slices.Clone(left), func(r *tried) bool { return r.before == nil || r.after == nil })
	before := rank(valued, t.shown.Lower(), (*tried).valueBefore)
	after := rank(valued, t.next.Lower(), (*tried).valueAfter)
	moved := 0
	for _, r := range left {
		if before.ranks[r] != after.ranks[r] || (r.before == nil) != (r.after == nil) {
			moved++
		}
	}
	effect.Count = int64(moved)
	var said problem.Text
	best := "The best"
	ended := len(t.those(func(r *tried) bool { return !r.failedBefore() && r.ended }))
	switch {
	case ended < t.newest && moved == 0:
		said = problem.Sentence("The preview does not tell how many runs would change places on the leaderboard, since it evaluated only "+
			"%d of %s.", ended, plural.Count(t.newest, "run"))
	case ended < t.newest:
		said = problem.Sentence("The preview compared only the %s that it evaluated: %d of these would change places. How they rank among "+
			"all runs is unknown.", plural.Count(ended, "run"), moved)
		best = "The best of these"
	case moved == 0:
		return
	default:
		said = problem.Sentence("On the organizers' leaderboard, which counts unpublished runs too, %d of %s would change places.", moved,
			plural.Count(len(left), "run"))
	}
	first := after.best
	last := before.best
	switch {
	case first == nil || before.ranks[first] == 1 || after.ranks[last] == 1: // equally good before or after
	case before.ties() == 1 && after.ties() == 1 && first.run.Access.RegistrationID == last.run.Access.RegistrationID:
		said.Append(problem.Sentence(" %s would be another run of %s.", best, first.team()))
	default:
		said.Append(problem.Sentence(" %s would be %s instead of %s.", best, after.bestRuns(), before.bestRuns()))
	}
	c.Effect(effect, said)
}

// bestRuns names the runs that share the first rank.
func (r ranking) bestRuns() problem.Text {
	if n := r.ties(); n > 1 {
		return problem.Sentence("%d equal runs (one of them of %s)", n, r.best.team())
	}
	return problem.Sentence("a run of %s", r.best.team())
}

// ties returns the number of runs that share the first rank.
func (r ranking) ties() (n int) {
	for _, rank := range r.ranks {
		if rank == 1 {
			n++
		}
	}
	return n
}

// ranking holds the ranks of runs on a leaderboard, and the first of its runs.
type ranking struct {
	ranks map[*tried]int
	best  *tried // nil without runs
}

// rank ranks runs with values. Like on a leaderboard, equal values share a rank.
func rank(runs []*tried, lowerIsBetter bool, value func(*tried) *float64) ranking {
	sorted := slices.Clone(runs)
	order(sorted, lowerIsBetter, value)
	ranked := ranking{ranks: map[*tried]int{}}
	place := 0
	for i, r := range sorted {
		if i == 0 || *value(r) != *value(sorted[i-1]) {
			place = i + 1
		}
		ranked.ranks[r] = place
	}
	if len(sorted) > 0 {
		ranked.best = sorted[0]
	}
	return ranked
}

// order sorts runs like a leaderboard: the best first, runs without a value last, and earlier runs first among equals. value returns the
// run's value of the first column.
func order(runs []*tried, lowerIsBetter bool, value func(*tried) *float64) {
	slices.SortStableFunc(runs, func(a, b *tried) int {
		x, y := value(a), value(b)
		switch {
		case x != nil && y != nil && *x != *y:
			if lowerIsBetter {
				return cmp.Compare(*x, *y)
			}
			return cmp.Compare(*y, *x)
		case (x == nil) != (y == nil):
			if x == nil {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.run.SubmissionID, b.run.SubmissionID), cmp.Compare(a.run.ID, b.run.ID))
	})
}
