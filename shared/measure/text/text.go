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
	"errors"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/predictions"
	"assay/shared/measure/steps"
)

// Version names the semantics of this evaluator. It is recorded with every evaluation and changes whenever a value
// could.
const Version = "text/1"

// Computation is that of the evaluator of texts.
var Computation = predictions.TextComputation(Version, stepsOf,
	func(ctx context.Context, counter *steps.Counter, asked []measure.Measure, truth *predictions.Truth) predictions.TextEvaluator {
		return &runEvaluator{evaluation: newEvaluation(ctx, counter, asked, truth.Len()), truth: truth}
	})

// stepsOf returns how many steps the measures take of texts that are as long as a reference. Common subsequences are those of words of
// six bytes, by a word of memory for 64 of them.
func stepsOf(asked []measure.Measure, truth *predictions.Truth) int {
	const wordBytes = 6
	e := newEvaluation(context.Background(), steps.Of(context.Background()), asked, 0)
	n := max(1, truth.Len())
	bytes := truth.TextBytes()
	references := truth.References(0, nil)
	for i := 1; i < truth.Len(); i++ {
		references = truth.References(i, references)
	}
	each := bytes / max(1, len(references)) // bytes of a reference
	total := 0
	for _, way := range e.ways {
		total += way.perByte() * (bytes + n*each)
		if r, ok := way.(*rouge); ok {
			words := each / wordBytes
			table := words * (1 + words/64)
			if r.parts[ofSubsequences].asked {
				total += len(references) * (table + overhead)
			}
			if r.parts[ofLines].asked {
				total += 3 * len(references) * (table + overhead)
			}
		}
	}
	return total
}

// runEvaluator compares the texts of one run with the references of a truth.
type runEvaluator struct {
	evaluation *evaluation
	truth      *predictions.Truth
	// The references of one example, in memory that the next example uses again.
	list       [][]byte
	references []string
}

// Compare implements predictions.TextEvaluator.
func (r *runEvaluator) Compare(index int, text []byte) (fault string) {
	r.list = r.truth.References(index, r.list[:0])
	r.references = r.references[:0]
	for _, reference := range r.list {
		r.references = append(r.references, string(reference))
	}
	if len(r.references) == 0 {
		r.references = append(r.references, "")
	}
	return r.evaluation.compare(index, r.references, string(text))
}

// Evaluation implements predictions.TextEvaluator.
func (r *runEvaluator) Evaluation() (measure.Evaluation, error) {
	return r.evaluation.evaluation(r.truth.ID)
}

// evaluation measures one run.
type evaluation struct {
	counter  *steps.Counter
	asked    []measure.Measure
	examples int
	ways     []comparer
	common   subsequences
	most     int64            // steps of common subsequences
	sums     map[string]*sums // by measure
	// The least and the greatest number of references that an example has.
	fewest, greatest int
}

// comparer compares texts, and is shared by measures that follow from the same. The steps are those of its parts of the texts.
type comparer interface {
	compare(counter *steps.Counter, references []string, text string)
	perByte() int // steps for each byte of a text, without those of common subsequences
}

// sums are what a measure of many examples follows from.
type sums struct {
	of    func() []float64 // the terms of the example that was compared last
	value func(totals []float64) float64
	all   []measure.Sum
	terms [][]float64 // by example, of up to MaxExamples
	mean  bool        // there is one term, whose mean is the value
}

// add takes the example that was compared last.
func (s *sums) add(index int) {
	terms := s.of()
	s.all = addTerms(s.all, terms)
	if s.terms != nil {
		s.terms[index] = terms
	}
}

func addTerms(all []measure.Sum, terms []float64) []measure.Sum {
	if all == nil {
		all = make([]measure.Sum, len(terms))
	}
	for i, x := range terms {
		all[i].Add(x)
	}
	return all
}

// valueOf is the value of n examples, of whose terms these are the sums.
func (s *sums) valueOf(all []measure.Sum, n int) float64 {
	if s.mean {
		return all[0].Total() / float64(n)
	}
	return s.value(lists.Map(all, func(x measure.Sum) float64 { return x.Total() }))
}

func newEvaluation(ctx context.Context, counter *steps.Counter, asked []measure.Measure, examples int) *evaluation {
	e := &evaluation{counter: counter, asked: asked, examples: examples, sums: map[string]*sums{}}
	e.bound(ctx, maxSteps)
	answers := &answers{}
	rouges := map[bool]*rouge{}
	chrFs := map[bool]*chrF{}
	for _, m := range asked {
		var way comparer
		var s sums
		switch m.Name {
		case "EM":
			way, s = answers, mean(func() float64 { return answers.exact })
		case "TokenF1":
			way, s = answers, mean(func() float64 { return answers.f1 })
		case "BLEU":
			b := &bleu{tokenize: m.Param("tokenize"), lowercase: m.Flag("lowercase")}
			way, s = b, sums{of: b.terms, value: bleuOf}
		case "chrF":
			c := existing(chrFs, m.Flag("lowercase"), func(lowercase bool) *chrF { return &chrF{lowercase: lowercase} })
			best := c.measure(chrFOrders{int(m.Number("char_order")), int(m.Number("word_order")), m.Number("beta")})
			way, s = c, sums{of: best.terms, value: best.orders.of}
		default:
			r := existing(rouges, m.Flag("stem"), func(stem bool) *rouge { return &rouge{stem: stem, common: &e.common} })
			way, s = r, mean(r.part(m.Name, m.Param("score")))
		}
		if !slices.Contains(e.ways, way) {
			e.ways = append(e.ways, way)
		}
		if examples <= measure.MaxExamples {
			s.terms = make([][]float64, examples)
		}
		e.sums[m.String()] = &s
	}
	return e
}

// errTooLong is the error of common subsequences that take too many steps.
var errTooLong = errors.New("the texts are too long")

// bound bounds the steps of common subsequences.
func (e *evaluation) bound(ctx context.Context, most int64) {
	e.most = most
	e.common.counter = steps.Of(steps.With(ctx, steps.New(most, func(context.Context) error { return errTooLong })))
}

func mean(of func() float64) sums {
	return sums{of: func() []float64 { return []float64{of()} }, mean: true}
}

// existing returns the value of a key, which is made if there is none yet.
func existing[V any](all map[bool]*V, key bool, made func(bool) *V) *V {
	if all[key] == nil {
		all[key] = made(key)
	}
	return all[key]
}

// compare measures the text of an example, which has references. The fault is that there are too many of their words.
func (e *evaluation) compare(index int, references []string, text string) (fault string) {
	n := len(references)
	e.fewest, e.greatest = min(cmp.Or(e.fewest, n), n), max(e.greatest, n)
	for _, way := range e.ways {
		way.compare(e.counter, references, text)
	}
	if errors.Is(e.common.counter.Err(), errTooLong) {
		return fmt.Sprintf("the texts up to here and their references are too long for common subsequences of words, which take more than %d "+
			"steps; give shorter texts, or leave out ROUGEL and ROUGELsum", e.most)
	}
	for _, s := range e.sums {
		s.add(index)
	}
	return ""
}

func (e *evaluation) evaluation(id func(index int) string) (measure.Evaluation, error) {
	if err := e.common.counter.Err(); err != nil {
		return measure.Evaluation{}, err
	}
	r := measure.Compute(e.counter, e.asked, func(m measure.Measure) (float64, string) {
		s := e.sums[m.String()]
		return s.valueOf(s.all, e.examples), ""
	})
	for _, m := range e.asked {
		if s := e.signature(m); s != "" {
			if r.Signatures == nil {
				r.Signatures = map[string]string{}
			}
			r.Signatures[m.String()] = s
		}
		if s := e.sums[m.String()]; s.mean {
			r.AddValues(e.counter, m.String(), e.examples, id, func(i int) float64 { return s.terms[i][0] })
		}
	}
	found := measure.Evaluation{Result: r, Examples: e.examples}
	if e.examples <= measure.MaxExamples {
		found.Resample = func(counter *steps.Counter, sample []int) *float64 {
			s := e.sums[e.asked[0].String()]
			var all []measure.Sum
			for _, i := range sample {
				if counter.Add(len(s.terms[i])) != nil {
					return nil
				}
				all = addTerms(all, s.terms[i])
			}
			return new(s.valueOf(all, len(sample)))
		}
	}
	return found, e.counter.Err()
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
	if e.fewest == e.greatest {
		references = strconv.Itoa(e.greatest)
	}
	if m.Flag("lowercase") {
		written = "lc"
	}
	return fmt.Sprintf("nrefs:%s|case:%s|%s|version:2.6.0", references, written, settings)
}
