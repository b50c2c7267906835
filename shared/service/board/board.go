// Package board ranks the evaluations of a dataset as one caller sees them.
//
// A Board holds evaluations in memory. It selects and orders them for a class of readers: everyone, registrants or organizers. The view of
// one reader is the selection of the reader's class, with the rows of the reader's teams in place. So the work of a view does not depend
// on the size of the board, except for the first view of an order, and a copy of the order after a change.
//
// A board holds all evaluations. The rules of the dataset (record.ValueRules) decide at each view which of them a reader gets.
//
// Boards keeps boards in memory and follows the commits of a store. A view contains every change that was acknowledged before it. For a
// store whose commits this process does not know, like DynamoDB, evaluations are read from the partitions of the ranking for each view.
package board

import (
	"maps"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
)

// entries are evaluations in memory. Neither they nor their list change, so that a list which was returned earlier stays valid.
type entries []*record.EvaluationItem

// Board holds the evaluations of one dataset against one version of its ground truth (qrels, labels). It is not safe for concurrent use.
// Views of it are, because they stay unchanged when the board changes.
type Board struct {
	byID       map[string]*record.EvaluationItem
	teams      map[string]entries // by EvaluationItem.Entrant
	owners     map[string]entries // by the ID of the registration, or of the user without one
	selections map[selector]*selection
	first      *record.EvaluationItem // see share
}

// New returns an empty board.
func New() *Board {
	return &Board{byID: map[string]*record.EvaluationItem{}, teams: map[string]entries{}, owners: map[string]entries{},
		selections: map[selector]*selection{}}
}

// Len returns the number of evaluations.
func (b *Board) Len() int { return len(b.byID) }

// Put adds an evaluation, or replaces the one with its ID. The evaluation must not change afterwards.
func (b *Board) Put(e *record.EvaluationItem) {
	b.Remove(e.ID)
	b.byID[e.ID] = e
	b.setTeam(e, append(b.teams[e.Entrant()], e))
	b.owners[owner(e)] = append(b.owners[owner(e)], e)
}

// Remove removes the evaluation with the ID, if the board has it.
func (b *Board) Remove(id string) {
	e := b.byID[id]
	if e == nil {
		return
	}
	delete(b.byID, id)
	b.setTeam(e, without(b.teams[e.Entrant()], e))
	b.owners[owner(e)] = without(b.owners[owner(e)], e)
}

// setTeam replaces the evaluations of the team of e. Each selection remembers the team's evaluations from which it was made. After many
// changes setTeam drops a selection: selecting everything again is faster then, and a selection that nobody asks for would otherwise keep
// all replaced evaluations in memory.
func (b *Board) setTeam(e *record.EvaluationItem, now entries) {
	team := e.Entrant()
	was := b.teams[team]
	b.teams[team] = now
	for by, s := range b.selections {
		if _, known := s.changed[team]; !known {
			s.changed[team] = was
		}
		if len(s.changed) > len(b.teams)/8 {
			delete(b.selections, by)
		}
	}
}

// share makes the evaluation use the texts and lists of the first one where they are equal. This halves the memory of a board.
func (b *Board) share(e *record.EvaluationItem) *record.EvaluationItem {
	if b.first == nil {
		b.first = e
		return e
	}
	for _, text := range [][2]*string{
		{&e.TaskID, &b.first.TaskID}, {&e.DatasetID, &b.first.DatasetID},
		{&e.Access.OrganizerID, &b.first.Access.OrganizerID}, {&e.Digests.Truth, &b.first.Digests.Truth},
		{&e.Digests.PlainTruth, &b.first.Digests.PlainTruth}, {&e.Evaluator.Kind, &b.first.Evaluator.Kind},
		{&e.Evaluator.Version, &b.first.Evaluator.Version},
	} {
		if *text[0] == *text[1] {
			*text[0] = *text[1]
		}
	}
	if e.Evaluator.Settings == b.first.Evaluator.Settings {
		e.Evaluator.Settings = b.first.Evaluator.Settings
	}
	if maps.Equal(e.Evaluator.Signatures, b.first.Evaluator.Signatures) {
		e.Evaluator.Signatures = b.first.Evaluator.Signatures
	}
	if slices.Equal(e.Measured, b.first.Measured) {
		e.Measured = b.first.Measured
	}
	return e
}

// owner returns the ID of the registration of the evaluation's run, or of its user for baselines without a registration.
func owner(e *record.EvaluationItem) string {
	if e.Access.RegistrationID != "" {
		return e.Access.RegistrationID
	}
	return e.UserID
}

func without(all entries, gone *record.EvaluationItem) entries {
	return slices.DeleteFunc(slices.Clone(all), func(e *record.EvaluationItem) bool { return e == gone })
}

// Reader is a caller who reads a board.
type Reader struct {
	// Class is the narrowest audience that the reader belongs to by the roles for the dataset. The reader sees evaluations of this and
	// of wider audiences. Readers of one class differ only in their own evaluations.
	Class access.Audience
	// Rule decides the audience of each evaluation.
	Rule record.EntryRule
	// Default is the measure that sorts unless a query names one.
	Default string
	// Owners lists the registrations of the reader and the reader's own ID. It is empty for readers who see nothing more by them.
	Owners []string
	// Sees reports whether the reader sees an evaluation. It is asked for evaluations of the Owners and of their teams.
	Sees func(*record.EvaluationItem) bool
	// Concealed reports whether the reader sees no values of the column of runs whose review is not published.
	Concealed func(key string) bool
}

// view returns the entries that the reader sees, selected and in order.
func (b *Board) view(r Reader, s selector) view {
	s.class, s.rule = r.Class, r.Rule
	v := view{selector: s, rows: b.selection(s).rows}
	teams := map[string]bool{}
	for _, id := range r.Owners {
		for _, e := range b.owners[id] {
			if !s.shows(e) && r.Sees(e) {
				teams[e.Entrant()] = true
			}
		}
	}
	for team := range teams {
		for _, row := range s.pick(b.teams[team], s.shows) {
			v.replaced = append(v.replaced, s.find(v.rows, row))
		}
		v.own = append(v.own, s.pick(b.teams[team], func(e *record.EvaluationItem) bool { return s.shows(e) || r.Sees(e) })...)
	}
	slices.Sort(v.replaced)
	slices.SortFunc(v.own, s.compare)
	return v
}
