package inputs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"assay/shared/access"
	"assay/shared/evaluation"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
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
	Measures    map[string]*float64           // null when not defined
	Reasons     map[string]string             // why
	Topics      map[string]map[string]float64 // by topic and measure; of retrieval
	Diagnostics []measure.Diagnostic
}

// ByTopic returns, of values by topic and measure, those of the measure.
func ByTopic(perTopic map[string]map[string]float64, measure string) map[string]float64 {
	values := map[string]float64{}
	for topic, measures := range perTopic {
		if x, ok := measures[measure]; ok {
			values[topic] = x
		}
	}
	return values
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
		return r, nil
	}
	if r.Truth, err = resolver.DatasetTruth(ctx, r.Runs); err != nil {
		return nil, err
	}
	if r.Truth == nil {
		return nil, problem.Check(unknown)
	}
	if !asked.WithFiles { // who may read the truth may read the files of the runs
		if r.Runs, err = resolver.Runs(ctx, "/runs", asked.Runs); err != nil {
			return nil, err
		}
	}
	err = r.checkMeasures(asked)
	return r, err
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
		if asked.Measures = e.Measures; asked.One {
			asked.Measures = []string{e.PrimaryMeasure}
		}
	}
	return r.checkMeasures(asked)
}

// checkMeasures checks the measures that are to be computed.
func (r *Results) checkMeasures(asked ResultsRequest) error {
	r.kind, r.TruthVersion = r.Truth.Settings.Kind, r.Truth.version
	names := asked.Measures
	if len(names) == 0 {
		if names = measure.EvaluatorOf(r.kind).Defaults; asked.One {
			names = names[:1]
		}
	}
	s := r.Truth.Settings
	s.Measures = names
	fields := evaluator.Check(s)
	for i, f := range fields {
		fields[i].Pointer = asked.MeasurePointer + strings.TrimPrefix(f.Pointer, "/evaluator/measures")
		if asked.One {
			fields[i].Pointer = asked.MeasurePointer
		}
		if t := asked.Truth; t != nil && t.Kind+t.DatasetID == "" {
			fields[i].Detail += assumed
		}
	}
	if err := problem.Check(fields); err != nil {
		return err
	}
	r.Measures = nil
	for _, name := range names {
		m, err := measure.Parse(r.kind, name)
		if err != nil {
			return err
		}
		r.Measures = append(r.Measures, m.String())
	}
	return nil
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
		r.resolver.addDependency("evaluation %s %d", e.ID, e.Version)
	}
	r.kind, r.TruthVersion = measure.Kind(first.Evaluator.Kind), first.TruthVersion
	r.lower = map[string]bool{first.PrimaryMeasure: first.LowerIsBetter}
	if first.Evaluator.Kind != record.EvaluatorWorker {
		return nil
	}
	item, _, _, err := r.resolver.dataset(ctx, "/runs/0", first.DatasetID)
	if err != nil && !problem.NotFound.Is(err) {
		return err
	}
	if item != nil {
		for _, name := range item.Evaluator.LowerIsBetter {
			r.lower[name] = true
		}
	}
	return nil
}

// matchMeasures finds the measures that are asked for among those of the evaluations, and says which are not there.
func (r *Results) matchMeasures(asked ResultsRequest) (unknown problem.Fields) {
	e := r.Runs[0].evaluation
	switch {
	case len(asked.Measures) > 0:
	case asked.One:
		asked.Measures = []string{e.PrimaryMeasure}
	default:
		asked.Measures = e.Columns
	}
	for i, name := range asked.Measures {
		if m, err := measure.Parse(r.kind, name); err == nil {
			name = m.String()
		}
		r.Measures = append(r.Measures, name)
		if _, ok := e.Measures[name]; ok {
			continue
		}
		pointer := asked.MeasurePointer
		if !asked.One {
			pointer = fmt.Sprintf("%s/%d", asked.MeasurePointer, i)
		}
		unknown.Add(pointer,
			"%q is none of those that the runs were evaluated with: %s. Others can be computed against a truth that you send, or by the organizers",
			name, strings.Join(e.Columns, ", "))
	}
	return unknown
}

// LowerIsBetter reports whether the least value of the measure is the best.
func (r *Results) LowerIsBetter(name string) bool {
	if m, err := measure.Parse(r.kind, name); err == nil {
		return !m.HigherIsBetter()
	}
	return r.lower[name]
}

// Values returns the values of each run. What is wrong with a file is the caller's problem.
func (r *Results) Values(ctx context.Context) ([]Values, error) {
	if r.Truth == nil {
		return r.storedValues(ctx)
	}
	truth, err := r.Truth.read(ctx, r.Measures)
	if err == nil {
		err = r.checkValueCount(truth.Topics() * len(r.Runs))
	}
	if err != nil {
		return nil, err
	}
	all := make([]Values, len(r.Runs))
	for i, run := range r.Runs {
		result, diagnostics, err := truth.Evaluate(ctx, run.files)
		if err == nil {
			err = run.CheckDiagnostics(diagnostics)
		}
		if err != nil {
			return nil, err
		}
		all[i] = Values{result.Measures, result.Reasons, result.PerTopic, diagnostics}
	}
	return all, nil
}

// MaxValues is how many values per topic one invocation works on: some 100 MB.
const MaxValues = 1_000_000

// checkValueCount refuses what would be too much for one invocation: so many topics, counted for each run.
func (r *Results) checkValueCount(topics int) error {
	if n := topics * len(r.Measures); n > MaxValues {
		return problem.InvalidMember("/runs",
			"there are %d values of single topics for so many runs and measures, and at most %d are worked on at once: name fewer runs or measures",
			n, MaxValues)
	}
	return nil
}

// storedValues returns the values that the evaluations have.
func (r *Results) storedValues(ctx context.Context) ([]Values, error) {
	ids := lists.Map(r.Runs, func(run *Run) string { return run.EvaluationID })
	all := make([]Values, len(ids))
	var count atomic.Int64
	return all, r.resolver.forEachTopics(ctx, ids, func(i int, perTopic map[string]map[string]float64) error {
		for _, values := range perTopic {
			maps.DeleteFunc(values, func(name string, _ float64) bool { return !slices.Contains(r.Measures, name) })
		}
		e := r.Runs[i].evaluation
		all[i] = Values{Measures: map[string]*float64{}, Reasons: map[string]string{}, Topics: perTopic}
		for _, name := range r.Measures {
			all[i].Measures[name] = e.Measures[name]
			if reason, ok := e.Reasons[name]; ok {
				all[i].Reasons[name] = reason
			}
		}
		return r.checkValueCount(int(count.Add(int64(len(perTopic)))))
	})
}

// topicsAtOnce is of how many evaluations the values per topic are read at the same time.
const topicsAtOnce = 8

// forEachTopics calls do with the values per topic of each evaluation, by topic and measure, of several at the same time.
func (resolver *Resolver) forEachTopics(ctx context.Context, ids []string,
	do func(i int, perTopic map[string]map[string]float64) error) error {
	for first := 0; first < len(ids); first += topicsAtOnce {
		some := ids[first:min(first+topicsAtOnce, len(ids))]
		found, err := records.GetAll[record.Topics](ctx, resolver.call.Store, resolver.call.Consistency, records.Keys(some, record.TopicsKey)...)
		if err != nil {
			return err
		}
		err = records.Concurrently(len(some), func(i int) error {
			perTopic, err := evaluation.ReadTopics(ctx, resolver.call.Files, found[i])
			if err != nil {
				return err
			}
			return do(first+i, perTopic)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
