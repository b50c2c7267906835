package inputs

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/evaluation"
	"assay/shared/service/records"
)

// ResultsRequest selects values of measures.
type ResultsRequest struct {
	Runs           []RunReference  // in the input at /runs
	Truth          *TruthReference // in the input at /truth; nil: the truth that the runs were evaluated against
	Measures       []string        // in the input at MeasurePointer
	MeasurePointer string          // pointer to the list of measures, or to the single measure
	// One reduces the default measures to the first or primary one. The defaults apply if Measures is empty. They are the
	// measures that the runs were evaluated with or, for a truth that the request contains, the defaults of its kind.
	One bool
	// WithFiles says that the tool also reads the files of the runs.
	WithFiles bool
	// ByExample asks for the values of the measure by example, or over samples of examples. If the evaluations do not store
	// values by example, the measure is computed again against the truth of the dataset. A caller who may not read that truth or
	// the runs must then learn no more than everyone who sees the evaluations. Package evaluation defines what everyone may know.
	ByExample bool
}

// Results holds runs and the source of their values.
type Results struct {
	Runs         []*Run
	Measures     []string    // canonical names, in the order asked for
	TruthVersion int64       // truth version of the dataset; 0: the request contains the truth
	Truth        *TruthInput // the truth to compute the values against; nil: the evaluations store the values
	resolver     *Resolver
	kind         measure.Kind
	columns      []string        // of the evaluations, in the order of the dataset
	lower        map[string]bool // by column: whether lower values are better
}

// valuesBytes estimates the memory that the values of one run take, for a usual number of topics.
const valuesBytes = 4 << 20

// Values holds the values of one run.
type Values struct {
	Measures    map[string]*float64 // by name; nil if not defined
	Reasons     map[string]string   // by name: why the value is nil
	Topics      evaluation.Topics
	Diagnostics []measure.Diagnostic
	// Resample and Examples come from the evaluation. They are set only if the values were computed for this answer.
	Resample func(counter *steps.Counter, examples []int) *float64
	Examples int
}

// Results gathers the runs and finds the source of their values. These are the sources, the first that applies:
//
//	the truth that the request names                if it names one
//	the evaluations of the runs                     if they store all requested values
//	the truth of the evaluations, possibly hidden   for values by example that the evaluations lack
//	the truth of the dataset                        for measures that the evaluations lack, if the caller may read the truth
func (resolver *Resolver) Results(ctx context.Context, asked ResultsRequest) (*Results, error) {
	r := &Results{resolver: resolver}
	resolver.valueBytes += int64(len(asked.Runs)) * valuesBytes
	if asked.Truth != nil {
		err := r.useNamedTruth(ctx, asked)
		return r, err
	}
	for i, ref := range asked.Runs {
		if ref.RunID == "" && len(ref.Files) > 0 {
			return nil, problem.InvalidMember("/truth",
				"is needed, because the request contains %s: name a {datasetId} whose truth you may read, or send files such as qrels",
				problem.Member(fmt.Sprintf("/runs/%d", i)))
		}
	}
	var err error
	if asked.WithFiles {
		r.Runs, err = resolver.Runs(ctx, "/runs", asked.Runs)
	} else {
		r.Runs, err = resolver.runs(ctx, elementPointers("/runs", len(asked.Runs)), asked.Runs, "results", seesValues)
	}
	if err != nil {
		return nil, err
	}
	if err := r.readEvaluations(ctx, asked.WithFiles); err != nil {
		return nil, err
	}
	unknown := r.matchMeasures(asked)
	if len(unknown) == 0 {
		if has, err := r.hasValues(ctx, asked); has || err != nil {
			return r, err
		}
		asked.Measures = r.Measures
		err = r.computeAgain(ctx, asked)
		return r, err
	}
	if r.Truth, err = resolver.DatasetTruth(ctx, r.Runs); err != nil {
		return nil, err
	}
	if r.Truth == nil {
		return r, problem.Check(unknown)
	}
	if !asked.WithFiles { // organizers may read both; others may read a public truth, but not the files of the runs
		if r.Runs, err = resolver.Runs(ctx, "/runs", asked.Runs); err != nil {
			return nil, err
		}
	}
	err = r.checkMeasures(asked)
	return r, err
}

// computeAgain prepares to compute the values of the evaluations again, for a caller who need not have the right to read the runs
// and the truth.
func (r *Results) computeAgain(ctx context.Context, asked ResultsRequest) (err error) {
	before := r.resolver.dependencies
	if r.Truth, err = r.resolver.datasetTruth(ctx, r.Runs, r.TruthVersion); err != nil || r.Truth == nil {
		return err
	}
	hidden := r.Truth.hidden || slices.ContainsFunc(r.Runs, func(run *Run) bool { return !readsFiles(run.item, run.sight) })
	r.Truth.hidden = hidden
	for _, run := range r.Runs {
		run.EvaluationID, run.hidden = "", hidden
	}
	if err := r.resolver.openFiles(ctx, r.Runs); err != nil {
		return err
	}
	if hidden { // the entity tag must not confirm guesses of digests; the evaluations identify these files
		r.resolver.dependencies = before
		r.resolver.addDependency("truth %d", r.Truth.version)
	}
	return r.checkMeasures(asked)
}

// hasValues reports whether the evaluations suffice for the request. It looks only at the first evaluation. An evaluation
// suffices if it has the requested values, or a reason why there cannot be values by example.
func (r *Results) hasValues(ctx context.Context, asked ResultsRequest) (has bool, err error) {
	if !asked.ByExample || !HasExamples(string(r.kind)) || r.Runs[0].evaluation.Reasons[measure.PerTopicReason] != "" {
		return true, nil
	}
	err = r.resolver.forEachTopics(ctx, r.storedOf(r.Runs[:1]), func(_ int, topics evaluation.Topics) error {
		has = len(topics.Of(r.Measures[0])) > 0
		return nil
	})
	return has, err
}

// OfExamples reports whether the values belong to single examples and would reveal the truth. Values of topics do not.
func (r *Results) OfExamples() bool { return evaluation.Hides(string(r.kind), 0) }

// HasExamples reports whether values of this kind of evaluator belong to examples, which can be sampled. Other values belong to
// topics.
func HasExamples(kind string) bool {
	k := measure.Kind(kind)
	return measure.EvaluatorOf(k) != nil && !k.Ranks()
}

// Unit returns the noun for what one value belongs to: a topic or an example.
func (r *Results) Unit() string {
	if HasExamples(string(r.kind)) {
		return "example"
	}
	return "topic"
}

// seesValues reports whether the caller may read values of a run. If the run has no evaluation yet, the caller must also see the run:
// the error then says that the evaluation is missing, which reveals that the run exists.
func seesValues(r *record.RunItem, sight record.Sight) bool {
	return sight.Entry() && (r.ListedID() != "" || access.Sees(sight.Roles(), r.Scope().Audience))
}

// useNamedTruth resolves the truth that the request names. The values are computed against it.
func (r *Results) useNamedTruth(ctx context.Context, asked ResultsRequest) (err error) {
	if r.Runs, err = r.resolver.Runs(ctx, "/runs", asked.Runs); err != nil {
		return err
	}
	if r.Truth, err = r.resolver.Truth(ctx, "/truth", *asked.Truth); err != nil {
		return err
	}
	if len(asked.Measures) == 0 && r.Truth.dataset != nil {
		e := r.Truth.dataset.Evaluator
		asked.Measures = e.Measures
		if asked.One {
			asked.Measures = []string{r.Truth.dataset.Primary().Key}
		}
	}
	return r.checkMeasures(asked)
}

// readEvaluations reads the evaluations of the runs. All must be against one truth. It refuses evaluations that are hidden from a
// caller who may read the files.
func (r *Results) readEvaluations(ctx context.Context, withFiles bool) error {
	ids, err := r.evaluationIDs(withFiles)
	if err != nil {
		return err
	}
	found, err := records.GetAll[record.EvaluationItem](ctx, r.resolver.call.Store, r.resolver.call.Consistency,
		records.Keys(ids, record.EvaluationKey)...)
	if err != nil {
		return err
	}
	first := found[0]
	for i, e := range found {
		run := r.Runs[i]
		var sight record.Sight
		if e != nil {
			if sight, err = r.resolver.call.Sight(ctx, e, r.resolver.call.Now()); err != nil {
				return err
			}
		}
		switch {
		case e == nil || first == nil:
			return problem.Conflict.New("A run is being evaluated again at this moment. Try again in a few seconds.")
		case !sight.Entry(): // the review changed since the run was read
			return notFound(problem.NewField(run.pointer+"/runId", "there is no such run, or none whose results you may see"))
		case e.DatasetID != first.DatasetID:
			return problem.InvalidMember(run.pointer, "is on another dataset than %s, and values on different datasets do not compare",
				problem.Member(r.Runs[0].pointer))
		case e.TruthVersion != first.TruthVersion:
			return problem.InvalidMember(run.pointer,
				"was evaluated against %s and %s against version %d, and values against different versions do not compare; try again once both "+
					"are evaluated against the newest", record.TruthVersionName(e.TruthVersion), problem.Member(r.Runs[0].pointer), first.TruthVersion)
		}
		run.evaluation, run.EvaluationID = e, e.ID
		run.sight = sight
		r.resolver.addDependency("evaluation %s %d %t", e.ID, e.Version, evaluation.Hides(e.Evaluator.Kind, sight.Roles()))
	}
	r.kind, r.TruthVersion = measure.Kind(first.Evaluator.Kind), first.TruthVersion
	r.columns, r.lower = r.Runs[0].sight.Columns(first.Measured), map[string]bool{}
	for _, run := range r.Runs[1:] {
		r.columns = slices.DeleteFunc(slices.Clone(r.columns), func(key string) bool { return !run.sight.Sees(key) })
	}
	for _, name := range r.columns {
		r.lower[name] = r.Runs[0].sight.LowerIsBetter(name)
		r.resolver.addDependency("column %s %t", name, r.lower[name])
	}
	return nil
}

// evaluationIDs returns the id of each run's current evaluation, or says why a run has no values to read.
func (r *Results) evaluationIDs(withFiles bool) ([]string, error) {
	var ids []string
	for _, run := range r.Runs {
		if !run.sight.Entry() && withFiles { // the caller may read the files, so the problem may name the run
			return nil, problem.InvalidMember(run.pointer,
				"you may read what the run retrieved, but not its values: its review does not show them to you. Leave the measure out, or send a "+
					"truth of your own in {truth}")
		}
		if run.item.ListedID() == "" && run.item.State == record.Failed && run.item.EvaluationID != "" {
			return nil, problem.InvalidMember(run.pointer, "the run failed when it was evaluated again: it has values only against an earlier "+
				"version of the ground truth and evaluator, and values against different versions do not compare")
		}
		if run.item.ListedID() == "" {
			return nil, problem.InvalidMember(run.pointer, "the run has no evaluation yet: it is %s", run.item.State)
		}
		ids = append(ids, run.item.ListedID())
	}
	return ids, nil
}

// Values returns the values of each run. Errors in the files of the request are problems of the caller's input.
func (r *Results) Values(ctx context.Context) ([]Values, error) {
	if r.Truth == nil {
		return r.storedValues(ctx)
	}
	settings := r.Truth.Settings
	settings.Measures = r.Measures
	truth, diagnostics, err := scoring.ReadTruth(ctx, settings, r.Truth.files)
	if err == nil {
		err = r.Truth.CheckDiagnostics(diagnostics)
	}
	if err == nil {
		err = checkValueCount(truth.Topics() * len(r.Runs) * len(r.Measures))
	}
	if err != nil {
		return nil, err
	}
	all := make([]Values, len(r.Runs))
	for i, run := range r.Runs {
		e, err := truth.Read(ctx, run.files)
		if err == nil {
			err = run.CheckDiagnostics(e.Diagnostics)
		}
		if err != nil {
			return nil, err
		}
		all[i] = Values{Measures: e.Result.Measures, Reasons: e.Result.Reasons, Diagnostics: e.Diagnostics,
			Topics: evaluation.Computed(e.Result, r.Truth.hidden && r.OfExamples()), Resample: e.Resample, Examples: e.Examples}
	}
	return all, nil
}

// MaxValues bounds the values per topic of one invocation. They take about 100 MB.
const MaxValues = 1_000_000

// checkValueCount refuses more values than one invocation may work on.
func checkValueCount(n int) error {
	if n > MaxValues {
		return problem.InvalidMember("/runs",
			"there are %d values of single topics for so many runs and measures, and at most %d are worked on at once: name fewer runs or measures",
			n, MaxValues)
	}
	return nil
}

// storedValues returns the values that the evaluations store.
func (r *Results) storedValues(ctx context.Context) ([]Values, error) {
	all := make([]Values, len(r.Runs))
	var count atomic.Int64
	return all, r.resolver.forEachTopics(ctx, r.storedOf(r.Runs), func(i int, topics evaluation.Topics) error {
		topics.Keep(r.Measures)
		e := r.Runs[i].evaluation
		all[i] = Values{Measures: map[string]*float64{}, Reasons: map[string]string{}, Topics: topics}
		for _, name := range r.Measures {
			all[i].Measures[name] = e.Measures[name]
		}
		for _, name := range append(r.Measures[:len(r.Measures):len(r.Measures)], measure.PerTopicReason) {
			if reason, ok := e.Reasons[name]; ok {
				all[i].Reasons[name] = reason
			}
		}
		return checkValueCount(int(count.Add(int64(topics.Count()))))
	})
}

// storedOf returns the evaluations of the runs whose values per topic the caller wants.
func (r *Results) storedOf(runs []*Run) []stored {
	return lists.Map(runs, func(run *Run) stored {
		return stored{run.EvaluationID, run.evaluation.Evaluator.Kind, run.sight.Roles()}
	})
}

// stored identifies an evaluation, the kind of its evaluator and the roles of the caller who reads its values per topic.
type stored struct {
	id, kind string
	roles    access.Role
}

// topicsAtOnce bounds the evaluations whose values per topic are read concurrently.
const topicsAtOnce = 8

// forEachTopics calls do with the values per topic of each evaluation. It reads up to topicsAtOnce evaluations concurrently.
func (resolver *Resolver) forEachTopics(ctx context.Context, all []stored, do func(i int, topics evaluation.Topics) error) error {
	for first := 0; first < len(all); first += topicsAtOnce {
		some := all[first:min(first+topicsAtOnce, len(all))]
		ids := lists.Map(some, func(s stored) string { return s.id })
		found, err := records.GetAll[record.Topics](ctx, resolver.call.Store, resolver.call.Consistency, records.Keys(ids, record.TopicsKey)...)
		if err != nil {
			return err
		}
		err = records.Concurrently(len(some), func(i int) error {
			topics, err := evaluation.ReadTopics(ctx, resolver.call.Files, some[i].kind, some[i].roles, found[i])
			if err != nil {
				return err
			}
			return do(first+i, topics)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
