// Package text compares texts of a system with references that people wrote: answers, summaries, translations.
//
// # Definitions
//
// The measures are defined by the programs that papers quote. Parameters have the names that they have there.
//
//   - EM and TokenF1 are exact and F1 of the evaluation of SQuAD 2.0, from 0 to 1 instead of 100.
//   - ROUGE1, ROUGE2, ROUGEL and ROUGELsum follow rouge-score 0.1.2 and its score_multi. With stem, words are stemmed by NLTK's variant of
//     Porter's algorithm. rouge-score has no tokenizer like tokenize=unicode, but takes one.
//   - BLEU and chrF follow corpus_score of sacrebleu 2.6.0. BLEU has no effective order, chrF has one.
//
// The families of package measure define the measures, with the conventions for cases such as texts without words.
//
// # Signatures
//
//	BLEU    nrefs:N|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
//	chrF    nrefs:N|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0
//
// N is the number of references of each example, or var if the numbers differ. With lowercase, case is lc. The other parameters are tok, nc
// and nw.
//
// # References
//
// Examples may have different numbers of references, like lists with None in sacrebleu. SQuAD counts an example without references like
// this package, while rouge-score and sacrebleu fail.
//
// # Characters
//
// Lower case, white space, words and classes of characters follow Python. For example, the lower case of İ has two characters, and Σ at the
// end of a word becomes ς. Go and Python 3.12 have Unicode 15. The values in testdata come from Python 3.11, which classifies the
// characters that Unicode 15 added differently.
package text

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/predictions"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/lists"
)

// Version names the semantics of this evaluator. Each evaluation records it. It changes whenever a value may change.
const Version = "text/1"

// Computation computes the measures of texts.
var Computation = predictions.TextComputation(Version, stepsOf,
	func(ctx context.Context, counter *steps.Counter, asked []measure.Measure, truth *predictions.Gold) predictions.TextEvaluator {
		return &runEvaluator{scorer: newRunScorer(ctx, counter, asked, truth.Len()), truth: truth}
	}, newWordless)

// stepsOf estimates the steps of the measures for texts that are as long as the mean reference.
func stepsOf(asked []measure.Measure, truth *predictions.Gold) int {
	e := newRunScorer(context.Background(), steps.Of(context.Background()), asked, 0)
	size := truth.TextBytes()
	references := truth.References(0, nil)
	for i := 1; i < truth.Len(); i++ {
		references = truth.References(i, references)
	}
	each := size / max(1, len(references)) // bytes of a reference
	total := 0
	for _, way := range e.ways {
		total += way.perByte() * (size + max(1, truth.Len())*each)
		if r, ok := way.(*rouge); ok {
			total += len(references) * r.subsequenceSteps(each)
		}
	}
	return total
}

// subsequenceSteps estimates the steps of common subsequences for a text and a reference of the size in bytes. It assumes words of six
// bytes. A step handles 64 columns of the table.
func (r *rouge) subsequenceSteps(size int) (n int) {
	const wordBytes = 6
	words := size / wordBytes
	table := words*(1+words/64) + overhead
	if r.parts[ofSubsequences].asked {
		n += table
	}
	if r.parts[ofLines].asked {
		n += 3 * table
	}
	return n
}

// runEvaluator compares the texts of one run with the references of a truth.
type runEvaluator struct {
	scorer *runScorer
	truth  *predictions.Gold
	// The references of the current example. The next example reuses their memory.
	list       [][]byte
	references []string
	forms      forms
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
	r.forms.compare(r.scorer.counter, r.list, text, func() string { return r.truth.ID(index) })
	return r.scorer.compare(index, r.references, string(text))
}

// Warnings implements predictions.TextEvaluator.
func (r *runEvaluator) Warnings() []string { return r.forms.warnings() }

// Evaluation implements predictions.TextEvaluator.
func (r *runEvaluator) Evaluation() (measure.Scores, error) {
	return r.scorer.scores(r.truth.ID)
}

// runScorer measures one run.
type runScorer struct {
	counter  *steps.Counter
	asked    []measure.Measure
	examples int
	ways     []comparer
	common   subsequences
	most     int64            // limit of steps for common subsequences
	sums     map[string]*sums // by measure
	// The least and the greatest number of references of an example.
	fewest, greatest int
}

// comparer compares a text with its references. Measures that need the same comparison share a comparer. After compare, functions of the
// comparer return the terms of the example.
type comparer interface {
	compare(counter *steps.Counter, references []string, text string)
	perByte() int // steps for each byte of a text, without common subsequences
}

// sums holds the terms of a measure. Terms of an example, such as numbers of n-grams, are summed over the examples. The value of the
// measure is a function of the totals.
type sums struct {
	of    func() []float64               // returns the terms of the last example
	value func(totals []float64) float64 // nil if mean
	all   []measure.Sum                  // totals
	terms [][]float64                    // by example; nil for more than MaxExamples
	mean  bool                           // there is one term, and the value is its mean
}

// add adds the terms of the last example.
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

// valueOf returns the value of the measure for n examples with the totals.
func (s *sums) valueOf(all []measure.Sum, n int) float64 {
	if s.mean {
		return all[0].Total() / float64(n)
	}
	return s.value(lists.Map(all, func(x measure.Sum) float64 { return x.Total() }))
}

func newRunScorer(ctx context.Context, counter *steps.Counter, asked []measure.Measure, examples int) *runScorer {
	e := &runScorer{counter: counter, asked: asked, examples: examples, sums: map[string]*sums{}}
	e.bound(ctx, bounds.SubsequenceSteps)
	shared := comparers{
		answers: &answers{},
		rouges:  map[rougeTokens]*rouge{},
		chrFs:   map[bool]*chrF{},
		common:  &e.common,
	}
	for _, m := range asked {
		way, s := shared.of(m)
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

// comparers holds the comparers that several measures share.
type comparers struct {
	answers *answers
	rouges  map[rougeTokens]*rouge
	chrFs   map[bool]*chrF // by lowercase
	common  *subsequences
}

// of returns the comparer of a measure, and the sums of its terms.
func (c *comparers) of(m measure.Measure) (comparer, sums) {
	switch m.Name {
	case "EM":
		return c.answers, mean(func() float64 { return c.answers.exact })
	case "TokenF1":
		return c.answers, mean(func() float64 { return c.answers.f1 })
	case "BLEU":
		b := &bleu{tokenize: m.Param("tokenize"), lowercase: m.Flag("lowercase")}
		return b, sums{of: b.terms, value: bleuOf}
	case "chrF":
		shared := existing(c.chrFs, m.Flag("lowercase"), func(lowercase bool) *chrF { return &chrF{lowercase: lowercase} })
		best := shared.measure(chrFOrders{int(m.Number("char_order")), int(m.Number("word_order")), m.Number("beta")})
		return shared, sums{of: best.terms, value: best.orders.of}
	default: // ROUGE
		r := existing(c.rouges, rougeTokensOf(m), func(t rougeTokens) *rouge { return &rouge{tokens: t, common: c.common} })
		return r, mean(r.part(m.Name, m.Param("score")))
	}
}

// errTooLong says that common subsequences take too many steps.
var errTooLong = errors.New("the texts are too long")

// bound limits the steps of common subsequences.
func (e *runScorer) bound(ctx context.Context, most int64) {
	e.most = most
	e.common.counter = steps.Of(steps.With(ctx, steps.New(most, func(context.Context) error { return errTooLong })))
}

func mean(of func() float64) sums {
	return sums{of: func() []float64 { return []float64{of()} }, mean: true}
}

// existing returns the value of a key. It makes the value if the key is new.
func existing[K comparable, V any](all map[K]*V, key K, made func(K) *V) *V {
	if all[key] == nil {
		all[key] = made(key)
	}
	return all[key]
}

// compare measures the text of an example, which must have at least one reference. It returns a fault if the texts so far are too long for
// common subsequences.
func (e *runScorer) compare(index int, references []string, text string) (fault string) {
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

func (e *runScorer) scores(id func(index int) string) (measure.Scores, error) {
	if err := e.common.counter.Err(); err != nil {
		return measure.Scores{}, err
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
	found := measure.Scores{Result: r, Examples: e.examples}
	if e.examples <= measure.MaxExamples {
		found.Resample = e.resample
	}
	return found, e.counter.Err()
}

// resample returns the value of the first measure over a sample of the examples. It returns nil if the counter has an error.
func (e *runScorer) resample(counter *steps.Counter, sample []int) *float64 {
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

// signature returns the signature that sacrebleu prints for a measure. It is empty for measures of other programs.
func (e *runScorer) signature(m measure.Measure) string {
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
