package record

import (
	"time"

	"assay/shared/domain/access"
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

// Column is a measure on the leaderboard of a dataset, with the rule of who sees its values and from when.
type Column struct {
	Key      string // the name of a measure
	Audience ColumnAudience
	From     From
}

// columns returns the columns of the dataset: one for each measure of the board, with the rule of Scores.
func (d *DatasetItem) columns() []Column {
	rule := d.furtherColumns()
	var all []Column
	for _, name := range d.Board().Evaluator.Measures {
		rule.Key = name
		all = append(all, *rule)
	}
	return all
}

// furtherColumns returns the rule of measures without a column, such as measures of an earlier evaluator. If it is nil, only organizers
// see these.
func (d *DatasetItem) furtherColumns() *Column {
	if d.Scores == ScoresAfterClose {
		return &Column{From: FromClose}
	}
	return new(Column)
}
