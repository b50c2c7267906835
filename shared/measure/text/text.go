// Package text measures how near texts that a system wrote are to references that people wrote: answers, summaries, translations.
//
// # Definitions
//
// Measures are those of the programs that papers quote; their parameters have the same names.
//
//   - EM and TokenF1 are exact and F1 of the evaluation of SQuAD 2.0, from 0 to 1 instead of 100: texts are compared in lower case,
//     without ASCII punctuation and the words a, an and the; of several references the best counts. References of which nothing is left
//     are passed over, and when there is no other, only a text of which nothing is left is right.
//   - ROUGE1, ROUGE2, ROUGEL and ROUGELsum are those of rouge-score 0.1.2: words of the letters a to z and digits alone, so that a text in
//     another script has none, and with stem NLTK's variant of Porter's algorithm for words of more than three letters. ROUGELsum compares
//     lines. Of several references the one with the best F-measure counts, the first of equal ones (score_multi), also for precision and
//     recall. The value is the mean over the examples, where ROUGE-1.5.5 and rouge-score's aggregator give a median of bootstrap samples.
//   - BLEU and chrF are of all texts together, from 0 to 100, as sacrebleu 2.6.0 computes them (corpus_score): BLEU with n-grams up to 4,
//     exponential smoothing and no effective order, chrF with effective order. The signature of BLEU is
//     nrefs:N|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 and that of chrF
//     nrefs:N|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0. N is the number of references of each example, or var where they differ;
//     lowercase makes case:lc, and the other parameters are tok, nc and nw there.
//
// Where examples have different numbers of references, each has those that it has, as with None in the lists of sacrebleu. An example
// without references has one that is empty, for all measures; SQuAD does the same, while rouge-score and sacrebleu fail.
//
// # Characters
//
// Lower case, white space, words and classes of characters are those of Python: İ is written in two characters, and Σ at the end of a word
// as ς. Go has Unicode 15, as Python 3.12; characters that were added with it are others to Python 3.11, whose values testdata has.
package text

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/measure"
	"assay/shared/measure/predictions"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "text/1"

// Computation is that of the evaluator of texts.
var Computation = predictions.TextComputation(Version,
	func(ctx context.Context, asked []measure.Measure, truth *predictions.Truth) (
		compare func(int, []byte) string, result func() measure.Evaluation,
	) {
		e := newEvaluation(asked, truth.Len())
		e.common.stopped = func() bool { return ctx.Err() != nil }
		var list [][]byte
		var references []string
		return func(index int, text []byte) string {
				list, references = truth.References(index, list[:0]), references[:0]
				for _, reference := range list {
					references = append(references, string(reference))
				}
				if len(references) == 0 {
					references = append(references, "")
				}
				return e.compare(index, references, string(text))
			}, func() measure.Evaluation {
				return measure.Evaluation{Result: e.result(truth.ID), Resample: e.resample, Examples: truth.Len()}
			}
	})

// evaluation measures one run.
type evaluation struct {
	asked    []measure.Measure
	examples int
	ways     []comparer
	common   subsequences
	means    []*mean
	totals   []*total
	values   map[string]func() float64     // of all texts, by measure
	resample func(examples []int) *float64 // by the first measure, unless it is a mean
	// The least and the greatest number of references that an example has.
	least, most int
}

// comparer compares texts, and is shared by measures that follow from the same.
type comparer interface {
	compare(references []string, text string)
}

// mean is a measure that is the mean of its values of the examples.
type mean struct {
	name   string
	of     func() float64 // the value of the example that was compared last
	sum    measure.Sum
	values []float64 // of up to MaxExamples
}

// total is a measure of sums over all texts.
type total struct {
	last  func() []counts // of the example that was compared last
	value func([]counts) float64
	sums  []counts
	list  [][]counts // by example, of up to MaxExamples and for the first measure alone
}

func newEvaluation(asked []measure.Measure, examples int) *evaluation {
	e := &evaluation{asked: asked, examples: examples, values: map[string]func() float64{}}
	e.common.limit, e.common.stopped = maxSteps, func() bool { return false }
	answers, rouges, chrFs := &answers{}, map[bool]*rouge{}, map[bool]*chrF{}
	for _, m := range asked {
		switch name := m.String(); m.Name {
		case "EM":
			e.mean(name, answers, func() float64 { return answers.exact })
		case "TokenF1":
			e.mean(name, answers, func() float64 { return answers.f1 })
		case "BLEU":
			b := &bleu{tokenize: m.Param("tokenize"), lowercase: m.Flag("lowercase")}
			e.total(name, b, func() []counts { return b.last[:] }, bleuOf)
		case "chrF":
			c := existing(chrFs, m.Flag("lowercase"), func(lowercase bool) *chrF { return &chrF{lowercase: lowercase} })
			s := c.measure(chrFOrders{int(m.Number("char_order")), int(m.Number("word_order")), m.Number("beta")})
			e.total(name, c, func() []counts { return s.best }, s.f)
		default:
			r := existing(rouges, m.Flag("stem"), func(stem bool) *rouge { return &rouge{stem: stem, common: &e.common} })
			e.mean(name, r, r.part(m.Name, m.Param("score")))
		}
	}
	return e
}

// existing returns the value of a key, which is made if there is none yet.
func existing[V any](all map[bool]*V, key bool, made func(bool) *V) *V {
	if all[key] == nil {
		all[key] = made(key)
	}
	return all[key]
}

func (e *evaluation) add(way comparer) {
	if !slices.Contains(e.ways, way) {
		e.ways = append(e.ways, way)
	}
}

func (e *evaluation) mean(name string, way comparer, of func() float64) {
	m := &mean{name: name, of: of}
	if e.examples <= measure.MaxExamples {
		m.values = make([]float64, e.examples)
	}
	e.add(way)
	e.means = append(e.means, m)
	e.values[name] = func() float64 { return m.sum.Total() / float64(e.examples) }
}

func (e *evaluation) total(name string, way comparer, last func() []counts, value func([]counts) float64) {
	t := &total{last: last, value: value}
	e.values[name] = func() float64 { return value(t.sums) }
	if len(e.values) == 1 && e.examples <= measure.MaxExamples {
		t.list = make([][]counts, e.examples)
		e.resample = func(examples []int) *float64 {
			var sums []counts
			for _, i := range examples {
				sums = addCounts(sums, t.list[i])
			}
			return new(value(sums))
		}
	}
	e.add(way)
	e.totals = append(e.totals, t)
}

// compare measures the text of an example, which has references. The fault is that there are too many of their words.
func (e *evaluation) compare(index int, references []string, text string) (fault string) {
	n := len(references)
	e.least, e.most = min(cmp.Or(e.least, n), n), max(e.most, n)
	for _, way := range e.ways {
		way.compare(references, text)
	}
	if e.common.steps > e.common.limit {
		return fmt.Sprintf("the texts up to here and their references are too long for common subsequences of words, which take more than %d "+
			"steps; give shorter texts, or leave out ROUGEL and ROUGELsum", e.common.limit)
	}
	for _, t := range e.totals {
		t.sums = addCounts(t.sums, t.last())
		if t.list != nil {
			t.list[index] = slices.Clone(t.last())
		}
	}
	for _, m := range e.means {
		x := m.of()
		m.sum.Add(x)
		if m.values != nil {
			m.values[index] = x
		}
	}
	return ""
}

func (e *evaluation) result(id func(index int) string) measure.Result {
	r := measure.Compute(e.asked, func(m measure.Measure) (float64, string) { return e.values[m.String()](), "" })
	for _, m := range e.asked {
		if s := e.signature(m); s != "" {
			if r.Signatures == nil {
				r.Signatures = map[string]string{}
			}
			r.Signatures[m.String()] = s
		}
	}
	for _, m := range e.means {
		r.AddValues(m.name, e.examples, id, func(i int) float64 { return m.values[i] })
	}
	return r
}

// signature is that which sacrebleu prints of a measure; empty where it has none.
func (e *evaluation) signature(m measure.Measure) string {
	var settings string
	switch m.Name {
	case "BLEU":
		settings = fmt.Sprintf("eff:no|tok:%s|smooth:exp", m.Param("tokenize"))
	case "chrF":
		settings = fmt.Sprintf("eff:yes|nc:%s|nw:%s|space:no", m.Param("char_order"), m.Param("word_order"))
	default:
		return ""
	}
	references, written := "var", "mixed"
	if e.least == e.most {
		references = strconv.Itoa(e.most)
	}
	if m.Flag("lowercase") {
		written = "lc"
	}
	return fmt.Sprintf("nrefs:%s|case:%s|%s|version:2.6.0", references, written, settings)
}
