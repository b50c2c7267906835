// Package evaluation writes and reads results: Writer writes the results of evaluators, and ReadTopics reads the values per topic. No other
// package writes or reads these formats. Package board ranks evaluations.
//
// # Values that reveal the ground truth
//
// Callers who see an evaluation see its measures. If the kind of evaluator allows it (measure.EvaluatorKind.SafePerTopic), they also see
// the values per topic: these show which topics are hard, but not which documents are relevant. For other kinds, such as classification
// and regression, each value belongs to one example. It shows whether a prediction is right or how far off it is. Together with the run,
// this is the ground truth (qrels, labels) of the example, and a few runs reveal all of it. So only the organizers of the task and
// administrators see these values and the confusion matrix. Hides decides this for every reader.
//
// For other callers the server computes statistics from the values that reveal about as little as the measures:
//
//   - The interval of a mean by the normal distribution, with ends of few digits. For values 0 and 1 it follows from the mean and the
//     number of examples. For errors it also shows their spread, with too few digits to encode many numbers. A bootstrap with many
//     seeds would reveal which examples have which values, because the samples of each seed are known. For a measure of all examples
//     together, such as macro F1, the spread comes from samples that depend only on the number of examples.
//   - For a pair of runs, p of one test, rounded up to one of seven levels before its correction. McNemar's counts, the statistic of a
//     t-test, Cohen's d and exact p reveal the number of examples on which two runs differ. For crafted runs, this is as much as the
//     score of another run: n runs of a team would reveal as much as n²/2 runs, whatever the quota. A level is at most 2.8 bits, and
//     mostly less than one; the score of a run on 1,000 examples is up to ten. There is one test, without a seed. The thresholds of
//     several tests, or many draws, would show where between two levels p is.
//   - The number of examples, which everyone who submits knows. Every run has all examples, so that none is left out.
package evaluation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/storage/blob"
)

// Topics holds values per topic or example, and classes of labels, with the rights of one caller.
type Topics struct {
	all     map[string]map[string]float64
	classes *measure.Classes
	hidden  bool
}

// Hides reports whether a caller with the roles, who sees the evaluation, must not see the values per topic of an evaluator of the
// kind.
func Hides(kind string, roles access.Role) bool {
	if kind == record.EvaluatorWorker || roles&(access.Organizer|access.Admin) != 0 { // organizers decide which values their own image reports
		return false
	}
	e := measure.EvaluatorOf(measure.Kind(kind))
	return e == nil || !e.SafePerTopic
}

// Computed returns the values per topic of a result that was computed for a caller. hidden must be set unless the caller may read the
// ground truth or brought it along.
func Computed(r measure.Result, hidden bool) Topics { return Topics{r.PerTopic, r.Classes, hidden} }

// Hidden reports whether the caller must not see the values. Statistics of them must then not reveal single values.
func (t Topics) Hidden() bool { return t.hidden }

// Shown returns the values by topic and measure, or nil if they are hidden.
func (t Topics) Shown() map[string]map[string]float64 {
	if t.hidden {
		return nil
	}
	return t.all
}

// Classes returns the counts of predictions for each label. It returns nil if these are hidden or do not exist.
func (t Topics) Classes() *measure.Classes {
	if t.hidden {
		return nil
	}
	return t.classes
}

// Of returns the values of a measure by topic, even if they are hidden. Use them only to compute statistics.
func (t Topics) Of(name string) map[string]float64 {
	values := map[string]float64{}
	for topic, measures := range t.all {
		if x, ok := measures[name]; ok {
			values[topic] = x
		}
	}
	return values
}

// Keep removes the values of all other measures.
func (t Topics) Keep(measures []string) {
	for _, values := range t.all {
		maps.DeleteFunc(values, func(name string, _ float64) bool { return !slices.Contains(measures, name) })
	}
}

// Count returns the number of values.
func (t Topics) Count() (n int) {
	for _, values := range t.all {
		n += len(values)
	}
	return n
}

// ReadTopics returns the stored values per topic, with the rights of a caller with the roles who sees the evaluation. kind is the kind
// of its evaluator. It returns no values if t is nil.
func ReadTopics(ctx context.Context, files blob.Store, kind string, roles access.Role, t *record.Topics) (Topics, error) {
	values := Topics{hidden: Hides(kind, roles)}
	if t == nil {
		return values, nil
	}
	values.all, values.classes = t.PerTopic, t.Classes
	if t.ObjectKey == "" {
		return values, nil
	}
	f, err := files.Open(ctx, t.ObjectKey)
	if err != nil {
		return Topics{}, problem.Unavailable.Wrap(err, "The values per topic cannot be read at the moment. Try again in a few seconds.")
	}
	defer func() { _ = f.Close() }() // decoding has read the whole file
	err = json.NewDecoder(f).Decode(&values.all)
	return values, err
}

// newTopics returns the record of the values per topic of e, or nil if there are none. It writes values that are too large for a record
// to the object store.
func newTopics(ctx context.Context, files blob.Store, e *record.EvaluationItem, result measure.Result) (*record.Topics, error) {
	if len(result.PerTopic) == 0 && result.Classes == nil {
		return nil, nil
	}
	t := &record.Topics{Meta: e.Meta, Classes: result.Classes, PerTopic: result.PerTopic}
	whole, err := json.Marshal(t)
	if err != nil || len(whole) <= record.MaxTopicBytes || len(result.PerTopic) == 0 {
		return t, err
	}
	b, err := json.Marshal(result.PerTopic)
	if err != nil {
		return nil, err
	}
	o := blob.Object{Size: int64(len(b)), SHA256: fmt.Sprintf("%x", sha256.Sum256(b)), MediaType: "application/json"}
	o.Key = record.ObjectKey(record.HolderEvaluations, e.ID, o.SHA256)
	t.PerTopic, t.ObjectKey = nil, o.Key
	return t, files.Put(ctx, o, bytes.NewReader(b))
}
