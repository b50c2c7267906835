// Package offline evaluates, validates, converts and fuses files of this machine, with the code of the server and without one.
package offline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"assay/functions/tools/detection"
	"assay/functions/tools/significance"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/lines"
	"assay/shared/measure/steps"
)

// Files are the files at the paths, as evaluators read them.
func Files(paths ...string) []evaluator.File {
	return lists.Map(paths, func(path string) evaluator.File { return evaluator.File{Name: path, Open: opener(path)} })
}

// opener opens the file at a path any number of times. A pipe, which is read once, is kept in memory.
func opener(path string) func() (io.ReadCloser, error) {
	piped := sync.OnceValues(func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(f, lines.MaxText+1)) // one byte more than evaluators take
		return content, errors.Join(err, f.Close())
	})
	return func() (io.ReadCloser, error) {
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || info.IsDir() {
			return os.Open(path)
		}
		content, err := piped()
		return io.NopCloser(bytes.NewReader(content)), err
	}
}

// Refused is the error of files that cannot be evaluated.
type Refused struct{ Diagnostics []measure.Diagnostic }

func (r *Refused) Error() string { return strings.Join(Lines(r.Diagnostics), "\n") }

// Refuse is a Refused where the diagnostics have an error, and else err.
func Refuse(found []measure.Diagnostic, err error) error {
	if err == nil && measure.HasErrors(found) {
		return &Refused{found}
	}
	return err
}

// Lines are the diagnostics as compilers write theirs: file:line: severity: message.
func Lines(all []measure.Diagnostic) []string {
	return lists.Map(all, func(d measure.Diagnostic) string {
		text := fmt.Sprintf("%s: %s", d.Severity, d.Message)
		switch {
		case d.File != "" && d.Line > 0:
			return fmt.Sprintf("%s:%d: %s", d.File, d.Line, text)
		case d.File != "":
			return d.File + ": " + text
		}
		return text
	})
}

// Settings are those of files of the kind and format; what is empty of these is guessed by the first file, and because says why.
func Settings(kind measure.Kind, format measure.Format, file evaluator.File) (s evaluator.Settings, because string, err error) {
	s = evaluator.Settings{Kind: kind, Format: format}
	if kind == "" || !kind.Ranks() && format.Kind == "" {
		guess, err := detection.Of(kind, file)
		if err != nil {
			return s, "", err
		}
		s.Kind, because = cmp.Or(kind, guess.Kind), guess.Because
		if format.Kind == "" {
			s.Format = guess.Format
			if e := measure.EvaluatorOf(s.Kind); e != nil && !s.Kind.Ranks() && s.Format.Kind == measure.TRECRun { // reading says what is wrong
				s.Format = measure.Format{Kind: measure.CSV, IDField: "id", ValueField: e.ValueField}
			}
			s.Format.Separator = format.Separator
		}
		if measure.HasFields(s.Format.Kind) {
			s.Format.IDField = cmp.Or(format.IDField, s.Format.IDField)
			s.Format.ValueField = cmp.Or(format.ValueField, s.Format.ValueField)
		}
	}
	if s.Kind.Ranks() {
		s.Format = measure.Format{Kind: cmp.Or(format.Kind, measure.TRECRun)}
	}
	if fields := evaluator.CheckFormat(s.Kind, s.Format); len(fields) > 0 {
		return s, because, fmt.Errorf("the format does not go with %s: %s", s.Kind, fields[0].Detail)
	}
	return s, because, nil
}

// SameFormat is an error where the truth of a run with the settings looks as if it were written in another format.
func SameFormat(s evaluator.Settings, truth, run evaluator.File) error {
	other, _, err := Settings(s.Kind, measure.Format{}, truth)
	if err == nil && other.Format.Kind != s.Format.Kind {
		err = fmt.Errorf("%s looks like %s, and %s like %s: write both in one format, or name it with --format", truth.Name, other.Format.Kind,
			run.Name, s.Format.Kind)
	}
	return err
}

// Parse returns the measures by their canonical names.
func Parse(kind measure.Kind, names []string) ([]string, error) {
	var canonical []string
	for _, name := range names {
		m, err := measure.Parse(kind, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(canonical, m.String()) {
			canonical = append(canonical, m.String())
		}
	}
	return canonical, nil
}

// KindOf returns the one kind of evaluator that has all of the measures; empty where several or none have.
func KindOf(names []string) (only measure.Kind) {
	for _, e := range measure.Evaluators {
		if _, err := Parse(e.Kind, names); err != nil || len(names) == 0 {
			continue
		}
		if only != "" {
			return ""
		}
		only = e.Kind
	}
	return only
}

// Run is a run that was evaluated.
type Run struct {
	Name       string                        `json:"name"`
	Measures   map[string]*float64           `json:"measures"`
	Reasons    map[string]string             `json:"reasons,omitempty"`    // why a measure is null
	Signatures map[string]string             `json:"signatures,omitempty"` // of measures that have one
	PerTopic   map[string]map[string]float64 `json:"perTopic,omitempty"`
	FromFirst  *Difference                   `json:"fromFirst,omitempty"`
	Warnings   []measure.Diagnostic          `json:"warnings,omitempty"`
}

// Evaluate evaluates each file as a run of its own. The error is a Refused where a file has faults.
func Evaluate(ctx context.Context, s evaluator.Settings, truth []evaluator.File, runs ...evaluator.File) ([]Run, error) {
	t, found, err := evaluator.ReadTruth(ctx, s, truth)
	if err := Refuse(found, err); err != nil {
		return nil, err
	}
	var list []Run
	for _, file := range runs {
		e, err := t.Read(ctx, []evaluator.File{file})
		if err != nil {
			return nil, err
		}
		if err := Refuse(e.Diagnostics, nil); err != nil {
			return nil, err
		}
		run := Run{Name: file.Name, Measures: e.Result.Measures, Reasons: e.Result.Reasons, Signatures: e.Result.Signatures,
			PerTopic: e.Result.PerTopic, Warnings: e.Diagnostics}
		if e.EveryTopic != nil && run.PerTopic == nil { // the memory is the user's own
			if run.PerTopic, err = e.EveryTopic(ctx); err != nil {
				return nil, err
			}
			delete(run.Reasons, measure.PerTopicReason)
		}
		list = append(list, run)
	}
	return list, nil
}

// Difference compares a run with the first one by one measure, over the topics.
type Difference struct {
	Measure    string   `json:"measure"`
	Difference float64  `json:"difference"` // of the means
	P          *float64 `json:"p"`          // of the randomization test, corrected by Holm for the number of runs; null: it is not defined
}

// seed of what the test draws, so that a comparison can be made again.
const seed = 1

// Compare compares each run but the first with it, and reports whether it could: measures that are no means over topics are not compared.
func Compare(ctx context.Context, runs []Run, kind measure.Kind, name string) (compared bool, err error) {
	first := runs[0]
	m, err := measure.Parse(kind, name)
	if err != nil || m.IsGeometric() || len(runs) < 2 || len(first.PerTopic) == 0 || first.Measures[name] == nil {
		return false, nil //nolint:nilerr // what is no measure is not compared
	}
	topics := slices.Sorted(maps.Keys(first.PerTopic))
	if _, ok := first.PerTopic[topics[0]][name]; !ok {
		return false, nil
	}
	values := func(r Run) []float64 {
		return lists.Map(topics, func(topic string) float64 { return r.PerTopic[topic][name] })
	}
	chances := make([]float64, len(runs)-1)
	counter := steps.Of(ctx)
	for i := range chances {
		r := &runs[i+1]
		r.FromFirst = &Difference{Measure: name, Difference: *r.Measures[name] - *first.Measures[name]}
		chances[i] = 1
		test, err := significance.Randomization(counter, values(*r), values(first), seed, significance.Rounds)
		if err == nil { // or they do not differ at all
			chances[i], r.FromFirst.P = test.P, new(test.P)
		}
	}
	for i, p := range significance.Holm(chances) {
		if d := runs[i+1].FromFirst; d.P != nil {
			*d.P = p
		}
	}
	return true, counter.Err()
}
