package inputs

import (
	"context"
	"fmt"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/board"
	"assay/shared/service/evaluation"
	"assay/shared/service/records"
)

// RankingRequest selects a ranking. All members are at the top of the input.
type RankingRequest struct {
	DatasetID string
	Measure   string // empty: the measure that ranks the dataset's leaderboard
	Against   *int64 // another truth version to compare ranks with
	Best      bool   // only the best run of each team
	Final     bool   // only final runs
	Limit     int
	Public    bool // only entries that everyone who sees the task sees
}

// Ranking holds the entries of a dataset's leaderboard that the caller sees.
type Ranking struct {
	Dataset       *record.DatasetItem
	Board         record.BoardTruth // the truth and evaluator of the entries
	Task          *record.TaskItem
	Measure       string          // that sorts; empty if the caller sees no column of runs that others see
	Columns       []record.Column // that the caller sees of some runs
	LowerIsBetter bool
	Entries       []RankedEntry
	More          bool // whether more entries follow
	Public        bool // whether the entries are only those that everyone sees who sees the task
	final         bool // whether the entries are only final runs
	resolver      *Resolver
}

// RankedEntry is an entry of a ranking as the caller sees it.
type RankedEntry struct {
	record.Evaluation // with its rank
	// CommonRank and OtherRank are ranks among the entries that both truth versions rank: CommonRank against the version
	// in use, OtherRank against the other version. Both are 0 for an entry that only one version ranks.
	CommonRank, OtherRank int
}

// Ranking gathers a ranking. It has the evaluations that the caller sees in the list of the task's evaluations, in the same
// order.
func (resolver *Resolver) Ranking(ctx context.Context, asked RankingRequest) (*Ranking, error) {
	if err := problem.Check(checkReference("", "datasetId", asked.DatasetID, nil)); err != nil {
		return nil, err
	}
	d, err := resolver.dataset(ctx, "", asked.DatasetID)
	if err != nil {
		return nil, err
	}
	if asked.Final && d.item.FinalRuns == 0 {
		return nil, problem.InvalidMember("/final", "goes with datasets that take final runs, and this one takes none: leave it out")
	}
	resolver.call.Public = asked.Public
	r := &Ranking{Dataset: d.item, Board: d.item.Board(), Public: asked.Public, final: asked.Final, resolver: resolver}
	if r.Task, err = records.Require[record.TaskItem](ctx, resolver.call.Store, resolver.call.Consistency, record.TaskKey(d.item.TaskID),
		notFound(problem.NewField("/datasetId", "is being deleted"))); err != nil {
		return nil, err
	}
	resolver.addDependency("task %s %s", r.Task.ID, r.Task.Name)
	if err := r.selectColumns(ctx, asked); err != nil {
		return nil, err
	}
	r.LowerIsBetter = d.item.LowerIsBetter(r.Measure)
	there, err := r.otherVersion(ctx, asked)
	if err != nil {
		return nil, err
	}
	q := r.query(asked, r.Measure, r.Board.TruthVersion)
	q.Count = asked.Best
	var here []place
	err = r.forEachEntry(ctx, q, func(at board.Entry, e *record.EvaluationItem, sight record.Sight) bool {
		here = append(here, place{identity(e, asked.Best), at.Rank})
		r.More = len(here) > asked.Limit
		if r.More {
			return asked.Against != nil
		}
		v := RankedEntry{Evaluation: e.For(sight)}
		v.Rank, v.Runs = at.Rank, at.Runs
		r.Entries = append(r.Entries, v)
		return true
	})
	if err != nil {
		return nil, err
	}
	ranksHere, ranksThere := ranksInBoth(here, there), ranksInBoth(there, here)
	for i := range r.Entries {
		v, name := &r.Entries[i], here[i].identity
		v.CommonRank, v.OtherRank = ranksHere[name], ranksThere[name]
		resolver.addDependency("evaluation %s %d %s %s %s %d %d %d %d", v.ID, v.Version, v.Team, v.Audience, v.Alias, v.Rank, v.Runs,
			v.CommonRank, v.OtherRank)
	}
	return r, nil
}

// selectColumns sets the columns that the caller sees, and the measure that sorts.
func (r *Ranking) selectColumns(ctx context.Context, asked RankingRequest) error {
	viewer, now := &r.resolver.call.Viewer, r.resolver.call.Now()
	rules, err := viewer.RulesOf(ctx, r.Dataset)
	if err != nil {
		return err
	}
	columns, err := board.ColumnsOf(ctx, viewer, r.Dataset, rules, now)
	if err != nil {
		return err
	}
	r.Columns = columns.Shown()
	if asked.Measure == "" {
		r.Measure = columns.Default()
		return nil
	}
	r.Measure = columns.Named(asked.Measure)
	if r.Measure != "" {
		return nil
	}
	keys := columns.Sortable()
	if len(keys) == 0 {
		return problem.InvalidMember("/measure", "the leaderboard has no column that you can sort by now: leave it out")
	}
	return problem.InvalidMember("/measure", "%q is none of the measures that you can sort by: %s", asked.Measure, lists.Or(keys))
}

// Empty says why the ranking has no entries. It returns nil if it has some.
func (r *Ranking) Empty(ctx context.Context) (*board.EmptyBoard, error) {
	if len(r.Entries) > 0 {
		return nil, nil
	}
	q := r.query(RankingRequest{Limit: 1, Final: r.final}, "", r.Board.TruthVersion)
	e, err := r.resolver.call.Boards.Empty(ctx, q)
	if err == nil {
		r.resolver.addDependency("empty %s", e.Detail)
	}
	return e, err
}

// query asks for the leaderboard of the dataset against the truth version, in the order of the measure.
func (r *Ranking) query(asked RankingRequest, measure string, version int64) board.Query {
	return board.Query{Viewer: &r.resolver.call.Viewer, Dataset: r.Dataset, TruthVersion: version, Measure: measure, Best: asked.Best,
		Final: asked.Final, AtOnce: asked.Limit + 1, Now: r.resolver.call.Now()}
}

// place is the rank of an entry on one board, and the identity that finds the same entry on other boards.
type place struct {
	identity string
	rank     int // 0 for entries without a value
}

// ranksInBoth ranks only the entries that have a rank in both lists. The places are in order of rank. Other entries are left out, because
// a new or removed entry moves all entries below it without any change of the truth.
func ranksInBoth(places, others []place) map[string]int {
	both := map[string]bool{}
	for _, p := range others {
		both[p.identity] = p.rank > 0
	}
	ranks := map[string]int{}
	last, rank := 0, 0
	for _, p := range places {
		if p.rank == 0 || !both[p.identity] {
			continue
		}
		if p.rank != last {
			last, rank = p.rank, len(ranks)+1
		}
		ranks[p.identity] = rank
	}
	return ranks
}

// identity identifies an entry across truth versions. If each team has only its best entry, it is the team, otherwise the
// run.
func identity(e *record.EvaluationItem, best bool) string {
	if best {
		return e.Entrant()
	}
	return e.RunID
}

// forEachEntry calls do with each entry that the caller sees, until do returns false.
func (r *Ranking) forEachEntry(ctx context.Context, q board.Query,
	do func(at board.Entry, e *record.EvaluationItem, sight record.Sight) bool) error {
	rolesOf, err := q.Viewer.RolesOf(ctx)
	if err != nil {
		return err
	}
	rules, err := q.Viewer.RulesOf(ctx, q.Dataset)
	if err != nil {
		return err
	}
	entries, err := r.resolver.call.Boards.Entries(ctx, q)
	if err != nil {
		return err
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		e, err := entry.Item()
		if err != nil {
			return err
		}
		sight := rules.For(e.Access, rolesOf(e.Scope()), q.Now)
		if sight.Entry() && !do(entry, e, sight) {
			return nil
		}
	}
	return nil
}

// otherVersion returns the places of the entries against the other truth version, by the same measure.
func (r *Ranking) otherVersion(ctx context.Context, asked RankingRequest) ([]place, error) {
	if asked.Against == nil {
		return nil, nil
	}
	number, newest := *asked.Against, r.Board.TruthVersion
	switch {
	case newest < 2:
		return nil, problem.InvalidMember("/against", "the dataset has no other version of the ground truth and evaluator yet: leave it out")
	case number == newest:
		return nil, problem.InvalidMember("/against", "is the version in use: name an earlier one, from 1 to %d", newest-1)
	case number < 1 || number > newest:
		return nil, problem.InvalidMember("/against",
			"there is no such version of the ground truth and evaluator: name one from 1 to %d", newest-1)
	}
	var places []place
	measured := false
	err := r.forEachEntry(ctx, r.query(asked, r.Measure, number), func(at board.Entry, e *record.EvaluationItem, _ record.Sight) bool {
		_, has := e.Measures[r.Measure]
		places = append(places, place{identity(e, asked.Best), at.Rank})
		measured = measured || has
		return true
	})
	if err == nil && len(places) > 0 && !measured {
		return nil, problem.InvalidMember("/against", "the results against version %d do not have %s: name another version, or another measure",
			number, r.Measure)
	}
	return places, err
}

// Values returns, for each entry, the values of the ranking's measure by topic. An entry without values that the caller sees has none.
// hidden reports whether some callers who see the entries may not see these values. All callers get the same leaderboard, so it must not
// reveal single hidden values.
func (r *Ranking) Values(ctx context.Context) (all []map[string]float64, hidden bool, err error) {
	everyone := lists.Map(r.Entries, func(e RankedEntry) stored { return stored{e.ID, e.Evaluator.Kind, 0} })
	all = make([]map[string]float64, len(everyone))
	err = r.resolver.forEachTopics(ctx, everyone, func(i int, topics evaluation.Topics) error {
		if _, seen := r.Entries[i].Measures[r.Measure]; seen {
			all[i] = topics.Of(r.Measure)
		}
		return nil
	})
	hidden = slices.ContainsFunc(everyone, func(s stored) bool { return evaluation.Hides(s.kind, s.roles) })
	return all, hidden, err
}

// ReadableRuns returns the runs whose files the caller may read, in the order of the ranking. It looks only at the first entries,
// at most the given number, so that its cost does not grow with the ranking.
func (r *Ranking) ReadableRuns(ctx context.Context, most int) ([]string, error) {
	ids := lists.Map(r.Entries[:min(most, len(r.Entries))], func(e RankedEntry) string { return e.RunID })
	runs, err := records.GetExisting[record.RunItem](ctx, r.resolver.call.Store, r.resolver.call.Consistency, ids, record.RunKey)
	if err != nil {
		return nil, err
	}
	var open []string
	for _, run := range runs {
		sight, err := r.resolver.call.Sight(ctx, run, r.resolver.call.Now())
		if err != nil {
			return nil, err
		}
		if readsFiles(run, sight) && len(run.Files) > 0 && record.AllStored(run.Files) {
			open = append(open, run.ID)
		}
	}
	r.resolver.addDependency("open %s", fmt.Sprint(open))
	return open, nil
}
