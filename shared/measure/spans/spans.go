// Package spans measures how well predicted spans agree with true ones: named entities and other parts of texts that have a type.
//
// # Formats
//
// A span is a type and the units from a start to before an end, within a document. In conll a unit is a token and a document a sentence:
// lines have a token in the first and its tag in the last column, separated by white space; empty lines, and lines of the token
// -DOCSTART-, which are passed over, separate sentences. A run has the tokens of the truth, line for line. In jsonl a unit is a character:
// each line is an object with an id and a list of spans such as {"start": 0, "end": 4, "type": "PER"}, which may overlap and may be none.
// Documents are joined by id. Characters are numbered from 0, and how they are counted is for truth and runs to agree on. Spans and tags
// without a type have the type _, as in seqeval.
//
// # Spans of tags
//
// Without scheme, a tag begins a span unless it continues one: B and I of a type are continued by I and E of the same type; S is a span
// alone. That is the default mode of seqeval, and conlleval's. With scheme, spans are those that are written as the scheme has them, as in
// seqeval's strict mode: in IOB2, an I that no B precedes is no span. A tag whose prefix the scheme lacks is refused.
//
// # Definitions
//
//   - Precision, Recall: matching spans as a share of the predicted or of the true ones; F1: 2 P R / (P + R); 0/0 is 0. With average=micro
//     over the spans of all types, with macro and weighted as the mean over the types that either side has, weighted by what Recall
//     divides by. Not defined when the truth has no spans, or none of the type.
//   - overlap=exact: a span matches one of the same document, type, start and end; any: one of the same document and type that it shares
//     a unit with; proportional: Precision is the mean over the predicted spans s of |s ∩ t| / |s|, summed over the true spans t of
//     the type, and Recall the mean of the same over the true ones (Da San Martino et al., SemEval-2020 task 11, SI), where spans of a type
//     that share a unit were merged into one; units: of single units, each once.
//   - IoU: units in both, as a share of units in either.
//   - DocumentF1, DocumentIoU: mean over the documents of the same of the document's units, of the type or of all types pooled, where
//     a document without spans on both sides counts 1 (Pavlopoulos et al., SemEval-2021 task 5; Vázquez et al., SemEval-2025 task 3).
//
// Values of exact spans are those of seqeval, except: seqeval has 0 where the truth has no spans; tags that it warns of are refused; and L
// and U of BILOU, which its default mode does not know, are there E and S.
package spans

import (
	"context"
	"slices"
	"sync"

	"assay/shared/measure"
	"assay/shared/measure/steps"
	"assay/shared/plural"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "spans/1"

// Computation is that of the evaluator of spans.
var Computation = measure.Computation{
	Version: Version,
	ReadTruth: func(ctx context.Context, format measure.Format, asked []measure.Measure,
		files []measure.File) (*measure.Truth, []measure.Diagnostic, error) {
		var report measure.Report
		truth, kinds, err := readTruth(ctx, format, asked, files, &report)
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
		_, _, err := readTruth(ctx, format, asked, files, &report) // a truth asks of its files what a run does
		return report.Diagnostics(), err
	},
}

// readTruth reads a truth, and returns the types of its spans too.
func readTruth(ctx context.Context, format measure.Format, asked []measure.Measure, files []measure.File,
	report *measure.Report) (*measure.Truth, []string, error) {
	if format.Kind == measure.CoNLL {
		return readSentences(ctx, asked, files, report)
	}
	return readTexts(ctx, format, asked, files, report)
}

// newTruth returns a truth of so many documents. A run is read to be compared with their ids or tokens, with the types, or with both.
// spans is how many spans it has, or tokens.
func newTruth(asked []measure.Measure, count, spans int, size int64,
	read func(ctx context.Context, ids, types bool, files []measure.File, report *measure.Report) (documents, error)) *measure.Truth {
	return &measure.Truth{
		Steps:  func(asked []measure.Measure) int { return int(size) + stepsOf(asked, count, spans) },
		Extent: plural.Count(count, "document"),
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
		Evaluate: func(ctx context.Context, files []measure.File) (*measure.Evaluation, error) {
			return measure.Evaluate(func(report *measure.Report) (e measure.Evaluation, err error) {
				d, err := read(ctx, true, true, files, report)
				if err != nil || report.Failed() {
					return e, err
				}
				counter := steps.Of(ctx)
				e.Result = d.evaluate(counter, asked)
				if err := counter.Err(); err != nil {
					return e, err
				}
				// Of more documents, the run would take memory as long as the evaluation is there.
				if e.Examples = d.count; e.Examples <= measure.MaxExamples && ofDocuments[asked[0].Name] == nil {
					e.Resample = d.resampler(asked[0])
				}
				return e, nil
			})
		},
	}
}

// stepsOf returns how many steps the measures take: each scheme compares the documents once.
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

// resampler returns what measures samples of the documents, which are compared once, for the first sample.
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

// documents has the spans of a truth and of a run, document by document.
type documents struct {
	count int
	kinds []string
	name  func(i int) string
	// at returns the spans of a document, sorted, as the scheme has them. They are valid until the next call.
	at func(counter *steps.Counter, scheme string, i int) (truth, run []span)
}

// ofDocuments are the measures that are means over documents.
var ofDocuments = map[string]func(shared) float64{"DocumentF1": shared.f1, "DocumentIoU": shared.iou}

// topics is for how many documents there are values of one of the measures.
func topics(asked []measure.Measure, documents int) int {
	if documents > measure.MaxExamples || !slices.ContainsFunc(asked, func(m measure.Measure) bool { return ofDocuments[m.Name] != nil }) {
		return 0
	}
	return documents
}

// mean is that of a measure over documents.
type mean struct {
	value  func(shared) float64
	of     *shared // the units of the last document
	sum    measure.Sum
	values []float64 // by document, of up to MaxExamples
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
