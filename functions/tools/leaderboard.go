package tools

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"

	"assay/functions/tools/inputs"
	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/board"
)

// LeaderboardInput selects a leaderboard.
type LeaderboardInput struct {
	DatasetID string `json:"datasetId" maxLength:"26" doc:"the dataset" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Measure   string `json:"measure,omitempty" maxLength:"100" doc:"one of the dataset's measures; by default the measure that ranks" example:"AP"`
	Against   *int64 `json:"against,omitempty" minimum:"1" maximum:"9007199254740991" doc:"another version of the ground truth and evaluator, to show how ranks changed among the entries that both have"`
	Best      *bool  `json:"best,omitempty" doc:"only the best run of each team, and all baselines without a team; default true"`
	Final     bool   `json:"final,omitempty" doc:"only the final runs of each team, and all baselines without a team, if the dataset takes final runs"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"number of entries of the answer; default 50"`
	View      string `json:"view,omitempty" enum:"caller,public" doc:"caller: all entries that you may see; public: the entries that everyone who sees the task may see, with their public ranks. Default caller"`
	Seed      uint64 `json:"seed,omitempty" maximum:"9007199254740991" doc:"of the bootstrap; the same seed gives the same intervals"`
}

// LeaderboardOutput is a leaderboard.
type LeaderboardOutput struct {
	Dataset       LeaderboardName    `json:"dataset"`
	Task          LeaderboardName    `json:"task"`
	Measure       string             `json:"measure" doc:"measure that sorts the entries"`
	Columns       []record.Column    `json:"columns" doc:"the columns of the dataset's leaderboard, in its order"`
	LowerIsBetter bool               `json:"lowerIsBetter" doc:"whether lower values are better"`
	TruthVersion  int64              `json:"truthVersion" doc:"version of the ground truth and evaluator that the entries were evaluated against"`
	Against       int64              `json:"against,omitempty" doc:"version of the ground truth and evaluator whose ranks are compared"`
	Best          bool               `json:"best" doc:"whether the entries are only the best run of each team"`
	Final         bool               `json:"final,omitempty" doc:"whether the entries are only final runs"`
	Rounds        int                `json:"rounds" doc:"number of samples of topics behind each interval; 0 if intervals come from the normal distribution"`
	Compared      int                `json:"compared" doc:"number of entries whose pairs were compared to find groups: the first 30 with values per topic"`
	View          string             `json:"view" enum:"caller,public" doc:"caller: all entries that the caller may see; public: the entries that everyone who sees the task may see"`
	NotPublic     int                `json:"notPublic" doc:"number of entries that only their owners and the organizers see, by audience"`
	More          bool               `json:"more" doc:"whether the leaderboard has more entries"`
	Entries       []LeaderboardEntry `json:"entries" doc:"the best first"`
	GroupsNote    string             `json:"groupsNote,omitempty" doc:"what the letters of the entries say; absent without letters"`
	IntervalsNote string             `json:"intervalsNote,omitempty" doc:"where the intervals come from, and whether they can end outside the range of the measure; absent without intervals"`
	FinalsNote    string             `json:"finalsNote,omitempty" doc:"which runs of a team are shown as its final ones; absent unless the entries are only final runs"`
	Empty         *board.EmptyBoard  `json:"empty,omitempty" doc:"why there are no entries"`
	Links         LeaderboardLinks   `json:"links" doc:"addresses of other tools' answers about the first entries"`

	hidden   bool // the values belong to examples, and some callers may not see them
	shifted  bool // two entries have one and the same difference, and it is not 0, on each topic that both have
	untested bool // two entries have fewer than two topics in common
}

// LeaderboardName names a resource.
type LeaderboardName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// LeaderboardEntry is an evaluation on a leaderboard.
type LeaderboardEntry struct {
	record.Entry
	Rank         int                    `json:"rank,omitempty" minimum:"1" doc:"one more than the number of better entries; entries of equal value share a rank. Absent if the measure is null: such entries come last, without a rank"`
	Runs         int                    `json:"runs,omitempty" doc:"number of the team's runs on the leaderboard, if the entries are only the best run of each team"`
	RunID        string                 `json:"runId"`
	EvaluationID string                 `json:"evaluationId"`
	Measures     map[string]*float64    `json:"measures" doc:"by name; null when a measure is not defined for the data"`
	Interval     *significance.Interval `json:"interval,omitempty" doc:"95 % interval of a measure that is a mean over topics or examples. It comes from the bootstrap. For values by example that reveal the truth it comes from the normal distribution and is rounded, and can end outside the range of the measure, such as above 1"`
	Group        string                 `json:"group,omitempty" doc:"letters, if the entry was compared. Two entries with letters of which they share none are distinguished. Two that share one are not distinguished here; groupsNote says why they may differ"`
	Change       *LeaderboardChange     `json:"change,omitempty" doc:"change of the rank among the entries that both versions rank, if against is given; absent for entries without a rank"`
}

// LeaderboardChange describes how the rank of an entry changed.
type LeaderboardChange struct {
	Rank       int  `json:"rank,omitempty" doc:"rank against the other version, among the entries that both versions rank"`
	Difference int  `json:"difference" doc:"that rank less the one here among the same entries: above 0 the entry stands better here"`
	Absent     bool `json:"absent" doc:"whether the entry has no rank against the other version"`
}

// LeaderboardLinks are addresses of answers, as far as the caller may have them.
type LeaderboardLinks struct {
	Significance string `json:"significance,omitempty" format:"uri-reference" doc:"of the first ten entries"`
	Topics       string `json:"topics,omitempty" format:"uri-reference" doc:"of the first twenty entries"`
	Diffir       string `json:"diffir,omitempty" format:"uri-reference" doc:"of the first two entries whose runs the caller may read"`
}

const (
	// maxCompared bounds the entries that are compared with each other: with more pairs corrections leave little to find.
	maxCompared = 30
	// Of how many of the first entries other tools are linked to.
	significanceRuns = 10
	topicsRuns       = 20
	maxReadableRuns  = 10
	diffirRuns       = 2
)

var leaderboardTool = define(metadata{
	name: "leaderboard", kind: "evaluation", summary: "Show a leaderboard with intervals, groups and rank changes",
	description: "Ranks the evaluations of a dataset, with 95 % intervals and with letters that show which entries can be " +
		"distinguished. With `against`, it shows how ranks changed from another version of the ground truth and " +
		"evaluator, among the entries that both versions rank. An entry without a value of the measure comes last and has no rank. " +
		"Replace the id in the example by the id of a dataset.\n\n" +
		"The entries are the same as in the list of the task's evaluations: published results, with the aliases of anonymous teams. Teams " +
		"also see their own unpublished results, and organizers see all results. Only organizers see results that are blinded or wait for a " +
		"close. The `audience` of an entry says who sees it, and `hidden` why " +
		"others do not. With `public`, `view` leaves out the results that others do not see.\n\n" +
		"Each of the first 30 entries with values by topic or example is compared with each other entry by a paired t-test over the topics " +
		"that both have. If all differences are the same and not 0, p is 0. If two entries have fewer than two topics in common, p is 1. Two " +
		"entries are distinguished if p, by Holm's correction over all these pairs, is below 0.05. Values by example of labels and numbers " +
		"reveal the truth. They are compared by McNemar's exact test if they are 0 or 1, and p is rounded up as in the tool significance, for " +
		"all callers. A letter stands for each largest set of entries of which no two can be distinguished. As `image/svg+xml` the answer is " +
		"the bars.",
}, LeaderboardInput{DatasetID: "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"},
	func(ctx context.Context, resolver *inputs.Resolver, in LeaderboardInput) (compute[LeaderboardOutput], error) {
		best := in.Best == nil || *in.Best
		ranking, err := resolver.Ranking(ctx, inputs.RankingRequest{
			DatasetID: in.DatasetID, Measure: in.Measure, Against: in.Against, Best: best, Final: in.Final,
			Limit: cmp.Or(in.Limit, 50), Public: in.View == record.PublicView,
		})
		if err != nil {
			return nil, err
		}
		open, err := ranking.ReadableRuns(ctx, maxReadableRuns)
		if err != nil {
			return nil, err
		}
		empty, err := ranking.Empty(ctx)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (out LeaderboardOutput, err error) {
			out = LeaderboardOutput{
				Dataset: LeaderboardName{ranking.Dataset.ID, ranking.Dataset.Name}, Task: LeaderboardName{ranking.Task.ID, ranking.Task.Name},
				Measure: ranking.Measure, Columns: ranking.Columns, LowerIsBetter: ranking.LowerIsBetter,
				TruthVersion: ranking.Board.TruthVersion, Best: best, Final: in.Final, View: cmp.Or(in.View, record.CallerView),
				More: ranking.More, Entries: []LeaderboardEntry{}, Empty: empty,
			}
			if in.Final {
				out.FinalsNote = webpage.FinalRuns(ranking.Dataset.FinalRuns, ranking.Public)
			}
			if in.Against != nil {
				out.Against = *in.Against
			}
			for _, e := range ranking.Entries {
				entry := LeaderboardEntry{Entry: e.Entry, Rank: e.Rank, Runs: e.Runs, RunID: e.RunID, EvaluationID: e.ID, Measures: e.Measures}
				if in.Against != nil && e.Rank > 0 {
					entry.Change = &LeaderboardChange{Rank: e.OtherRank, Absent: e.OtherRank == 0}
					if e.OtherRank > 0 {
						entry.Change.Difference = e.OtherRank - e.CommonRank
					}
				}
				if e.Hidden != "" {
					out.NotPublic++
				}
				out.Entries = append(out.Entries, entry)
			}
			var values []map[string]float64
			if values, out.hidden, err = ranking.Values(ctx); err != nil {
				return out, err
			}
			if err := out.computeIntervals(ctx, values, in.Seed); err != nil {
				return out, err
			}
			m, err := measure.Parse(measure.Kind(ranking.Dataset.Evaluator.Kind), out.Measure)
			if err != nil || !m.IsGeometric() {
				err = out.assignGroups(ctx, values)
			}
			if err != nil {
				return out, err
			}
			if measure.Kind(ranking.Dataset.Evaluator.Kind).Ranks() && len(open) >= diffirRuns {
				out.Links.Diffir = resultURL("diffir", map[string]any{"runs": references(open[:diffirRuns])})
			}
			out.GroupsNote = out.describeGroups()
			if out.withIntervals() {
				out.IntervalsNote = intervalsNote(out.hidden)
			}
			out.linkTools(values, ranking)
			return out, nil
		}, nil
	})

func (out *LeaderboardOutput) computeIntervals(ctx context.Context, values []map[string]float64, seed uint64) error {
	draws := 0
	for _, v := range values {
		draws += len(v)
	}
	if !out.hidden {
		out.Rounds = bootstrapRounds(draws)
	}
	if out.Rounds == 0 && !out.hidden {
		return problem.InvalidMember("/limit", "there are too many values per topic to draw intervals from: ask for fewer than these %s",
			plural.Count(len(values), "entry"))
	}
	counter := steps.Of(ctx)
	for i, v := range values {
		interval, err := meanInterval(counter, out.Entries[i].Measures[out.Measure], v, out.hidden, seed, out.Rounds)
		if err != nil {
			return err
		}
		out.Entries[i].Interval = interval
	}
	return nil
}

// linkTools links to what the other tools make of the first entries that have values per topic, or that are compared by samples.
func (out *LeaderboardOutput) linkTools(values []map[string]float64, of *inputs.Ranking) {
	var runs, compared []string
	for i, e := range out.Entries {
		if len(values[i]) > 0 {
			runs = append(runs, e.RunID)
		}
		if evaluated := &of.Entries[i]; len(values[i]) > 0 || inputs.HasExamples(evaluated.Evaluator.Kind) &&
			evaluated.Reasons[measure.PerTopicReason] == "" && e.Measures[out.Measure] != nil {
			compared = append(compared, e.RunID)
		}
	}
	if len(compared) >= 2 {
		out.Links.Significance = resultURL("significance", map[string]any{"runs": references(compared[:min(significanceRuns, len(compared))]),
			"measure": out.Measure})
	}
	if len(runs) >= 1 && !out.hidden {
		out.Links.Topics = resultURL("topics", map[string]any{"runs": references(runs[:min(topicsRuns, len(runs))]), "measure": out.Measure})
	}
}

func references(ids []string) []inputs.RunReference {
	return lists.Map(ids, func(id string) inputs.RunReference { return inputs.RunReference{RunID: id} })
}

// assignGroups gives the entries that are compared the letters of their groups. The groups are the maximal cliques of the graph
// in which entries are joined that cannot be distinguished, so two entries share a letter if and only if they cannot
// (H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational and
// Graphical Statistics 13, 2004, asks that of letters).
func (out *LeaderboardOutput) assignGroups(ctx context.Context, values []map[string]float64) error {
	var compared []int // entries
	for i, v := range values {
		if len(v) > 0 && len(compared) < maxCompared {
			compared = append(compared, i)
		}
	}
	if len(compared) < 2 {
		return nil
	}
	out.Compared = len(compared)
	var topics []string // of all of them in one order: sums depend on that of their terms
	for _, i := range compared {
		topics = slices.AppendSeq(topics, maps.Keys(values[i]))
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	var chances []float64
	counter := steps.Of(ctx)
	for i, a := range compared {
		for _, b := range compared[i+1:] {
			if err := counter.Add(2 * len(topics)); err != nil {
				return err
			}
			paired := pairedValues([]map[string]float64{values[a], values[b]}, topics)
			chances = append(chances, out.test(paired[0], paired[1]))
		}
	}
	if err := counter.Err(); err != nil {
		return err
	}
	corrected := significance.Holm(chances)
	joined := make([]uint64, len(compared))
	pair := 0
	for i := range compared {
		for j := i + 1; j < len(compared); j++ {
			if corrected[pair] >= significanceLevel {
				joined[i] |= 1 << j
				joined[j] |= 1 << i
			}
			pair++
		}
	}
	for n, clique := range cliques(joined, len(groupLetters)) {
		for i, entry := range compared {
			if clique>>i&1 == 1 {
				out.Entries[entry].Group += groupLetters[n : n+1]
			}
		}
	}
	return nil
}

// test returns p of two entries, by the values of the topics that both have. It sets shifted and untested if a t-test is not defined for
// them.
func (out *LeaderboardOutput) test(a, b []float64) float64 {
	if !out.hidden || !significance.Binary(a) || !significance.Binary(b) { // otherwise McNemar's test
		out.shifted = out.shifted || significance.Shifted(a, b)
		out.untested = out.untested || len(a) < 2
	}
	if out.hidden {
		return roundedP(a, b)
	}
	return pairedP(a, b)
}

// groupLetters are the names of groups. A graph that needs more of them is too entangled for letters to help.
const groupLetters = "abcdefghijklmnopqrstuvwxyz"

// cliques returns the maximal cliques of a graph of up to 64 vertices, whose neighbours are the bits of joined, as bits:
// that with the lowest vertices first. It returns none when there are more than most, of which there can be very many. (C. Bron,
// J. Kerbosch, Algorithm 457: finding all cliques of an undirected graph, Communications of the ACM 16, 1973.)
func cliques(joined []uint64, most int) []uint64 {
	var found []uint64
	var extend func(clique, candidates, seen uint64)
	extend = func(clique, candidates, seen uint64) {
		if len(found) > most {
			return
		}
		if candidates|seen == 0 {
			found = append(found, clique)
			return
		}
		pivot, covered := 0, -1
		for rest := candidates | seen; rest != 0; rest &= rest - 1 {
			v := bits.TrailingZeros64(rest)
			if n := bits.OnesCount64(candidates & joined[v]); n > covered {
				pivot, covered = v, n
			}
		}
		for rest := candidates &^ joined[pivot]; rest != 0; rest &= rest - 1 {
			v := bits.TrailingZeros64(rest)
			bit := uint64(1) << v
			extend(clique|bit, candidates&joined[v], seen&joined[v])
			candidates, seen = candidates&^bit, seen|bit
		}
	}
	extend(0, 1<<len(joined)-1, 0)
	if len(found) > most {
		return nil
	}
	slices.SortFunc(found, func(a, b uint64) int { return cmp.Compare(bits.Reverse64(b), bits.Reverse64(a)) })
	return found
}
