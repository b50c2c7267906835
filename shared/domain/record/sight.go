package record

import (
	"slices"
	"time"

	"assay/shared/domain/access"
)

// DatasetRef identifies a dataset and its task.
type DatasetRef struct{ TaskID, DatasetID string }

// ValueRules decide who sees which values of the runs on a dataset. Every path that shows values, or anything that depends on values,
// asks them: boards, runs, evaluations, tools, exports and streams.
//
// A value has two bounds, and the narrower one holds:
//
//   - The bound of its run, for all columns: the review. Only organizers see a blinded run, the team sees a run that is not published, and
//     everybody who sees the task sees a run that is published and not blinded.
//   - The bound of its column: organizers before From, and Audience afterwards.
//
// So a column that is shown from now on still waits for the review of each run. Blinding is a bound of the run, not of a column, because
// organizers blind single runs and because it bounds all columns of the run alike.
type ValueRules struct {
	columns []Column
	further *Column // rule of measures without a column; nil: only organizers see them
	release Release // when FromClose is reached
}

// ValueRules returns the rules of the dataset. Without its task, columns with FromClose stay hidden. The Embargo is nil if the task has
// none. The rules of a nil dataset show values only to organizers.
func (d *DatasetItem) ValueRules(t *TaskItem, e *Embargo) *ValueRules {
	if d == nil {
		return new(ValueRules)
	}
	r := &ValueRules{columns: d.columns(), further: d.furtherColumns(), release: Release{Unknown: true}}
	if t != nil {
		r.release = d.lastClose(t, e)
	}
	return r
}

// WaitsForClose reports whether a column of the dataset is shown from the last close on.
func (d *DatasetItem) WaitsForClose() bool {
	return slices.ContainsFunc(append(d.columns(), *d.furtherColumns()), func(c Column) bool { return c.From == FromClose })
}

// Audience returns who sees the value of a measure or column of a run with the attributes at now.
func (r *ValueRules) Audience(a *AccessAttributes, key string, now time.Time) access.Audience {
	return min(a.reviewAudience(), r.columnAudience(a, r.column(key), now))
}

// column returns the column with the key, or the rule for measures without a column.
func (r *ValueRules) column(key string) *Column {
	if i := slices.IndexFunc(r.columns, func(c Column) bool { return c.Key == key }); i >= 0 {
		return &r.columns[i]
	}
	return r.further
}

// columnAudience returns the bound of the column, which is nil if only organizers see it.
func (r *ValueRules) columnAudience(a *AccessAttributes, c *Column, now time.Time) access.Audience {
	if c == nil || !r.reached(a, c.From, now) {
		return access.Organizers
	}
	return c.Audience.audience()
}

// reached reports whether the instant of the From has come for a run with the attributes.
func (r *ValueRules) reached(a *AccessAttributes, f From, now time.Time) bool {
	switch f {
	case "", FromNow:
		return true
	case FromPublication:
		return a.Published
	case FromClose:
		return !r.release.Withholds(now)
	default:
		at, ok := f.At()
		return ok && !now.Before(at.Time)
	}
}

// Widest returns who sees the value of at least one column of a run with the attributes.
func (r *ValueRules) Widest(a *AccessAttributes, now time.Time) access.Audience {
	widest := access.Organizers
	for i := range r.columns {
		widest = max(widest, r.columnAudience(a, &r.columns[i], now))
	}
	return min(a.reviewAudience(), widest)
}

// Narrowest returns who sees the values of all columns of a run with the attributes.
func (r *ValueRules) Narrowest(a *AccessAttributes, now time.Time) access.Audience {
	if len(r.columns) == 0 {
		return access.Organizers
	}
	narrowest := access.Everyone
	for i := range r.columns {
		narrowest = min(narrowest, r.columnAudience(a, &r.columns[i], now))
	}
	return min(a.reviewAudience(), narrowest)
}

// Conceals reports whether not even the owner of a run with the attributes sees the values of all columns.
func (r *ValueRules) Conceals(a *AccessAttributes, now time.Time) bool {
	return r.Narrowest(a, now) < access.Owners
}

// For returns what a caller with the roles sees at now of the values of a run with the attributes.
func (r *ValueRules) For(a AccessAttributes, roles access.Role, now time.Time) Sight {
	return Sight{roles: roles, rules: r, attributes: a, now: now}
}

// Sight is what one caller sees at one instant of the values of one run, and of whatever depends on them.
type Sight struct {
	roles      access.Role
	rules      *ValueRules
	attributes AccessAttributes
	now        time.Time
}

// Roles returns the caller's roles for the run.
func (s Sight) Roles() access.Role { return s.roles }

// Sees reports whether the caller sees the value of the measure or column.
func (s Sight) Sees(key string) bool {
	return access.Sees(s.roles, s.rules.Audience(&s.attributes, key, s.now))
}

// Entry reports whether the caller sees the value of at least one column, and so that the run was evaluated.
func (s Sight) Entry() bool { return access.Sees(s.roles, s.rules.Widest(&s.attributes, s.now)) }

// All reports whether the caller sees the values of all columns. Only such a caller sees diagnostics and logs that can depend on the
// ground truth.
func (s Sight) All() bool { return access.Sees(s.roles, s.rules.Narrowest(&s.attributes, s.now)) }
