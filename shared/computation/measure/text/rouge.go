package text

import (
	"assay/shared/computation/measure/steps"
)

// score compares two texts.
type score struct{ precision, recall, fmeasure float64 }

// f1 returns the score for a text and a reference with the numbers of parts, of which common parts are in both.
func f1(common, text, reference int) score {
	if common == 0 {
		return score{}
	}
	p, r := float64(common)/float64(text), float64(common)/float64(reference)
	return score{p, r, 2 * p * r / (p + r)}
}

// rouge compares like rouge-score.
type rouge struct {
	tokens rougeTokens
	parts  [4]struct {
		asked bool
		best  score // for the last example
	}
	words                    []string
	symbols, against         []uint32
	lines, linesAgainst      [][]uint32
	lineSymbols, lineAgainst []uint32
	vocabulary               vocabulary
	ngrams                   ngrams
	common                   *subsequences
	index                    lineIndex
	counts                   []int    // by symbol
	known                    []uint32 // the words of a line of the reference that the text has
	marked                   []bool   // by word of known
}

// Indices of parts.
const (
	ofWords = iota
	ofPairs
	ofSubsequences
	ofLines
)

// part returns a function that returns the value of a measure for the last example.
func (r *rouge) part(name, value string) func() float64 {
	part := &r.parts[map[string]int{"ROUGE1": ofWords, "ROUGE2": ofPairs, "ROUGEL": ofSubsequences, "ROUGELsum": ofLines}[name]]
	part.asked = true
	switch value {
	case "precision":
		return func() float64 { return part.best.precision }
	case "recall":
		return func() float64 { return part.best.recall }
	}
	return func() float64 { return part.best.fmeasure }
}

func (*rouge) perByte() int { return 8 }

func (r *rouge) compare(counter *steps.Counter, references []string, text string) {
	if counter.Add(r.perByte()*len(text)) != nil {
		return
	}
	r.words = r.tokens.appendWords(r.words[:0], text)
	r.symbols = r.vocabulary.of(r.words, r.symbols)
	r.ngrams.reset(r.symbols, 1+ofPairs)
	r.common.reset(len(r.vocabulary) + 1)
	if r.parts[ofLines].asked {
		r.lines, r.lineSymbols = r.linesOf(text, r.lines[:0], r.lineSymbols[:0])
		r.index.reset(r.lines, len(r.vocabulary)+1)
	}
	for i, reference := range references {
		if counter.Add(r.perByte()*len(reference)) != nil || r.common.counter.Err() != nil {
			return
		}
		r.words = r.tokens.appendWords(r.words[:0], reference)
		r.against = r.vocabulary.find(r.words, r.against[:0])
		matched := r.ngrams.match(r.against)
		for part := range r.parts {
			var s score
			switch {
			case !r.parts[part].asked:
				continue
			case part == ofSubsequences:
				s = f1(r.common.length(r.against, r.symbols), len(r.symbols), len(r.against))
			case part == ofLines:
				r.linesAgainst, r.lineAgainst = r.linesOf(reference, r.linesAgainst[:0], r.lineAgainst[:0])
				s = f1(r.hits(), len(r.lineSymbols), len(r.lineAgainst))
			default:
				s = f1(matched[part], len(r.symbols)-part, len(r.against)-part)
			}
			if best := &r.parts[part].best; i == 0 || s.fmeasure > best.fmeasure {
				*best = s
			}
		}
	}
}
