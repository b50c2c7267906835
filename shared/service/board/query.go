package board

import (
	"cmp"
	"context"
	"iter"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// Query asks for the entries of a leaderboard that one caller sees.
type Query struct {
	Viewer *visibility.Viewer
	// Dataset must have been read with strong consistency: its rules decide who sees values.
	Dataset      *record.DatasetItem
	TruthVersion int64 // Values against different versions do not compare.
	// Measure sorts the entries. Empty means the first column that the caller can sort by.
	Measure string
	// Best selects only the best run of each team.
	Best bool
	// Count sets Runs of the entries. It goes with Best.
	Count bool
	// Final selects only the final runs of each team.
	Final bool
	// Offset is how many entries to leave out. They count for ranks.
	Offset int
	// AtOnce is how many entries the reader is likely to need.
	AtOnce int
	// Now is the time of the read, at which the rules of the dataset decide who sees entries.
	Now time.Time
}

// Entry is an evaluation on a board.
type Entry struct {
	// Rank is one more than the number of better entries. It is 0 without a value of the measure that sorts the board.
	Rank int
	// Runs is the number of the team's runs that the caller sees on the board. It is 0 unless counted.
	Runs int
	item *record.EvaluationItem
	// stored is the evaluation if item is nil.
	stored *store.Item
}

// Item returns the evaluation, which must not be changed.
func (e *Entry) Item() (*record.EvaluationItem, error) {
	if e.item != nil {
		return e.item, nil
	}
	return records.Decode[record.EvaluationItem](*e.stored)
}

// Entries yields the entries that the caller sees, in the order of the measure. Equal values are in the order of submission, and undefined
// values come last, without a rank. b may be nil.
//
// Boards are kept in memory if b follows the store's commits. Otherwise each call reads the partitions of the ranking: only as far as the
// caller reads the entries if they are sorted by rank, and completely for other orders, for counts and for final runs.
func (b *Boards) Entries(ctx context.Context, q Query) (iter.Seq2[Entry, error], error) {
	r, err := q.reader(ctx)
	if err != nil || !r.seesColumns() {
		return none, err
	}
	by := q.selector(r)
	if b != nil {
		v, ok, err := b.view(ctx, q.Viewer.Store, q.board(), r, by)
		if err != nil || ok {
			return q.shown(v), err
		}
	}
	parts, own, err := q.partitions(ctx, r)
	if err != nil {
		return none, err
	}
	if q.inRankOrder(by) {
		return q.ranked(ctx, parts, own), nil
	}
	read, err := q.read(ctx, parts, own)
	if err != nil {
		return none, err
	}
	return q.shown(read.view(r, by)), nil
}

func none(func(Entry, error) bool) {}

func (q *Query) board() boardID { return boardID{q.Dataset.ID, q.TruthVersion} }

// selector returns how the query selects and orders entries, for no class of readers yet.
func (q *Query) selector(r Reader) selector {
	s := selector{measure: cmp.Or(q.Measure, r.Default), best: q.Best}
	s.lowerIsBetter = q.Dataset.LowerIsBetter(s.measure)
	s.concealed = r.Concealed(s.measure)
	if q.Final {
		s.finals = q.Dataset.FinalRuns
	}
	return s
}

// reader returns the caller as a reader of the board.
func (q *Query) reader(ctx context.Context) (r Reader, err error) {
	rolesOf, err := q.Viewer.RolesOf(ctx)
	if err != nil {
		return r, err
	}
	rules, err := q.Viewer.RulesOf(ctx, q.Dataset)
	if err != nil {
		return r, err
	}
	roles := rolesOf(q.Dataset.Scope())
	r.Class, r.Rule = classOf(roles), rules.EntryRule(q.Now)
	if by := rules.Sorting(r.Class, q.Now); len(by) > 0 {
		r.Default = by[0].Key
	}
	r.Concealed = func(key string) bool {
		return r.Class != access.Organizers && rules.Audience(new(record.AccessAttributes), key, q.Now) < access.Owners
	}
	r.Sees = func(e *record.EvaluationItem) bool { return rules.For(e.Access, rolesOf(e.Scope()), q.Now).Entry() }
	if roles&access.User != 0 && r.Class != access.Organizers && r.seesColumns() {
		grants, err := q.Viewer.Grants(ctx)
		if err != nil {
			return r, err
		}
		r.Owners = append(lists.Map(grants.Registered, func(g record.Registered) string { return g.ID }), q.Viewer.Caller.ID)
	}
	return r, nil
}

// seesColumns reports whether the reader may see a column of some runs.
func (r *Reader) seesColumns() bool {
	return r.Class == access.Organizers || r.Rule.Published > access.Organizers
}

// shown yields the entries of the view from the offset on.
func (q *Query) shown(v view) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for rank, r := range v.from(q.Offset) {
			e := Entry{Rank: rank, item: r.EvaluationItem}
			if q.Count {
				e.Runs = r.runs
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
