// Package offline evaluates, validates, converts and fuses files of this machine. It uses the code of the server, and no server.
package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"assay/functions/tools/significance"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/scoring"
	"assay/shared/computation/measure/steps"
	"assay/shared/domain/record"
	"assay/shared/language/clock"
	"assay/shared/language/lists"
)

// Files returns the files at the paths for evaluators.
func Files(paths ...string) []scoring.File {
	return lists.Map(paths, func(path string) scoring.File {
		return scoring.File{Name: path, Open: opener(path, func() (io.ReadCloser, error) { return os.Open(path) })}
	})
}

// Stream returns a file with the content of r, such as standard input. It reads r at the first use.
func Stream(name string, r io.Reader) scoring.File {
	return scoring.File{Name: name, Open: kept(func() (io.ReadCloser, error) { return io.NopCloser(r), nil })}
}

// opener returns a function that opens the file at a path, any number of times. It stores the content of a pipe in memory, because a pipe
// can be read only once.
func opener(path string, open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	piped := kept(open)
	return func() (io.ReadCloser, error) {
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() || info.IsDir() {
			return open()
		}
		return piped()
	}
}

// kept returns a function that opens the content of a file that can be read only once, any number of times.
func kept(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	read := sync.OnceValues(func() ([]byte, error) {
		f, err := open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(f, bounds.Files+1)) // one byte more than the bound of evaluators
		return content, errors.Join(err, f.Close())
	})
	return func() (io.ReadCloser, error) {
		content, err := read()
		return io.NopCloser(bytes.NewReader(content)), err
	}
}

// Refused is the error of files that cannot be evaluated.
type Refused struct{ Diagnostics []measure.Diagnostic }

func (r *Refused) Error() string {
	return strings.TrimSuffix(strings.Join(Lines(r.Diagnostics), "\n")+"\n"+measure.InAll(r.Diagnostics), "\n")
}

// Refuse returns a Refused if a diagnostic is an error, and otherwise err.
func Refuse(found []measure.Diagnostic, err error) error {
	if err == nil && measure.HasErrors(found) {
		return &Refused{found}
	}
	return err
}

// Lines formats diagnostics like compilers: file:line: severity: message. If several lines have a fault, they follow in parentheses. Times
// in messages become local.
func Lines(all []measure.Diagnostic) []string {
	return lists.Map(all, func(d measure.Diagnostic) string {
		text := fmt.Sprintf("%s: %s", d.Severity, clock.Localize(d.Message))
		if extent := d.Extent(); extent != "" {
			text += " (" + extent + ")"
		}
		switch {
		case d.File != "" && d.Line > 0:
			return fmt.Sprintf("%s:%d: %s", d.File, d.Line, text)
		case d.File != "":
			return d.File + ": " + text
		}
		return text
	})
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

// Run is an evaluated run.
type Run struct {
	Name       string                        `json:"name"`
	Measures   map[string]*float64           `json:"measures"`
	Reasons    map[string]string             `json:"reasons,omitempty"`    // by measure, the reason why it is null
	Signatures map[string]string             `json:"signatures,omitempty"` // of measures that have one
	PerTopic   map[string]map[string]float64 `json:"perTopic,omitempty"`
	FromFirst  *Difference                   `json:"fromFirst,omitempty"`
	Warnings   []measure.Diagnostic          `json:"warnings,omitempty"`
}

// Truth is a ground truth (qrels, labels) that was read.
type Truth struct {
	Warnings  []measure.Diagnostic
	evaluator *scoring.Evaluator
	files     []scoring.File
}

// ReadTruth reads a ground truth. The error is a Refused if a file has faults.
func ReadTruth(ctx context.Context, s scoring.Settings, files ...scoring.File) (*Truth, error) {
	read, found, err := scoring.ReadTruth(ctx, s, files)
	if err := Refuse(found, err); err != nil {
		return nil, err
	}
	return &Truth{found, read, files}, nil
}

// Report returns what a server tells organizers about the truth.
func (t *Truth) Report(ctx context.Context) (record.TruthReport, error) {
	portrait, err := t.evaluator.Portray(ctx, t.files, nil)
	return record.TruthReport{Contents: portrait.Contents, Warnings: portrait.Warnings}, err
}

// Evaluate evaluates each file as a separate run. The error is a Refused if a file has faults.
func (t *Truth) Evaluate(ctx context.Context, runs ...scoring.File) ([]Run, error) {
	var list []Run
	for _, file := range runs {
		e, err := t.evaluator.Read(ctx, []scoring.File{file})
		if err != nil {
			return nil, err
		}
		if err := Refuse(e.Diagnostics, nil); err != nil {
			return nil, err
		}
		run := Run{Name: file.Name, Measures: e.Result.Measures, Reasons: e.Result.Reasons, Signatures: e.Result.Signatures,
			PerTopic: e.Result.PerTopic, Warnings: e.Diagnostics}
		if e.EveryTopic != nil && run.PerTopic == nil { // The memory belongs to the user, so it is not bounded.
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
	P          *float64 `json:"p"`          // p-value of the randomization test, with Holm's correction for the number of runs; null if undefined
}

// seed makes the random draws of the test reproducible.
const seed = 1

// Compare compares each run with the first run. It reports false and compares nothing if the measure is no mean over topics.
func Compare(ctx context.Context, runs []Run, kind measure.Kind, name string) (compared bool, err error) {
	first := runs[0]
	m, err := measure.Parse(kind, name)
	if err != nil || m.IsGeometric() || len(runs) < 2 || len(first.PerTopic) == 0 || first.Measures[name] == nil {
		return false, nil //nolint:nilerr // an unknown measure is not compared
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
		if err == nil { // The error means that the runs have equal values.
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
