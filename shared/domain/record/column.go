package record

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// ColumnAudience says who sees the values of a column once its From is reached.
type ColumnAudience string

// The values of ColumnAudience. Each includes the one before. An empty ColumnAudience means ForEveryone.
const (
	ForOrganizers  ColumnAudience = "organizers"
	ForTeam        ColumnAudience = "team"
	ForRegistrants ColumnAudience = "registrants"
	ForEveryone    ColumnAudience = "everyone"
)

// audience returns the audience in the terms of package access. An unknown value is for organizers.
func (a ColumnAudience) audience() access.Audience {
	switch a {
	case "", ForEveryone:
		return access.Everyone
	case ForRegistrants:
		return access.Registrants
	case ForTeam:
		return access.Owners
	default:
		return access.Organizers
	}
}

// columnAudiences holds the ColumnAudience of each audience except access.Everyone.
var columnAudiences = map[access.Audience]ColumnAudience{
	access.Organizers: ForOrganizers, access.Owners: ForTeam, access.Registrants: ForRegistrants,
}

// From says from when callers other than organizers see the values of a column: one of the constants, or an instant in the form of
// Instant.
type From string

// The values of From that are no instants. An empty From means FromNow.
const (
	FromNow         From = "now"
	FromPublication From = "publication" // of the review of each run
	FromClose       From = "close"       // of the last window of a team, see Release
)

// At returns the instant, or false if the From is one of the constants.
func (f From) At() (Instant, bool) {
	switch f {
	case "", FromNow, FromPublication, FromClose:
		return Instant{}, false
	}
	at, err := time.Parse(time.RFC3339, string(f))
	return At(at), err == nil
}

func (f From) valid() bool {
	_, isInstant := f.At()
	return isInstant || slices.Contains([]From{"", FromNow, FromPublication, FromClose}, f)
}

// short returns the stored form of the From: empty for FromNow, and instants in UTC.
func (f From) short() From {
	if at, ok := f.At(); ok {
		return From(at.String())
	}
	if f == FromNow {
		return ""
	}
	return f
}

// Column is a measure as leaderboards show it, with the rule of who sees its values and from when.
type Column struct {
	Key           string `json:"key" minLength:"1" maxLength:"100" doc:"one of the measures of the evaluator" example:"nDCG@10"`
	Title         string `json:"title,omitempty" maxLength:"80" doc:"the heading of the column; its key unless given"`
	Decimals      *int   `json:"decimals,omitempty" minimum:"0" maximum:"12" doc:"how many decimals pages and tables show; four unless given. JSON and CSV have all digits"`
	LowerIsBetter *bool  `json:"lowerIsBetter,omitempty" doc:"whether lower values are better. Built-in evaluators know it; for an evaluator of the kind worker, higher values are better unless it is true"`
	Group         string `json:"group,omitempty" maxLength:"80" doc:"a heading over adjacent columns with the same group"`

	Audience ColumnAudience `json:"audience,omitempty" enum:"organizers,team,everyone" doc:"who sees the values besides the organizers: organizers: nobody; team: the team of each run; everyone (the default): everyone who sees the task, once the review of a run shows it to them"`
	From     From           `json:"from,omitempty" maxLength:"40" doc:"from when others than the organizers see the values: now (the default); publication: once the review of the run is published; close: once the window of the last team has closed, exceptions included; or an instant, such as 2026-06-01T12:00:00Z" example:"close"`
}

// Heading returns the text over the column.
func (c Column) Heading() string { return cmp.Or(c.Title, c.Key) }

// Lower reports whether lower values of the column are better. Call it only for columns that Shown functions return.
func (c Column) Lower() bool { return *c.LowerIsBetter }

// lessIsBetter reports whether lower values of a measure are better by the definition of the measure. Organizers' own evaluators define
// nothing.
func (e *Evaluator) lessIsBetter(name string) bool {
	m, err := measure.Parse(measure.Kind(e.Kind), name)
	return err == nil && !m.HigherIsBetter()
}

// lower reports whether lower values of the column are better.
func (e *Evaluator) lower(c Column) bool {
	if c.LowerIsBetter != nil {
		return *c.LowerIsBetter
	}
	return e.lessIsBetter(c.Key)
}

// complete sets LowerIsBetter of the columns.
func (e *Evaluator) complete(columns []Column) []Column {
	for i := range columns {
		columns[i].LowerIsBetter = new(e.lower(columns[i]))
	}
	return columns
}

// columns returns the columns of the evaluator's measures: those that the draft names, in their order, then one for each other measure.
// If the draft names any, the others are for organizers, so that a new measure is shown to others only by a column.
func (d *DatasetDraft) columns() []Column {
	all := slices.Clone(d.Columns)
	var audience ColumnAudience
	if len(d.Columns) > 0 {
		audience = ForOrganizers
	}
	for _, name := range d.Evaluator.Measures {
		if find(all, name) == nil {
			all = append(all, Column{Key: name, Audience: audience})
		}
	}
	return all
}

// ShownColumns returns the columns of the evaluator's measures as answers show them.
func (d *DatasetDraft) ShownColumns() []Column { return d.Evaluator.complete(d.columns()) }

// Primary returns the first column, which ranks unless a reader sorts by another.
func (d *DatasetDraft) Primary() Column { return d.ShownColumns()[0] }

// find returns the column with the key, or nil.
func find(columns []Column, key string) *Column {
	if i := slices.IndexFunc(columns, func(c Column) bool { return c.Key == key }); i >= 0 {
		return &columns[i]
	}
	return nil
}

// boardColumns returns the columns of leaderboards.
func (d *DatasetItem) boardColumns() []Column {
	if d.BoardTruth == nil {
		return d.columns()
	}
	return d.columnsOf(&d.BoardTruth.Evaluator)
}

// columnsOf returns a column for each measure of e, in the order of the dataset. Measures that only an earlier evaluator has come last.
// Measures whose column is not known are for organizers.
func (d *DatasetItem) columnsOf(e *Evaluator) (shown []Column) {
	known := d.columns()
	if d.BoardTruth != nil {
		known = append(known, d.BoardTruth.Columns...)
	}
	for _, name := range e.Measures {
		known = append(known, Column{Key: name, Audience: ForOrganizers})
	}
	for _, c := range known {
		if slices.Contains(e.Measures, c.Key) && find(shown, c.Key) == nil {
			shown = append(shown, c)
		}
	}
	return shown
}

// KeptBoard returns the board for a change of the evaluator to keep. Its columns include those of the present evaluator, whose results
// leaderboards may show next.
func (d *DatasetItem) KeptBoard() BoardTruth {
	board := d.Board()
	board.Columns = d.BoardColumns()
	for _, c := range d.ShownColumns() {
		if find(board.Columns, c.Key) == nil {
			board.Columns = append(board.Columns, c)
		}
	}
	return board
}

// FirstShown returns the From of the column that readers of the class see first, of runs whose review shows them. ok is false if they see
// none.
func FirstShown(columns []Column, class access.Audience, now time.Time) (first From, ok bool) {
	rank := func(f From) (int, time.Time) {
		at, isInstant := f.At()
		switch {
		case f == FromPublication:
			return 1, time.Time{}
		case isInstant && at.After(now):
			return 2, at.Time
		case f == FromClose:
			return 3, time.Time{}
		}
		return 0, time.Time{}
	}
	for _, c := range columns {
		if c.Audience.audience() < class {
			continue
		}
		was, before := rank(first)
		is, at := rank(c.From)
		if !ok || is < was || is == was && at.Before(before) {
			first, ok = c.From, true
		}
	}
	if n, _ := rank(first); n == 0 {
		first = FromNow
	}
	return first, ok
}

// BoardColumns returns the columns of leaderboards as answers show them.
func (d *DatasetItem) BoardColumns() []Column {
	e := d.Board().Evaluator
	return e.complete(d.boardColumns())
}

// LowerIsBetter reports whether lower values of a measure on leaderboards are better.
func (d *DatasetItem) LowerIsBetter(key string) bool {
	e := d.Board().Evaluator
	return e.lower(*cmp.Or(find(d.boardColumns(), key), &Column{Key: key}))
}

// KeepColumns completes a change of old that leaves the columns as clients see them, and may change measures. Columns that nobody has
// named follow the measures, and named ones go with their measures. If all of these are gone, new measures take the rule of the first.
func (d *DatasetDraft) KeepColumns(old *DatasetDraft) {
	if !reflect.DeepEqual(d.Columns, old.ShownColumns()) {
		return
	}
	measures := d.Evaluator.canonical()
	gone := func(c Column) bool { return !slices.Contains(measures, c.Key) }
	d.Columns = slices.DeleteFunc(slices.Clone(old.Columns), gone)
	if len(old.Columns) == 0 || len(d.Columns) > 0 {
		return
	}
	// Nothing that was hidden is shown because the columns are gone.
	d.Columns = slices.DeleteFunc(old.columns(), gone)
	for _, name := range measures {
		if len(d.Columns) == 0 || find(old.columns(), name) == nil {
			d.Columns = append(d.Columns, Column{Key: name, Audience: old.Columns[0].Audience, From: old.Columns[0].From})
		}
	}
}

// CheckColumns reports the errors of the columns.
func (d *DatasetDraft) CheckColumns() (fields problem.Fields) {
	measures := d.Evaluator.canonical()
	seen := map[string]int{}
	for i, c := range d.Columns {
		p := fmt.Sprintf("/columns/%d", i)
		key := d.Evaluator.canonicalName(c.Key)
		first, twice := seen[key]
		fields.AddIf(!slices.Contains(measures, key), p+"/key",
			"%q is none of the measures of {evaluator}: name one of them, or leave the column out", c.Key)
		fields.AddIf(twice, p+"/key", "%q has a column already, %s: leave one of the two out", c.Key,
			problem.Member(fmt.Sprintf("/columns/%d", first)))
		seen[key] = i
		fields.AddIf(!c.From.valid(), p+"/from", "must be now, publication, close, or an instant in the form of RFC 3339, not %q", c.From)
		fields = append(fields, CheckLine(p+"/title", c.Title)...)
		fields = append(fields, CheckLine(p+"/group", c.Group)...)
		lower := d.Evaluator.lessIsBetter(key)
		fields.AddIf(d.Evaluator.Kind != EvaluatorWorker && d.Evaluator.lower(c) != lower && slices.Contains(measures, key), p+"/lowerIsBetter",
			"is %t for %s: leave it out", lower, c.Key)
	}
	return fields
}

// canonical returns the names under which results have the measures. Other texts stay unchanged.
func (e *Evaluator) canonical() []string { return lists.Map(e.Measures, e.canonicalName) }

func (e *Evaluator) canonicalName(name string) string {
	if m, err := measure.Parse(measure.Kind(e.Kind), name); err == nil {
		return m.String()
	}
	return name
}

// UseCanonicalNames replaces the names of measures with those that results use, and completes the columns. It drops columns that say
// nothing else than the measures do.
func (d *DatasetDraft) UseCanonicalNames() {
	d.Evaluator.Measures = d.Evaluator.canonical()
	d.Columns = slices.Clone(d.Columns)
	for i := range d.Columns {
		c := &d.Columns[i]
		c.Key = d.Evaluator.canonicalName(c.Key)
		c.From = c.From.short()
		if c.Audience == ForEveryone {
			c.Audience = ""
		}
	}
	d.Evaluator.complete(d.Columns)
	if reflect.DeepEqual(d.Columns, (&DatasetDraft{Evaluator: d.Evaluator}).ShownColumns()) {
		d.Columns = nil
	}
}
