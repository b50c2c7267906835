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
	lowercase       bool
	measures        []*chrFBest
	longest         chrFOrders
	text, reference chrFText
	words           []string // memory for the words of a text
	vocabulary      vocabulary
	charNgrams      ngrams // of the text
	wordNgrams      ngrams // of the text
}

// chrFText holds the characters of a text without white space, and the symbols of its words.
type chrFText struct{ chars, symbols []uint32 }

// chrFBest holds the counts for the best reference of the last example. There are three counts for each length of n-grams of characters,
// and then of words: n-grams of the text, of the reference, and common ones.
type chrFBest struct {
	orders chrFOrders
	value  float64 // the value for the best reference
	counts []float64
	next   []float64 // memory for the counts of the next reference
}

func (b *chrFBest) terms() []float64 { return slices.Clone(b.counts) }

// measure adds a measure, and returns its counts.
func (c *chrF) measure(orders chrFOrders) *chrFBest {
	c.longest.chars = max(c.longest.chars, orders.chars)
	c.longest.words = max(c.longest.words, orders.words)
	added := &chrFBest{orders: orders}
	c.measures = append(c.measures, added)
	return added
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
	c.setText(text)
	for _, b := range c.measures {
		b.value = -1
	}
	for _, reference := range references {
		if counter.Add(c.perByte()*len(reference)+len(c.measures)) != nil {
			return
		}
		c.setReference(reference)
		commonChars := c.charNgrams.match(c.reference.chars)
		commonWords := c.wordNgrams.match(c.reference.symbols)
		for _, b := range c.measures {
			b.next = appendCounts(b.next[:0], commonChars[:b.orders.chars], len(c.text.chars), len(c.reference.chars))
			b.next = appendCounts(b.next, commonWords[:b.orders.words], len(c.text.symbols), len(c.reference.symbols))
			b.keepBetter()
		}
	}
}

// setText prepares comparisons with a text.
func (c *chrF) setText(text string) {
	c.split(text, &c.text)
	c.text.symbols = c.vocabulary.of(c.words, c.text.symbols)
	c.charNgrams.reset(c.text.chars, c.longest.chars)
	c.wordNgrams.reset(c.text.symbols, c.longest.words)
}

// setReference sets the reference that the text is compared with.
func (c *chrF) setReference(reference string) {
	c.split(reference, &c.reference)
	c.reference.symbols = c.vocabulary.find(c.words, c.reference.symbols[:0])
}

// keepBetter keeps the counts of the next reference if its value is the best so far.
func (b *chrFBest) keepBetter() {
	value := b.orders.of(b.next)
	if value > b.value {
		b.value = value
		b.counts, b.next = b.next, b.counts
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

// split sets the characters of the text in parts, and its words in c.words. It separates one punctuation mark at the end or start of a
// word.
func (c *chrF) split(text string, parts *chrFText) {
	if c.lowercase {
		text = lower(text)
	}
	parts.chars = parts.chars[:0]
	for _, r := range text {
		if !isSpace(r) {
			parts.chars = append(parts.chars, uint32(r))
		}
	}
	c.words = c.words[:0]
	if c.longest.words == 0 {
		return
	}
	for _, word := range strings.FieldsFunc(text, isSpace) {
		end := len(word) - 1
		switch {
		case utf8.RuneCountInString(word) == 1:
			c.words = append(c.words, word)
		case isPunctuation(word[end]):
			c.words = append(c.words, word[:end], word[end:])
		case isPunctuation(word[0]):
			c.words = append(c.words, word[:1], word[1:])
		default:
			c.words = append(c.words, word)
		}
	}
}
