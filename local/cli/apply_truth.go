package main

import (
	"time"

	"assay/local/cli/offline"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// describe adds to the last step, of a dataset, what its truth has, and the advice about it.
func (a *applying) describe(i int) {
	s := &a.steps[len(a.steps)-1]
	if a.truths[i] != nil {
		s.Truth = a.truths[i]
	}
	if a.advice[i] != "" {
		s.Advice = a.advice[i]
	}
}

// truthLines returns what organizers are told about a truth.
func truthLines(r record.TruthReport) (lines []string) {
	if r.Contents != "" {
		lines = append(lines, "truth: "+r.Contents)
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	return lines
}

// readTruth refuses a truth that a built-in evaluator would refuse, before the server does, because here the files have paths. It stores
// what the truth has, and the advice for the dataset after the change. If the settings have faults, the server names them.
func (a *applying) readTruth(i int, wanted, has object, truths, inputs []sent) {
	s := settingsOf(wanted)
	if a.err != nil || measure.EvaluatorOf(s.Kind) == nil || len(scoring.Check(s)) > 0 {
		return
	}
	opened := func(list []sent) []scoring.File {
		return offline.Files(lists.Map(list, func(f sent) string { return f.path })...)
	}
	if s.Kind.Ranks() && a.fail(a.requireTREC(opened(truths))) {
		return
	}
	read, found, err := scoring.ReadTruth(a.ctx, s, opened(truths))
	if a.fail(a.diagnosed(found, err)) {
		return
	}
	known, err := scoring.ReadInputs(a.ctx, s, opened(inputs))
	if a.fail(err) {
		return
	}
	portrait, err := read.Portray(a.ctx, opened(truths), known)
	if a.fail(err) {
		return
	}
	a.truths[i] = truthLines(record.TruthReport{Contents: portrait.Contents, Warnings: portrait.Warnings})
	d := memberAs[record.DatasetDraft](object{"dataset": merged(wanted, has)}, "dataset")
	if advice := record.Advise(&d, &a.rules, read.Shape(), time.Now()); advice != nil {
		a.advice[i] = a.words.text(advice.Text)
	}
}
