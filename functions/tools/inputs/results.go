package inputs

import (
	"context"
	"slices"
	"sync/atomic"

	"assay/shared/access"
	"assay/shared/evaluation"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/steps"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
)

// ResultsRequest selects values of measures.
type ResultsRequest struct {
	Runs           []RunReference  // stand in the input at /runs
	Truth          *TruthReference // at /truth; nil: the one that the runs were evaluated against
	Measures       []string        // at MeasurePointer
	MeasurePointer string          // pointer to the measures, or to the one
	// Unless measures are asked for, they are all that the runs were evaluated with or, if One is set, the primary one; against
	// a truth that comes along they are the defaults of its kind.
	One bool
	// WithFiles says that the files of the runs are to be read as well.
	WithFiles bool
	// ByExample says that the one measure is wanted by example, or over samples of them: one of the evaluations' that these have no such
	// values of is computed again, against the truth of the dataset. Who may not read that, or the runs, must be told no more than what
	// all may know who see the evaluations: package evaluation says what that is.
	ByExample bool
}

// Results are the values of runs that can be had.
type Results struct {
	Runs         []*Run
	Measures     []string // canonical names, in the order asked for
	TruthVersion int64    // of the dataset's truth; 0: the truth came along
	Truth        *Truth   // that the values are computed against; nil: the evaluations have them
	resolver     *Resolver
	kind         measure.Kind
	lower        map[string]bool // of an evaluator that is not built in
}

// valuesBytes is about how much memory the values of one run take, of as many topics as collections have.
const valuesBytes = 4 << 20

// Values are those of one run.
type Values struct {
	Measures    map[string]*float64 // null when not defined
	Reasons     map[string]string   // why
	Topics      evaluation.Topics
	Diagnostics []measure.Diagnostic
	// Resample and Examples are those of the evaluation, where the values were computed for this answer.
	Resample func(counter *steps.Counter, examples []int) *float64
	Examples int
}

// Results gathers the runs and what their values are to be had from: the truth that is named; or the evaluations of the
// runs; or, for measures that those do not have, the truth of the dataset, if the caller may read it.
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
				"is needed, since /runs/%d comes along: name a datasetId whose truth you may read, or send files such as qrels", i)
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
	if !asked.WithFiles { // organizers may read both; others may read a truth that is public, and not the files of the runs
		if r.Runs, err = resolver.Runs(ctx, "/runs", asked.Runs); err != nil {
			return nil, err
		}
	}
	err = r.checkMeasures(asked)
	return r, err
}

// computeAgain has the values of the evaluations computed, on behalf of a caller who need not be able to read the runs and the truth.
func (r *Results) computeAgain(ctx context.Context, asked ResultsRequest) (err error) {
	before := r.resolver.dependencies
	if r.Truth, err = r.resolver.datasetTruth(ctx, r.Runs, r.TruthVersion); err != nil || r.Truth == nil {
		return err
	}
	hidden := r.Truth.hidden || slices.ContainsFunc(r.Runs, func(run *Run) bool { return !readsFiles(run.item, run.roles) })
	r.Truth.hidden = hidden
	for _, run := range r.Runs {
		run.EvaluationID, run.hidden = "", hidden
	}
	if err := r.resolver.openFiles(ctx, r.Runs); err != nil {
		return err
	}
	if hidden { // the entity tag must not confirm guesses of digests; the evaluations say which files these are
		r.resolver.dependencies = before
		r.resolver.addDependency("truth %d", r.Truth.version)
	}
	return r.checkMeasures(asked)
}

// hasValues reports whether the evaluations have what is asked for, or why nothing has it, as far as the first of them tells.
func (r *Results) hasValues(ctx context.Context, asked ResultsRequest) (has bool, err error) {
	if !asked.ByExample || !HasExamples(string(r.kind)) || r.Runs[0].evaluation.Reasons[measure.PerTopicReason] != "" { // there are too many
		return true, nil
	}
	err = r.resolver.forEachTopics(ctx, r.storedOf(r.Runs[:1]), func(_ int, topics evaluation.Topics) error {
		has = len(topics.Of(r.Measures[0])) > 0
		return nil
	})
	return has, err
}

// OfExamples reports whether values are of single examples that tell the truth, and not of topics.
func (r *Results) OfExamples() bool { return evaluation.Hides(string(r.kind), 0) }

// HasExamples reports whether values of a kind of evaluator are of examples, which can be sampled, and not of topics.
func HasExamples(kind string) bool {
	k := measure.Kind(kind)
	return measure.EvaluatorOf(k) != nil && !k.Ranks()
}

// Unit is what values are of.
func (r *Results) Unit() string {
	if HasExamples(string(r.kind)) {
		return "example"
	}
	return "topic"
}

// seesValues reports whether a caller with the roles may have the values of a run. A caller who sees a run, and would see its values, is
// shown that it has none yet; where they are hidden, so is whether there are any.
func seesValues(r *record.RunItem, roles access.Role) bool {
	return r.ReadsValues(roles) && (r.ListedID() != "" || access.Sees(roles, r.Scope().Audience))
}

// useNamedTruth has the values computed against the truth that is named.
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
			asked.Measures = []string{e.PrimaryMeasure}
		}
	}
	return r.checkMeasures(asked)
}

// readEvaluations reads those of the runs, which must be against one truth. Some may be hidden from a caller who reads the files.
func (r *Results) readEvaluations(ctx context.Context, withFiles bool) error {
	var ids []string
	for _, run := range r.Runs {
		if !run.item.ReadsValues(run.roles) && withFiles { // the caller sees the run
			return problem.InvalidMember(run.pointer,
				"you may read what the run retrieved, but not its values: its review does not show them to you. Leave the measure out, or send a "+
					"truth of your own in truth")
		}
		if run.item.ListedID() == "" {
			return problem.InvalidMember(run.pointer, "the run has no evaluation yet: it is %s", run.item.State)
		}
		ids = append(ids, run.item.ListedID())
	}
	found, err := records.GetAll[record.EvaluationItem](ctx, r.resolver.call.Store, r.resolver.call.Consistency,
		records.Keys(ids, record.EvaluationKey)...)
	if err != nil {
		return err
	}
	first := found[0]
	for i, e := range found {
		run := r.Runs[i]
		if e != nil {
			if err := r.resolver.applyEmbargo(ctx, &e.Access, e.TaskID, e.DatasetID); err != nil {
				return err
			}
		}
		switch {
		case e == nil || first == nil:
			return problem.Conflict.New("A run is being evaluated again at this moment. Try again in a few seconds.")
		case !access.Sees(run.roles, e.Scope().Audience): // by a review that changed since the run was read
			return notFound(problem.Field{Pointer: run.pointer + "/runId", Detail: "there is no such run, or none whose results you may see"})
		case e.DatasetID != first.DatasetID:
			return problem.InvalidMember(run.pointer, "is on another dataset than %s, and values on different datasets do not compare",
				r.Runs[0].pointer)
		case e.TruthVersion != first.TruthVersion:
			return problem.InvalidMember(run.pointer,
				"was evaluated against version %d of the truth and %s against version %d, and values against different truths do not compare; try "+
					"again once both are evaluated against the newest", e.TruthVersion, r.Runs[0].pointer, first.TruthVersion)
		}
		run.evaluation, run.EvaluationID = e, e.ID
		r.resolver.addDependency("evaluation %s %d %t", e.ID, e.Version, evaluation.Hides(e.Evaluator.Kind, run.roles))
	}
	r.kind, r.TruthVersion = measure.Kind(first.Evaluator.Kind), first.TruthVersion
	r.lower = map[string]bool{first.PrimaryMeasure: first.LowerIsBetter}
	if first.Evaluator.Kind != record.EvaluatorWorker {
		return nil
	}
	d, err := r.resolver.dataset(ctx, "/runs/0", first.DatasetID)
	if err != nil && !problem.NotFound.Is(err) {
		return err
	}
	if d != nil {
		for _, name := range d.item.Evaluator.LowerIsBetter {
			r.lower[name] = true
		}
	}
	return nil
}

// Values returns the values of each run. What is wrong with a file is the caller's problem.
func (r *Results) Values(ctx context.Context) ([]Values, error) {
	if r.Truth == nil {
		return r.storedValues(ctx)
	}
	settings := r.Truth.Settings
	settings.Measures = r.Measures
	truth, diagnostics, err := evaluator.ReadTruth(ctx, settings, r.Truth.files)
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

// MaxValues is how many values per topic one invocation works on: some 100 MB.
const MaxValues = 1_000_000

// checkValueCount refuses what would be too much for one invocation.
func checkValueCount(n int) error {
	if n > MaxValues {
		return problem.InvalidMember("/runs",
			"there are %d values of single topics for so many runs and measures, and at most %d are worked on at once: name fewer runs or measures",
			n, MaxValues)
	}
	return nil
}

// storedValues returns the values that the evaluations have.
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

// storedOf returns whose values per topic to read for the caller.
func (r *Results) storedOf(runs []*Run) []stored {
	return lists.Map(runs, func(run *Run) stored { return stored{run.EvaluationID, run.evaluation.Evaluator.Kind, run.roles} })
}

// stored is an evaluation whose values per topic are read, by an evaluator of the kind, for a caller with the roles.
type stored struct {
	id, kind string
	roles    access.Role
}

// topicsAtOnce is of how many evaluations the values per topic are read at the same time.
const topicsAtOnce = 8

// forEachTopics calls do with the values per topic of each evaluation, of several at the same time.
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
