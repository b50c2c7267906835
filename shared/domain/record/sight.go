package record

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
)

// DatasetRef identifies a dataset, for reading its rules. If Waits is set, the records that say when windows close are read in the same
// call. Otherwise they are read in another call if the dataset waits for a close.
type DatasetRef struct {
	TaskID, DatasetID string
	Waits             bool
}

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
	kind    string // of the evaluator of leaderboards
	columns []Column
	keys    []string // of the columns
	coming  []Column // of measures of a new evaluator, before leaderboards show its results
	release Release  // when FromClose is reached
	waits   bool     // DatasetItem.WaitsForClose
}

// ValueRules returns the rules of the dataset. Without its task, columns with FromClose stay hidden. The Embargo is nil if the task has
// none. The rules of a nil dataset show values only to organizers.
func (d *DatasetItem) ValueRules(t *TaskItem, e *Embargo) *ValueRules {
	if d == nil {
		return new(ValueRules)
	}
	r := &ValueRules{kind: d.Board().Evaluator.Kind, columns: d.boardColumns(), waits: d.WaitsForClose()}
	r.coming = slices.DeleteFunc(d.columns(), func(c Column) bool { return find(r.columns, c.Key) != nil })
	r.release.Unknown = true
	r.keys = lists.Map(r.columns, func(c Column) string { return c.Key })
	if t != nil {
		r.release = d.lastClose(t, e)
	}
	return r
}

// WaitsForClose reports whether a column of the dataset is shown from the last close on.
func (d *DatasetItem) WaitsForClose() bool {
	return slices.ContainsFunc(d.boardColumns(), func(c Column) bool { return c.From == FromClose })
}

// Audience returns who sees the value of a measure or column of a run with the attributes at now.
func (r *ValueRules) Audience(a *AccessAttributes, key string, now time.Time) access.Audience {
	return min(a.reviewAudience(), r.columnAudience(a, find(r.columns, key), now))
}

// State identifies what the rules decide at now. Under rules with equal States, equal evaluations are shown equally to equal roles.
func (r *ValueRules) State(now time.Time) string {
	var state []byte
	for _, published := range []bool{false, true} {
		a := &AccessAttributes{Published: published}
		for i := range r.columns {
			state = strconv.AppendQuote(state, r.columns[i].Key)
			state = append(state, byte(r.columnAudience(a, &r.columns[i], now)))
		}
	}
	return string(state)
}

// inOrder returns the names of measures with a column, in the order of the columns, and the others.
func (r *ValueRules) inOrder(names []string) (ordered, others []string) {
	if slices.Equal(names, r.keys) {
		return r.keys, nil
	}
	for _, key := range r.keys {
		if slices.Contains(names, key) {
			ordered = append(ordered, key)
		}
	}
	for _, name := range names {
		if !slices.Contains(r.keys, name) {
			others = append(others, name)
		}
	}
	return ordered, others
}

// ColumnsFor returns the columns of leaderboards whose values readers of the class see at now of some runs, as answers show them.
func (d *DatasetItem) ColumnsFor(r *ValueRules, class access.Audience, now time.Time) []Column {
	published := &AccessAttributes{Published: true}
	return slices.DeleteFunc(d.BoardColumns(), func(c Column) bool { return r.columnAudience(published, &c, now) < class })
}

// Sorting returns the columns by which readers of a class can order runs whose review is published, in order. The first is the default.
// Readers see their own rows beyond that, but no order comes from a column that only the owners of rows see.
func (r *ValueRules) Sorting(class access.Audience, now time.Time) []Column {
	published := &AccessAttributes{Published: true}
	return slices.DeleteFunc(slices.Clone(r.columns), func(c Column) bool { return r.columnAudience(published, &c, now) < class })
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
	return r.EntryRule(now).Audience(a)
}

// EntryRule decides at one instant who sees the value of at least one column, and so the entry of a leaderboard. Equal EntryRules decide
// alike.
type EntryRule struct {
	Published   access.Audience // bound of the columns together for runs whose review is published
	Unpublished access.Audience // bound of the columns together for other runs
}

// EntryRule returns the rule at now.
func (r *ValueRules) EntryRule(now time.Time) EntryRule {
	widest := func(a *AccessAttributes) access.Audience {
		bound := access.Organizers
		for i := range r.columns {
			bound = max(bound, r.columnAudience(a, &r.columns[i], now))
		}
		return bound
	}
	return EntryRule{Published: widest(&AccessAttributes{Published: true}), Unpublished: widest(new(AccessAttributes))}
}

// Audience returns who sees the value of at least one column of a run with the attributes.
func (e EntryRule) Audience(a *AccessAttributes) access.Audience {
	if a.Published {
		return min(a.reviewAudience(), e.Published)
	}
	return min(a.reviewAudience(), e.Unpublished)
}

// Narrowest returns who sees the values of all columns of a run with the attributes, also of the columns of a new evaluator.
func (r *ValueRules) Narrowest(a *AccessAttributes, now time.Time) access.Audience {
	narrowest := access.Everyone
	if len(r.columns) == 0 {
		narrowest = access.Organizers
	}
	for _, columns := range [][]Column{r.columns, r.coming} {
		for i := range columns {
			narrowest = min(narrowest, r.columnAudience(a, &columns[i], now))
		}
	}
	return min(a.reviewAudience(), narrowest)
}

// Conceals reports whether not even the owner of a run with the attributes sees the values of all columns.
func (r *ValueRules) Conceals(a *AccessAttributes, now time.Time) bool {
	return r.Narrowest(a, now) < access.Owners
}

// Copy sets the members of the attributes of a run or evaluation that are copies of the rules. A publication of the review changes the
// attributes without asking the rules, so ColumnsFor already counts columns that wait for it, and Concealed still does.
func (r *ValueRules) Copy(a *AccessAttributes, now time.Time) {
	a.ColumnsFor = columnAudiences[r.Widest(&AccessAttributes{Published: true}, now)]
	a.Concealed, a.Waits = r.Conceals(&AccessAttributes{}, now), r.waits
}

// ShowsOthers reports whether everybody who sees the task sees a value of a run with the attributes.
func (r *ValueRules) ShowsOthers(a *AccessAttributes, now time.Time) bool {
	return r.Widest(a, now) == a.taskAudience()
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

// Columns returns the names of measures that the caller sees, in the order of the dataset. Only organizers see measures without a column,
// such as those of an earlier evaluator, which come last.
func (s Sight) Columns(names []string) []string {
	seen, others := s.rules.inOrder(names)
	if !s.All() {
		seen = slices.DeleteFunc(slices.Clone(seen), func(key string) bool { return !s.Sees(key) })
	}
	if len(others) == 0 || !access.Sees(s.roles, access.Organizers) {
		return seen
	}
	return slices.Concat(seen, others)
}

// LowerIsBetter reports whether lower values of the column are better.
func (s Sight) LowerIsBetter(key string) bool {
	e := Evaluator{Kind: s.rules.kind}
	return e.lower(*cmp.Or(find(s.rules.columns, key), &Column{Key: key}))
}

// Entry reports whether the caller sees the value of at least one column, and so that the run was evaluated.
func (s Sight) Entry() bool { return access.Sees(s.roles, s.rules.Widest(&s.attributes, s.now)) }

// Audience returns who sees the value of at least one column.
func (s Sight) Audience() access.Audience { return s.rules.Widest(&s.attributes, s.now) }

// conditions returns what must happen before readers of the class see a value of the run, each to follow the word once. It returns never
// if they see none whatever happens.
func (s Sight) conditions(class access.Audience) (all []string, never bool) {
	w := s.rules.Wait(class, s.now)
	if w.Never {
		return nil, true
	}
	if !w.Over {
		all = append(all, w.Condition())
	}
	if s.attributes.Blinded {
		all = append(all, "the organizers have unblinded it")
	}
	unpublished := AccessAttributes{PrivateTask: s.attributes.PrivateTask}
	if !s.attributes.Published && (class > access.Owners || w.Over && s.rules.Widest(&unpublished, s.now) < class) {
		all = append(all, "the organizers have published it")
	}
	return all, false
}

// ShownOnce says when the team sees values of its run if the review shows them, in a clause. Call it only while the team sees none.
func (s Sight) ShownOnce() string {
	w := s.rules.Wait(access.Owners, s.now)
	if w.Never {
		return "only the organizers see its scores"
	}
	return "its scores are shown once " + w.Condition()
}

// hidden returns why only the owner and the organizers see values of the run, or only the organizers. It returns "" if others see some.
func (s Sight) hidden() Hidden {
	switch a := &s.attributes; {
	case a.Blinded:
		return HiddenBlinded
	case !a.Published:
		return HiddenUnpublished
	case !s.rules.ShowsOthers(a, s.now):
		return HiddenColumns
	default:
		return ""
	}
}

// All reports whether the caller sees the values of all columns. Only such a caller sees diagnostics and logs that can depend on the
// ground truth.
func (s Sight) All() bool { return access.Sees(s.roles, s.rules.Narrowest(&s.attributes, s.now)) }

// ReadsFiles reports whether the caller, who sees the run, may read its files. The owner and the organizers may, and everyone else who
// sees all values of the run.
func (s Sight) ReadsFiles() bool { return canSeeIdentity(s.roles) || s.All() }

// Ref identifies the dataset.
func (d *DatasetItem) Ref() DatasetRef { return DatasetRef{d.TaskID, d.ID, d.WaitsForClose()} }

// Rated returns the dataset whose rules decide who sees values of the run, and the attributes that they depend on.
func (r *RunItem) Rated() (DatasetRef, AccessAttributes) {
	return DatasetRef{r.TaskID, r.DatasetID, r.Access.Waits}, r.Access
}

// Rated returns the dataset whose rules decide who sees the values, and the attributes that they depend on.
func (e *EvaluationItem) Rated() (DatasetRef, AccessAttributes) {
	return DatasetRef{e.TaskID, e.DatasetID, e.Access.Waits}, e.Access
}

// without returns a copy of the map without the keys that drop accepts, or nil for nil.
func without[V any](all map[string]V, drop func(key string) bool) map[string]V {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(key string, _ V) bool { return drop(key) })
	return rest
}
