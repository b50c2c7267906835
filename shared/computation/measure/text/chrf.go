package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"assay/shared/computation/measure/steps"
)

// chrFOrders are the parameters of a measure of chrF.
type chrFOrders struct {
	chars, words int
	beta         float64
}

// chrF counts n-grams for all measures with the same lowercase. This costs little more than counting for the measure with the longest
// n-grams.
type chrF struct {
	lowercase                             bool
	all                                   []*chrFBest
	longest                               chrFOrders
	words                                 []string
	chars, charsAgainst, symbols, against []uint32
	vocabulary                            vocabulary
	charNgrams, wordNgrams                ngrams
}

// chrFBest holds the counts for the best reference of the last example. There are three counts for each length of n-grams of characters,
// and then of words: n-grams of the text, of the reference, and common ones.
type chrFBest struct {
	orders chrFOrders
	most   float64 // the best value so far
	counts []float64
	list   []float64 // memory for the next reference
}

func (b *chrFBest) terms() []float64 { return slices.Clone(b.counts) }

// measure adds a measure, and returns its counts.
func (c *chrF) measure(orders chrFOrders) *chrFBest {
	c.longest.chars = max(c.longest.chars, orders.chars)
	c.longest.words = max(c.longest.words, orders.words)
	c.all = append(c.all, &chrFBest{orders: orders})
	return c.all[len(c.all)-1]
}

// perByte counts a few steps for each n-gram that begins with the byte.
func (c *chrF) perByte() int {
	const perNgram = 4
	return perNgram * (1 + c.longest.chars + c.longest.words)
}

func (c *chrF) compare(counter *steps.Counter, references []string, text string) {
	if counter.Add(c.perByte()*len(text)) != nil {
		return
	}
	c.chars, c.words = c.parts(text, c.chars[:0], c.words[:0])
	c.symbols = c.vocabulary.of(c.words, c.symbols)
	c.charNgrams.reset(c.chars, c.longest.chars)
	c.wordNgrams.reset(c.symbols, c.longest.words)
	for _, b := range c.all {
		b.most = -1
	}
	for _, reference := range references {
		if counter.Add(c.perByte()*len(reference)+len(c.all)) != nil {
			return
		}
		c.charsAgainst, c.words = c.parts(reference, c.charsAgainst[:0], c.words[:0])
		c.against = c.vocabulary.find(c.words, c.against[:0])
		chars := c.charNgrams.match(c.charsAgainst)
		words := c.wordNgrams.match(c.against)
		for _, b := range c.all {
			b.list = appendCounts(b.list[:0], chars[:b.orders.chars], len(c.chars), len(c.charsAgainst))
			b.list = appendCounts(b.list, words[:b.orders.words], len(c.symbols), len(c.against))
			if f := b.orders.of(b.list); f > b.most {
				b.most = f
				b.counts, b.list = b.list, b.counts
			}
		}
	}
}

// appendCounts appends the counts of each length. If the reference is too short for a length, the counts are 0.
func appendCounts(list []float64, common []int, text, reference int) []float64 {
	for n, both := range common {
		if n < reference {
			list = append(list, float64(max(0, text-n)), float64(reference-n), float64(both))
		} else {
			list = append(list, 0, 0, 0)
		}
	}
	return list
}

// of returns the F-measure of the mean precision and the mean recall. The means are over the lengths for which text and reference both have
// n-grams.
func (o chrFOrders) of(counts []float64) float64 {
	precision := 0.0
	recall := 0.0
	n := 0.0
	for at := range slices.Chunk(counts, 3) {
		text := at[0]
		reference := at[1]
		common := at[2]
		if text > 0 && reference > 0 {
			precision += common / text
			recall += common / reference
			n++
		}
	}
	if precision+recall == 0 {
		return 0
	}
	precision, recall = precision/n, recall/n
	factor := o.beta * o.beta
	// The conversion to float64 prevents a fused operation, which rounds differently.
	return 100 * ((1 + factor) * precision * recall / (float64(factor*precision) + recall))
}

// parts appends the characters of a text without white space, and its words. It separates one punctuation mark at the end or start of a
// word.
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
	for _, word := range strings.FieldsFunc(text, isSpace) {
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
