package text

import (
	"math"

	"assay/shared/computation/measure/steps"
)

// bleuOrder is the greatest length of BLEU's n-grams.
const bleuOrder = 4

// bleu compares for one measure of BLEU.
type bleu struct {
	tokenize         string // name of the tokenizer
	lowercase        bool
	length, nearest  int // words of the last text, and of its reference with the nearest length
	words            []string
	symbols, against []uint32
	vocabulary       vocabulary
	ngrams           ngrams
}

func (*bleu) perByte() int { return 20 }

func (b *bleu) compare(counter *steps.Counter, references []string, text string) {
	if counter.Add(b.perByte()*len(text)) != nil {
		return
	}
	b.words = b.appendTokens(b.words[:0], text)
	b.symbols = b.vocabulary.of(b.words, b.symbols)
	b.ngrams.reset(b.symbols, bleuOrder)
	b.length, b.nearest = len(b.words), -1
	for _, reference := range references {
		if counter.Add(b.perByte()*len(reference)) != nil {
			return
		}
		b.words = b.appendTokens(b.words[:0], reference)
		b.against = b.vocabulary.find(b.words, b.against[:0])
		b.ngrams.match(b.against)
		n := len(b.words)
		if far, least := abs(n-b.length), abs(b.nearest-b.length); b.nearest < 0 || far < least || far == least && n < b.nearest {
			b.nearest = n
		}
	}
}

// terms returns the lengths of text and reference and then, for each length of n-grams, the numbers of correct and of all n-grams.
func (b *bleu) terms() []float64 {
	list := []float64{float64(b.length), float64(b.nearest)}
	for n := range bleuOrder {
		list = append(list, float64(b.ngrams.atMost[n]), float64(max(0, b.length-n)))
	}
	return list
}

func abs(n int) int { return max(n, -n) }

// bleuOf computes BLEU: the geometric mean of the precisions, times the penalty for texts that are shorter than their references. The
// first length without a correct n-gram counts half a match, the next such length a quarter, and so on.
func bleuOf(totals []float64) float64 {
	length := totals[0]
	reference := totals[1]
	ngrams := totals[2:]
	if ngrams[0] == 0 {
		return 0
	}
	sum, smooth := 0.0, 1.0
	for n := range bleuOrder {
		correct, total := ngrams[2*n], ngrams[2*n+1]
		switch {
		case total == 0:
			return 0
		case correct == 0:
			smooth *= 2
			correct = 1 / smooth
		}
		sum += math.Log(100 * correct / total)
	}
	penalty := 1.0
	if length < reference {
		penalty = math.Exp(1 - reference/length)
	}
	return penalty * math.Exp(sum/bleuOrder)
}
