package text

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

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

// appendTokens appends the words of a text.
func (b *bleu) appendTokens(list []string, text string) []string {
	if b.lowercase {
		text = lower(text)
	}
	text = strings.TrimRightFunc(text, isSpace)
	switch b.tokenize {
	case "char":
		for i, r := range text {
			if !isSpace(r) {
				list = append(list, text[i:i+utf8.RuneLen(r)])
			}
		}
		return list
	case "intl":
		text = separate(text, not(unicode.IsNumber), unicode.IsPunct, false)
		text = separate(text, unicode.IsPunct, not(unicode.IsNumber), true)
		text = isolate(text, unicode.IsSymbol)
	case "13a":
		text = newlines.Replace(strings.ReplaceAll(text, "<skipped>", ""))
		if strings.Contains(text, "&") {
			for _, escape := range escapes {
				text = strings.ReplaceAll(text, escape[0], escape[1])
			}
		}
		text = isolate(" "+text+" ", isSign)
		text = separate(text, not(isDigit), isStop, false)
		text = separate(text, isStop, not(isDigit), true)
		text = separate(text, isDigit, func(r rune) bool { return r == '-' }, false)
	}
	return append(list, strings.FieldsFunc(text, isSpace)...)
}

var (
	newlines = strings.NewReplacer("-\n", "", "\n", " ")
	// escapes are replaced one after another, so &amp;lt; becomes <.
	escapes = [][2]string{{"&quot;", `"`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}
)

func not(is func(rune) bool) func(rune) bool { return func(r rune) bool { return !is(r) } }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isStop reports whether r belongs to a number if it stands between digits.
func isStop(r rune) bool { return r == '.' || r == ',' }

// isSign reports whether r is ASCII punctuation except stops, the apostrophe and the dash.
func isSign(r rune) bool {
	return r < utf8.RuneSelf && isPunctuation(byte(r)) && !isStop(r) && r != '\'' && r != '-'
}

// isolate puts spaces around the characters for which is returns true.
func isolate(text string, is func(rune) bool) string {
	out := make([]byte, 0, len(text)+len(text)/4)
	for _, r := range text {
		if is(r) {
			out = append(utf8.AppendRune(append(out, ' '), r), ' ')
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// separate finds pairs of a first and a second character. It puts a space between them, and another space before or after the pair. Pairs
// do not overlap, like matches of a regular expression.
func separate(text string, first, second func(rune) bool, before bool) string {
	out := make([]byte, 0, len(text)+len(text)/4)
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if next, m := utf8.DecodeRuneInString(text[n:]); m > 0 && first(r) && second(next) {
			if before {
				out = append(out, ' ')
			}
			out = append(append(out, text[:n]...), ' ')
			out = append(out, text[n:n+m]...)
			if !before {
				out = append(out, ' ')
			}
			n += m
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return string(out)
}
