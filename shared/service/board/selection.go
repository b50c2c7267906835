package board

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
)

// maxSelections is the greatest number of selections that a board keeps. A selection takes 24 bytes for each entry.
const maxSelections = 32

// selector says which entries of a board a class of readers gets, and in which order.
type selector struct {
	class         access.Audience  // narrowest audience of the entries
	rule          record.EntryRule // decides the audience of each entry
	measure       string
	lowerIsBetter bool
	concealed     bool // the values of the readers' own runs whose review is not published do not count
	best          bool // only the first entry of each team
	finals        int  // number of final runs of each team; 0 selects all runs
}

// row is an entry of a selection.
type row struct {
	*record.EvaluationItem
	key  float64 // see selector.key
	runs int     // with best: number of the team's entries that the reader sees
}

// undefined is the key of rows without a value of the measure. Values are finite, like all numbers in JSON.
var undefined = math.Inf(1)

// selection holds the entries that a selector selects.
type selection struct {
	selector
	rows    []row              // in order; replaced, never changed
	changed map[string]entries // teams that changed since rows were selected, with their evaluations at that time
}

// selection returns the selection of the board's present evaluations. After a few changes it costs one copy of the rows. After many changes
// it selects everything again, because setTeam has dropped the earlier selection.
func (b *Board) selection(by selector) *selection {
	s := b.selections[by]
	switch {
	case s == nil:
		if len(b.selections) == maxSelections {
			clear(b.selections)
		}
		s = &selection{selector: by}
		b.selections[by] = s
		s.selectAll(b)
	case len(s.changed) > 0:
		s.update(b)
	}
	return s
}

func (s *selection) selectAll(b *Board) {
	s.rows, s.changed = nil, map[string]entries{}
	for _, team := range b.teams {
		s.rows = append(s.rows, s.pick(team, s.shows)...)
	}
	slices.SortFunc(s.rows, s.compare)
}

// update replaces the rows of the teams that changed.
func (s *selection) update(b *Board) {
	var gone, added []row
	for team, was := range s.changed {
		gone = append(gone, s.pick(was, s.shows)...)
		added = append(added, s.pick(b.teams[team], s.shows)...)
	}
	slices.SortFunc(gone, s.compare)
	slices.SortFunc(added, s.compare)
	s.rows = s.merge(gone, added)
	s.changed = map[string]entries{}
}

// merge returns the rows without the gone ones and with the added ones. Both are in order, and the rows have all that are gone.
func (s *selection) merge(gone, added []row) []row {
	merged := make([]row, 0, len(s.rows)-len(gone)+len(added))
	rest := s.rows
	for len(gone) > 0 || len(added) > 0 {
		removes := len(added) == 0 || len(gone) > 0 && s.compare(gone[0], added[0]) <= 0
		if removes {
			at := s.find(rest, gone[0])
			merged = append(merged, rest[:at]...)
			rest = rest[at+1:]
			gone = gone[1:]
			continue
		}
		at := s.find(rest, added[0])
		merged = append(merged, rest[:at]...)
		merged = append(merged, added[0])
		rest = rest[at:]
		added = added[1:]
	}
	return append(merged, rest...)
}

// shows reports whether everyone of the class sees the evaluation.
func (s *selector) shows(e *record.EvaluationItem) bool { return s.rule.Audience(&e.Access) >= s.class }

// pick returns the rows of one team, in order, of the evaluations that sees accepts.
func (s *selector) pick(team entries, sees func(*record.EvaluationItem) bool) []row {
	rows := make([]row, 0, len(team))
	for _, e := range team {
		if sees(e) {
			rows = append(rows, row{EvaluationItem: e, key: s.key(e)})
		}
	}
	if s.finals > 0 {
		final := s.finalRuns(team, rows)
		rows = slices.DeleteFunc(rows, func(r row) bool { return !slices.Contains(final, r.RunID) })
	}
	slices.SortFunc(rows, s.compare)
	if s.best && len(rows) > 0 {
		rows[0].runs = len(rows)
		rows = rows[:1]
	}
	return rows
}

// finalRuns returns the team's final runs: the newest marked ones, up to the number that the dataset takes. If the team has marked none on
// the board, the newest runs that the reader sees count as final. Marks count even if the reader does not see the marked run. Otherwise
// another run would take its place.
func (s *selector) finalRuns(team entries, seen []row) (runs []string) {
	for _, e := range team {
		if e.Final {
			runs = append(runs, e.RunID)
		}
	}
	if runs == nil {
		for _, r := range seen {
			runs = append(runs, r.RunID)
		}
	}
	slices.SortFunc(runs, func(x, y string) int { return strings.Compare(y, x) })
	return runs[:min(len(runs), s.finals)]
}

// key returns the number that orders an entry: the value of the measure, or its negative if higher values are better.
func (s *selector) key(e *record.EvaluationItem) float64 {
	v := e.Measures[s.measure]
	switch {
	case v == nil, s.concealed && !e.Access.Published:
		return undefined
	case s.lowerIsBetter:
		return *v
	default:
		return -*v
	}
}

// compare orders rows from the best to the worst value, then by submission. Undefined values come last. No two rows of a board are equal.
func (s *selector) compare(x, y row) int {
	if order := cmp.Compare(x.key, y.key); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(x.SubmissionID, y.SubmissionID), strings.Compare(x.RunID, y.RunID), strings.Compare(x.ID, y.ID))
}

// find returns the place of the row in the rows, or the place that it would have.
func (s *selector) find(rows []row, of row) int {
	at, _ := slices.BinarySearchFunc(rows, of, s.compare)
	return at
}

// better returns how many of the rows have a better value than the key stands for.
func better(rows []row, key float64) int {
	n, _ := slices.BinarySearchFunc(rows, key, func(r row, key float64) int { return cmp.Compare(r.key, key) })
	return n
}
