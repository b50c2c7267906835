package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// place is an entry of the naive board.
type place struct {
	rank int
	id   string
	runs int
}

// naive computes what a reader gets by simple rules: which entries the reader sees, then final runs, order, best runs and ranks.
func naive(all map[string]*record.EvaluationItem, r Reader, s selector) (board []place) {
	sees := func(e *record.EvaluationItem) bool {
		return r.Rule.Audience(&e.Access) >= r.Class || r.Sees != nil && r.Sees(e)
	}
	final := func(e *record.EvaluationItem) bool {
		marked, newer := 0, 0
		for _, other := range all {
			if other.Entrant() != e.Entrant() {
				continue
			}
			if other.Final {
				marked++
			}
			if other.RunID > e.RunID && other.Final {
				newer += 1000
			} else if other.RunID > e.RunID && sees(other) {
				newer++
			}
		}
		if marked > 0 {
			return e.Final && newer/1000 < s.finals
		}
		return newer < s.finals
	}
	var seen []*record.EvaluationItem
	for _, e := range all {
		if sees(e) && (s.finals == 0 || final(e)) {
			seen = append(seen, e)
		}
	}
	slices.SortFunc(seen, func(x, y *record.EvaluationItem) int {
		xs, ys := x.Measures[s.measure], y.Measures[s.measure]
		var order int
		switch {
		case xs == nil || ys == nil:
			order = cmp.Compare(fmt.Sprint(xs == nil), fmt.Sprint(ys == nil))
		case s.lowerIsBetter:
			order = cmp.Compare(*xs, *ys)
		default:
			order = cmp.Compare(*ys, *xs)
		}
		return cmp.Or(order, strings.Compare(x.SubmissionID+x.RunID, y.SubmissionID+y.RunID))
	})
	runs := map[string]int{}
	shown := slices.DeleteFunc(slices.Clone(seen), func(e *record.EvaluationItem) bool {
		runs[e.Entrant()]++
		return s.best && runs[e.Entrant()] > 1
	})
	for _, e := range shown {
		p := place{id: e.ID}
		if s.best {
			p.runs = runs[e.Entrant()]
		}
		if v := e.Measures[s.measure]; v != nil {
			p.rank = 1
			for _, other := range shown {
				if o := other.Measures[s.measure]; o != nil && (s.lowerIsBetter && *o < *v || !s.lowerIsBetter && *o > *v) {
					p.rank++
				}
			}
		}
		board = append(board, p)
	}
	return board
}

// places returns the rows of the view from the offset on.
func places(v view, offset int) (all []place) {
	for rank, r := range v.from(offset) {
		all = append(all, place{rank, r.ID, r.runs})
	}
	return all
}

// drawEvaluation returns one of 12 evaluations of 4 teams and of users without a team, in any state.
func drawEvaluation(t *rapid.T) *record.EvaluationItem {
	return evaluation(t, rapid.IntRange(0, 11).Draw(t, "run"))
}

// evaluation returns the evaluation with the number in any state.
func evaluation(t *rapid.T, n int) *record.EvaluationItem {
	value := rapid.SampledFrom([]*float64{nil, new(-1.), new(0.), new(.5), new(.5), new(2.)})
	e := &record.EvaluationItem{Access: record.AccessAttributes{
		Published: rapid.Bool().Draw(t, "published"), Blinded: rapid.IntRange(0, 3).Draw(t, "blinded") == 0, Public: true,
	}}
	e.ID = fmt.Sprint("evaluation ", n)
	e.RunID = fmt.Sprintf("run %02d", n)
	e.SubmissionID = fmt.Sprintf("submission %02d", n/2)
	e.Measures = map[string]*float64{"AP": value.Draw(t, "AP"), "cost": value.Draw(t, "cost")}
	if rapid.Bool().Draw(t, "without a measure") {
		delete(e.Measures, "cost")
	}
	e.Final = rapid.IntRange(0, 3).Draw(t, "final") == 0
	team := n
	if n < 12 {
		team %= 6
	}
	e.UserID = fmt.Sprint("user ", team)
	if team < 4 || team > 5 {
		e.Access.RegistrationID = fmt.Sprint("registration ", team)
		e.Access.Alias = fmt.Sprint("alias ", team)
	}
	return e
}

func drawReader(t *rapid.T) Reader {
	r := Reader{Class: rapid.SampledFrom([]access.Audience{access.Everyone, access.Registrants, access.Organizers}).Draw(t, "class")}
	bound := rapid.SampledFrom([]access.Audience{access.Everyone, access.Everyone, access.Registrants, access.Owners, access.Organizers})
	r.Rule.Published = bound.Draw(t, "bound of published runs")
	r.Rule.Unpublished = min(r.Rule.Published, bound.Draw(t, "bound of unpublished runs"))
	if r.Class == access.Organizers || rapid.Bool().Draw(t, "anonymous") {
		return r
	}
	team := rapid.IntRange(0, 5).Draw(t, "reader")
	r.Owners = []string{fmt.Sprint("registration ", team), fmt.Sprint("user ", team)}
	r.Sees = func(e *record.EvaluationItem) bool {
		return r.Rule.Audience(&e.Access) >= access.Owners && slices.Contains(r.Owners, owner(e))
	}
	return r
}

// TestBoard_IsANaiveBoard compares views with a naive board while evaluations are added, replaced and removed. Views that were returned
// before do not change.
func TestBoard_IsANaiveBoard(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		b, all := New(), map[string]*record.EvaluationItem{}
		if rapid.Bool().Draw(t, "large") { // a few changes do not select everything again
			for n := range 40 {
				e := evaluation(t, 12+n)
				b.Put(e)
				all[e.ID] = e
			}
		}
		var earlier view
		var before []place
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				e := drawEvaluation(t)
				if rapid.IntRange(0, 4).Draw(t, "removed") == 0 {
					b.Remove(e.ID)
					delete(all, e.ID)
				} else {
					b.Put(e)
					all[e.ID] = e
				}
			}
			s := selector{measure: rapid.SampledFrom([]string{"AP", "cost"}).Draw(t, "measure"), best: rapid.Bool().Draw(t, "best"),
				finals: rapid.IntRange(0, 2).Draw(t, "finals")}
			s.lowerIsBetter = s.measure == "cost"
			r := drawReader(t)
			want, v := naive(all, r, s), b.view(r, s)
			for offset := range len(want) + 2 {
				if got := places(v, offset); !slices.Equal(got, want[min(offset, len(want)):]) {
					t.Fatalf("%+v as %+v from %d:\n got %v\nwant %v", s, r, offset, got, want[min(offset, len(want)):])
				}
			}
			if got := places(earlier, 0); !slices.Equal(got, before) {
				t.Fatalf("an earlier view was changed:\n got %v\nwant %v", got, before)
			}
			earlier, before = v, want
		}
	})
}

// TestBoard_DropsSelectionsOfReplacedEvaluations selects by a measure, and replaces all evaluations. The board must not keep the former
// ones for a selection that nobody asks for again.
func TestBoard_DropsSelectionsOfReplacedEvaluations(t *testing.T) {
	b := New()
	put := func() {
		for n := range 40 {
			e := &record.EvaluationItem{Access: record.AccessAttributes{Published: true, Alias: fmt.Sprint("alias ", n)}}
			e.ID = fmt.Sprint(n)
			b.Put(e)
		}
	}
	put()
	for n := range 5 {
		r := Reader{Class: access.Everyone, Rule: record.EntryRule{Published: access.Everyone}}
		if v := b.view(r, selector{measure: fmt.Sprint(n)}); len(v.rows) != 40 {
			t.Fatalf("%d rows", len(v.rows))
		}
		put()
	}
	if len(b.selections) > 0 {
		t.Errorf("%d selections of replaced evaluations are kept", len(b.selections))
	}
}
