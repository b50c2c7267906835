package scoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

// halfField is the field of Settings.Halves with the half of an id.
const halfField = "half"

// isHalved reports whether the truth has halves.
func (s Settings) isHalved() bool { return s.HalfField != "" || len(s.Halves) > 0 }

// checkIDs reports errors in the settings of halves and of extra ids. Pointers name members of a dataset.
func (s Settings) checkIDs(problems *problem.Fields) {
	extra := []measure.ExtraIDs{"", measure.RefuseExtraIDs, measure.IgnoreExtraIDs}
	problems.AddIf(!slices.Contains(extra, s.ExtraIDs), "/extraIds", "must be refuse or ignore")
	problems.AddIf(len(s.Halves) > 0 && s.Format.IDField == halfField, "/runFormat/idField", "must be another field than %s, which has the "+
		"half of an id in a file of halves", halfField)
	switch kind := s.Format.Kind; {
	case kind == measure.CoNLL:
		problems.AddIf(s.ExtraIDs != "", "/extraIds", "the tokens of %s have no ids: "+problem.Unset, kind)
		problems.AddIf(s.HalfField != "", "/evaluator/halfField", "the tokens of %s have no ids, and so no halves: "+problem.Unset, kind)
		problems.AddIf(len(s.Halves) > 0, "/truths", "the tokens of %s have no ids, and so no halves: leave out the file of halves", kind)
	case s.HalfField == "":
	case !measure.HasFields(kind):
		problems.Add("/evaluator/halfField", "the fields of %s have no names: give a file with a topic and its half in each line", kind)
	case len(s.Halves) > 0:
		problems.Add("/evaluator/halfField", "the halves are in a file of their own: "+problem.Unset)
	case s.HalfField == s.Format.IDField || s.HalfField == s.Format.ValueField:
		problems.Add("/evaluator/halfField", "must be another field than those of the id and of the value")
	}
}

// half is a half of a truth, with the reference that has only the ids of the half.
type half struct {
	of    measure.Half
	truth *measure.Reference
}

// readHalves assigns the ids of the whole truth to halves, and reads the files of the truth again for each half.
func (e *Evaluator) readHalves(ctx context.Context, files []File) ([]measure.Diagnostic, error) {
	a := &assignment{ids: e.truth.IDs, halves: make([]measure.Half, e.truth.IDs.Len)}
	found, err := a.read(ctx, e.settings, files)
	if err != nil || measure.HasErrors(found) {
		return found, err
	}
	e.assigned = a
	for _, h := range measure.MeasuredHalves {
		truth, ofHalf, err := e.read(ctx, measure.Options{Only: a.only(h)}, files)
		if truth == nil { // the files have changed since
			return append(found, ofHalf...), err
		}
		e.halves = append(e.halves, half{of: h, truth: truth})
	}
	return found, nil
}

// assignment holds the halves of the ids of a truth.
type assignment struct {
	ids    *measure.IDs
	halves []measure.Half               // by id
	counts [measure.IgnoredHalf + 1]int // ids by half
	next   int                          // number of the id after the last one
	field  string                       // the words for the field of the half
	report measure.Report
}

// read reads the half of each id.
func (a *assignment) read(ctx context.Context, s Settings, truth []File) ([]measure.Diagnostic, error) {
	files := s.Halves
	format := s.Format
	format.ValueField = halfField
	if s.HalfField != "" {
		files = truth
		format.ValueField = s.HalfField
	}
	contents, done := Contents(files)
	defer done()
	var err error
	if measure.HasFields(format.Kind) {
		a.field = fmt.Sprintf("%q", format.ValueField)
		err = predictions.ReadHalves(ctx, format, contents, &a.report, a.take)
	} else {
		a.field = "the half"
		err = retrieval.ReadHalves(ctx, contents, &a.report, a.take)
	}
	if err != nil {
		return nil, err
	}
	counter := steps.Of(ctx)
	if !a.report.Failed() {
		a.check(counter, files[0].Name)
	}
	return a.report.Diagnostics(), counter.Err()
}

// take implements measure.TakeHalf.
func (a *assignment) take(file string, line int, id, name []byte) {
	h := measure.ParseHalf(name)
	at := a.ids.Index(id, a.next)
	a.next = at + 1
	switch {
	case h == measure.NoHalf:
		a.report.Errorf(file, line, "%s is %s; expected public, private or ignored", a.field, fields.Quote(name))
	case at < 0:
		a.report.Warnf(file, line, "the truth has no %s %s; leave this line out, or write the id as in the truth", a.ids.Noun, fields.Quote(id))
	case a.halves[at] != measure.NoHalf:
		a.report.Errorf(file, line, "the %s %s was given before; expected each once", a.ids.Noun, fields.Quote(id))
	default:
		a.halves[at] = h
		a.counts[h]++
	}
}

// check reports ids without a half, and halves without ids.
func (a *assignment) check(counter *steps.Counter, file string) {
	missing := a.ids.Len
	for _, n := range a.counts {
		missing -= n
	}
	if missing > 0 {
		a.report.Errorf(file, 0, "%d of %s of the truth %s no half: %s; expected public, private or ignored for each", missing,
			plural.Count(a.ids.Len, a.ids.Noun), plural.Verb(missing, "has", "have"), fields.JoinFirst(a.without(counter), missing))
		return
	}
	for _, h := range measure.MeasuredHalves {
		if a.counts[h] == 0 {
			a.report.Errorf(file, 0, "no %s of the truth is %s; expected at least one in the public and one in the private half", a.ids.Noun, h)
		}
	}
}

// without returns the first ids without a half.
func (a *assignment) without(counter *steps.Counter) (first []string) {
	for id := range a.ids.All {
		if counter.Add(1) != nil || len(first) == fields.Few {
			break
		}
		if a.halves[a.ids.Index([]byte(id), 0)] == measure.NoHalf {
			first = append(first, id)
		}
	}
	return first
}

// only returns the option that selects the ids of a half.
func (a *assignment) only(h measure.Half) func() measure.Selector {
	return func() measure.Selector {
		next := 0
		return func(id []byte) bool {
			at := a.ids.Index(id, next)
			next = at + 1
			return at >= 0 && a.halves[at] == h
		}
	}
}

// bytes returns the memory of the assignment, in addition to the truth's. It is 0 for nil.
func (a *assignment) bytes() int64 {
	if a == nil {
		return 0
	}
	return int64(cap(a.halves))
}

// describe says how many ids are in each half, as a clause that begins with a semicolon. It returns "" for nil.
func (a *assignment) describe() string {
	if a == nil {
		return ""
	}
	var parts []string
	for h := measure.PublicHalf; h <= measure.IgnoredHalf; h++ {
		parts = append(parts, fmt.Sprintf("%d %s", a.counts[h], h))
	}
	return "; " + strings.Join(parts, ", ")
}

// names returns the names that a measure has in results.
func (e *Evaluator) names(m measure.Measure) (names []string) {
	if len(e.halves) == 0 {
		return []string{m.String()}
	}
	for _, h := range e.halves {
		names = append(names, h.of.Measure(m.String()))
	}
	return names
}

// steps estimates the steps of evaluating one run by the measures. A half is smaller than the truth, but reads the whole run.
func (e *Evaluator) steps(asked []measure.Measure) int {
	n := e.truth.Steps(asked)
	for _, h := range e.halves {
		n += e.truth.Steps(nil) + h.truth.Steps(asked) - h.truth.Steps(nil)
	}
	return n
}

// opener opens the files of a run. Call done after reading them.
type opener func() (contents []measure.File, done func())

// evaluate measures a run. With halves, all diagnostics are of the whole truth, so that they do not depend on the half of an id.
func (e *Evaluator) evaluate(ctx context.Context, open opener) (*measure.Scores, error) {
	whole, err := evaluateFiles(ctx, e.truth, open)
	if err != nil || len(e.halves) == 0 || measure.HasErrors(whole.Diagnostics) {
		return whole, err
	}
	scores := &measure.Scores{
		Diagnostics: whole.Diagnostics,
		Kept:        whole.Kept,
		Result: measure.Result{
			Measures: map[string]*float64{},
			Reasons:  map[string]string{},
			Classes:  whole.Result.Classes,
			Warnings: whole.Result.Warnings,
			RunTag:   whole.Result.RunTag,
		},
	}
	reason, tooMany := whole.Result.Reasons[measure.PerTopicReason]
	if tooMany { // then the values of both halves together may be too many, too
		scores.Result.Reasons[measure.PerTopicReason] = reason
	}
	counter := steps.Of(ctx)
	for i, h := range e.halves {
		ofHalf, err := evaluateFiles(ctx, h.truth, open)
		if err != nil {
			return nil, err
		}
		if measure.HasErrors(ofHalf.Diagnostics) {
			return nil, errChanged
		}
		h.add(counter, e.measures, &scores.Result, &ofHalf.Result, !tooMany)
		if i == 0 { // the first measure belongs to the first half
			scores.Resample = ofHalf.Resample
			scores.Examples = ofHalf.Examples
		}
	}
	return scores, counter.Err()
}

// errChanged is the error of a run that has a fault in a half, and no fault as a whole.
var errChanged = errors.New("the files of the run have changed while they were read")

func evaluateFiles(ctx context.Context, truth *measure.Reference, open opener) (*measure.Scores, error) {
	contents, done := open()
	defer done()
	return truth.Evaluate(ctx, contents)
}

// stepsOfValue are the steps for adding a value to a map.
const stepsOfValue = 20

// add adds the values of the half to a result, with their names in the half.
func (h half) add(counter *steps.Counter, measures []measure.Measure, result, ofHalf *measure.Result, withTopics bool) {
	for _, m := range measures {
		name := m.String()
		named := h.of.Measure(name)
		result.Measures[named] = ofHalf.Measures[name]
		if reason, ok := ofHalf.Reasons[name]; ok {
			result.Reasons[named] = reason
		}
		if signature, ok := ofHalf.Signatures[name]; ok {
			if result.Signatures == nil {
				result.Signatures = map[string]string{}
			}
			result.Signatures[named] = signature
		}
	}
	if !withTopics {
		return
	}
	if result.PerTopic == nil {
		result.PerTopic = map[string]map[string]float64{}
	}
	for topic, values := range ofHalf.PerTopic {
		if counter.Add(stepsOfValue*(1+len(values))) != nil {
			return
		}
		named := make(map[string]float64, len(values))
		for name, x := range values {
			named[h.of.Measure(name)] = x
		}
		result.PerTopic[topic] = named
	}
}
