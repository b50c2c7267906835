// Package spans compares predicted spans with true spans: named entities and other parts of texts that have a type.
//
// # Formats
//
// A span is a type and the units from a start to before an end, within a document.
//
// In conll, a unit is a token and a document is a sentence. A line has a token in the first column and its tag in the last; white space
// separates columns. Empty lines separate sentences. So do lines with the token -DOCSTART-, which are otherwise ignored. A line that begins
// with # is a comment if no token of its sentence is before it and its last column is no tag. A run must have the tokens of the truth, line
// for line, without comments.
//
// In jsonl, a unit is a character. A line is an object with an id and a list of spans such as {"start": 0, "end": 4, "type": "PER"}. Spans
// may overlap, and the list may be empty. Documents are joined by id. Characters are numbered from 0; truth and run must count characters
// in the same way. If the member text of a line, or of a line of the inputs with the same id, has the text of the document, a span that
// ends after it is warned of.
//
// Spans and tags without a type have the type _, as in seqeval.
//
// # Spans of tags
//
// Without scheme, a tag begins a span unless it continues one. I and E continue B and I of the same type. S is a span of one token. This is
// the default mode of seqeval and of conlleval.
//
// With scheme, only spans that are valid in the scheme count, as in seqeval's strict mode. For example, an I without a B before it is not a
// span in IOB2. A tag whose prefix the scheme lacks is refused.
//
// # Definitions
//
//   - Precision, Recall: matching spans as a share of the predicted spans, and of the true spans. F1: 2 P R / (P + R).
//   - overlap=exact: a span matches a span of the same document, type, start and end.
//   - overlap=any: a span matches a span of the same document and type if they share a unit.
//   - overlap=proportional: Precision is the mean over the predicted spans s of |s ∩ t| / |s|, summed over the true spans t of the type.
//     Recall is the same mean over the true spans (Da San Martino et al., SemEval-2020 task 11, SI).
//   - overlap=units: single units count instead of spans, each unit once.
//   - IoU: units in both sides, as a share of the units in either side.
//   - DocumentF1, DocumentIoU: mean over the documents of F1 and IoU of the document's units, of the type or of all types pooled
//     (Pavlopoulos et al., SemEval-2021 task 5; Vázquez et al., SemEval-2025 task 3).
//
// The families of package measure state the conventions: averages, 0/0, merged spans, and documents without spans.
//
// Values of exact spans equal the values of seqeval, with three exceptions. seqeval returns 0 if the truth has no spans. Tags that seqeval
// warns of are refused here. Without scheme, L and U of BILOU mean E and S here, while seqeval's default mode does not know them.
package spans

import (
	"context"
	"errors"
	"slices"
	"sync"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "spans/1"

// Computation computes the measures of spans.
var Computation = measure.Computation{
	Version: Version,
	ReadTruth: func(ctx context.Context, format measure.Format, options measure.Options, asked []measure.Measure,
		files []measure.File) (*measure.Reference, []measure.Diagnostic, error) {
		var report measure.Report
		truth, kinds, err := readTruth(ctx, format, options, asked, files, &report)
		if err != nil || report.Failed() {
			return nil, report.Diagnostics(), err
		}
		for _, m := range asked {
			if kind := m.Param(measure.TypeParameter); kind != "" && !slices.Contains(kinds, kind) {
				report.Warnf("", 0, "%s has no value for any run, since no span of the truth has the type %q; check how the type is written", m,
					kind)
			}
		}
		return truth, report.Diagnostics(), nil
	},
	ValidateRun: func(ctx context.Context, format measure.Format, asked []measure.Measure,
		files []measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		_, _, err := readTruth(ctx, format, measure.Options{}, asked, files, &report) // files of truths and runs have the same rules
		return report.Diagnostics(), err
	},
}

// errNoIDs is the error for options of a truth of tokens.
var errNoIDs = errors.New("the tokens of " + measure.CoNLL + " have no ids, so no part of them can be selected, and no id can be extra")

// readTruth reads a truth. It also returns the types of its spans.
func readTruth(ctx context.Context, format measure.Format, options measure.Options, asked []measure.Measure, files []measure.File,
	report *measure.Report) (*measure.Reference, []string, error) {
	if format.Kind != measure.CoNLL {
		return readTexts(ctx, format, options, asked, files, report)
	}
	if options.Only != nil || options.ExtraIDs != "" {
		return nil, nil, errNoIDs
	}
	return readSentences(ctx, asked, files, report)
}

// newTruth returns a truth with count documents and the number of spans or tokens. size is its memory in bytes. read reads a run, and
// compares it with the ids or tokens of the truth, with its types, or with both.
func newTruth(asked []measure.Measure, count, spans int, size int64, contents func(*steps.Counter) measure.Contents,
	read func(ctx context.Context, ids, types bool, files []measure.File, report *measure.Report) (documents, error)) *measure.Reference {
	return &measure.Reference{
		Steps:  func(asked []measure.Measure) int { return int(size) + stepsOf(asked, count, spans) },
		Extent: plural.Count(count, "document"), Contents: contents,
		Bytes:  size,
		Topics: topics(asked, count),
		Known: func(ids, types bool) *measure.Known {
			if !ids && !types {
				return nil
			}
			return &measure.Known{Compare: func(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
				var report measure.Report
				_, err := read(ctx, ids, types, files, &report)
				return report.Diagnostics(), err
			}}
		},
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Scores, error) {
			return measure.Evaluate(func(report *measure.Report) (e measure.Scores, err error) {
				d, err := read(ctx, true, true, files, report)
				if err != nil || report.Failed() {
					return e, err
				}
				if d.warning != nil {
					if text := d.warning(); text != "" {
						report.Warnf(files[0].Name, 0, "%s", text)
					}
				}
				counter := steps.Of(ctx)
				e.Result = d.evaluate(counter, asked)
				if err := counter.Err(); err != nil {
					return e, err
				}
				e.Examples = d.count
				// A run with more documents would take memory as long as the evaluation exists.
				if e.Examples <= measure.MaxExamples && ofDocuments[asked[0].Name] == nil {
					e.Resample = d.resampler(asked[0])
				}
				return e, nil
			})
		},
	}
}

// stepsOf estimates the steps of the measures. The documents are compared once for each scheme.
func stepsOf(asked []measure.Measure, documents, spans int) int {
	const perSpan = 2*(1+mergePasses) + 2
	schemes := map[string]bool{}
	n := 0
	for _, m := range asked {
		if ofDocuments[m.Name] != nil {
			n += documents
		}
		if scheme := m.Param("scheme"); !schemes[scheme] {
			schemes[scheme] = true
			n += documents + perSpan*spans + 2*documents*steps.SortSteps(spans/max(1, documents))
		}
	}
	return n
}

// typeMatches are the matches of a type in one document.
type typeMatches struct {
	kind int32
	matches
}

// resampler returns a function that computes the measure over a sample of the documents. The first call compares all documents; later calls
// reuse the result.
func (d *documents) resampler(m measure.Measure) func(counter *steps.Counter, sample []int) *float64 {
	var once sync.Once
	var compared [][]typeMatches
	return func(counter *steps.Counter, sample []int) *float64 {
		once.Do(func() { compared = d.compare(counter, m) })
		c := newCounts(counter, d.kinds)
		for _, i := range sample {
			if counter.Add(1+len(compared[i])) != nil {
				break
			}
			for _, of := range compared[i] {
				c.kinds[of.kind][wayOf(m)].pool(of.matches)
			}
		}
		value, reason := c.value(m, len(sample))
		if reason != "" {
			return nil
		}
		return &value
	}
}

// compare returns the matches of each document for a measure.
func (d *documents) compare(counter *steps.Counter, m measure.Measure) [][]typeMatches {
	way := wayOf(m)
	c, list := newCounts(counter, d.kinds), make([][]typeMatches, d.count)
	for i := range list {
		if counter.Add(1) != nil {
			break
		}
		truth, run := d.at(counter, m.Param("scheme"), i)
		c.add(truth, run)
		for _, s := range append(slices.Clone(truth), run...) {
			if of := &c.kinds[s.kind]; of[way].predicted+of[way].actual > 0 {
				list[i] = append(list[i], typeMatches{s.kind, of[way]})
				*of = [ways]matches{}
			}
		}
	}
	return list
}

// documents holds the spans of a truth and of a run, by document.
type documents struct {
	count int
	kinds []string
	name  func(i int) string
	// at returns the sorted spans of a document by the scheme. They are valid until the next call.
	at func(counter *steps.Counter, scheme string, i int) (truth, run []span)
	// warning compares the spans of the run with those of the truth, and returns a warning or "". Only evaluations may call it, because it
	// tells something about the truth. It is nil for tokens.
	warning func() string
}

// ofDocuments maps the measures that are means over documents to the value of a document.
var ofDocuments = map[string]func(shared) float64{"DocumentF1": shared.f1, "DocumentIoU": shared.iou}

// topics returns the number of documents if a measure has values by document, otherwise 0.
func topics(asked []measure.Measure, documents int) int {
	if documents > measure.MaxExamples || !slices.ContainsFunc(asked, func(m measure.Measure) bool { return ofDocuments[m.Name] != nil }) {
		return 0
	}
	return documents
}

// mean accumulates a measure that is a mean over documents.
type mean struct {
	value  func(shared) float64
	of     *shared // the units of the last document
	sum    measure.Sum
	values []float64 // by document; nil for more than MaxExamples
}

func (d *documents) evaluate(counter *steps.Counter, asked []measure.Measure) measure.Result {
	schemes := map[string]*counts{}
	for _, m := range asked {
		scheme := m.Param("scheme")
		if schemes[scheme] == nil {
			schemes[scheme] = newCounts(counter, d.kinds)
		}
		if value := ofDocuments[m.Name]; value != nil {
			c := schemes[scheme]
			c.means[m.String()] = &mean{value: value, of: c.unitsOf(m.Param(measure.TypeParameter))}
		}
	}
	for scheme, c := range schemes {
		for i := range d.count {
			if counter.Add(1+len(c.means)) != nil {
				break
			}
			c.add(d.at(counter, scheme, i))
			for _, m := range c.means {
				x := m.value(*m.of)
				m.sum.Add(x)
				if d.count <= measure.MaxExamples {
					m.values = append(m.values, x)
				}
			}
		}
	}
	result := measure.Compute(counter, asked, func(m measure.Measure) (float64, string) {
		return schemes[m.Param("scheme")].value(m, d.count)
	})
	for _, c := range schemes {
		for name, m := range c.means {
			result.AddValues(counter, name, d.count, d.name, func(i int) float64 { return m.values[i] })
		}
	}
	return result
}
