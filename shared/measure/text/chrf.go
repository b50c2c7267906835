package text

import (
	"slices"
	"unicode/utf8"
)

// chrFOrders are the settings of chrF.
type chrFOrders struct {
	chars, words int
	beta         float64
}

// chrF counts for all measures of texts that are written alike, which costs little more than for the one with the longest n-grams.
type chrF struct {
	lowercase                             bool
	all                                   []*chrFBest
	longest                               chrFOrders
	list                                  []counts // by length: n-grams of characters and, after them, those of words
	words                                 []string
	chars, charsAgainst, symbols, against []uint32
	vocabulary                            vocabulary
	charNgrams, wordNgrams                ngrams
}

// counts are how many n-grams a text and a reference have, and how many in common.
type counts struct{ text, reference, common int }

// chrFBest has the counts of the best reference of a text.
type chrFBest struct {
	orders     chrFOrders
	most       float64 // of the references so far
	best, list []counts
}

// addCounts adds those of another text to sums; nil are none yet.
func addCounts(sums, of []counts) []counts {
	if sums == nil {
		return slices.Clone(of)
	}
	for i, n := range of {
		sums[i].text += n.text
		sums[i].reference += n.reference
		sums[i].common += n.common
	}
	return sums
}

// measure returns the counts of another measure.
func (c *chrF) measure(orders chrFOrders) *chrFBest {
	c.longest.chars, c.longest.words = max(c.longest.chars, orders.chars), max(c.longest.words, orders.words)
	c.all = append(c.all, &chrFBest{orders: orders})
	return c.all[len(c.all)-1]
}

func (c *chrF) compare(references []string, text string) {
	c.chars, c.words = c.parts(text, c.chars[:0], c.words[:0])
	c.symbols = c.vocabulary.of(c.words, c.symbols)
	c.charNgrams.reset(c.chars, c.longest.chars)
	c.wordNgrams.reset(c.symbols, c.longest.words)
	for _, s := range c.all {
		s.most = -1
	}
	for _, reference := range references {
		c.charsAgainst, c.words = c.parts(reference, c.charsAgainst[:0], c.words[:0])
		c.against = c.vocabulary.find(c.words, c.against[:0])
		c.list = appendCounts(c.list[:0], &c.charNgrams, len(c.chars), c.charsAgainst)
		c.list = appendCounts(c.list, &c.wordNgrams, len(c.symbols), c.against)
		for _, s := range c.all {
			s.list = append(append(s.list[:0], c.list[:s.orders.chars]...), c.list[c.longest.chars:][:s.orders.words]...)
			if f := s.f(s.list); f > s.most {
				s.most = f
				s.best, s.list = s.list, s.best
			}
		}
	}
}

// appendCounts appends the counts of each length. Where a reference is too short for n-grams, those of the text count for nothing.
func appendCounts(list []counts, of *ngrams, length int, reference []uint32) []counts {
	matched := of.match(reference)
	for n := range of.order {
		at := counts{reference: max(0, len(reference)-n), common: matched[n]}
		if at.reference > 0 {
			at.text = max(0, length-n)
		}
		list = append(list, at)
	}
	return list
}

// f is the F-measure of the mean precision and recall over the lengths of which both have n-grams.
func (s *chrFBest) f(list []counts) float64 {
	precision, recall, n := 0.0, 0.0, 0.0
	for _, at := range list {
		if at.text > 0 && at.reference > 0 {
			precision += float64(at.common) / float64(at.text)
			recall += float64(at.common) / float64(at.reference)
			n++
		}
	}
	if precision+recall == 0 {
		return 0
	}
	precision, recall = precision/n, recall/n
	factor := s.orders.beta * s.orders.beta
	return 100 * ((1 + factor) * precision * recall / (float64(factor*precision) + recall)) // no fused operation, which rounds otherwise
}

// parts appends the characters of a text without white space, and its words, from which punctuation at one end is separated.
func (c *chrF) parts(text string, chars []uint32, words []string) (charsOf []uint32, wordsOf []string) {
	if c.lowercase {
		text = lower(text)
	}
	for _, r := range text {
		if !isSpace(r) {
			chars = append(chars, uint32(r))
		}
	}
	if c.longest.words == 0 {
		return chars, words
	}
	for _, word := range appendWords(nil, text) {
		end := len(word) - 1
		switch {
		case utf8.RuneCountInString(word) == 1:
			words = append(words, word)
		case isPunctuation(word[end]):
			words = append(words, word[:end], word[end:])
		case isPunctuation(word[0]):
			words = append(words, word[:1], word[1:])
		default:
			words = append(words, word)
		}
	}
	return chars, words
}
