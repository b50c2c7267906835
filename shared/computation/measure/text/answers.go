package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure/steps"
)

// answers compares like SQuAD.
type answers struct {
	exact, f1        float64 // for the last example
	words, other     []string
	symbols, against []uint32
	vocabulary       vocabulary
	ngrams           ngrams
}

func (*answers) perByte() int { return 4 }

func (a *answers) compare(counter *steps.Counter, references []string, text string) {
	if counter.Add(a.perByte()*len(text)) != nil {
		return
	}
	a.words = answerWords(a.words[:0], text)
	a.symbols = a.vocabulary.of(a.words, a.symbols)
	a.ngrams.reset(a.symbols, 1)
	a.exact, a.f1 = 0, 0
	some := false // a reference has words left
	for _, reference := range references {
		if counter.Add(a.perByte()*len(reference)) != nil {
			return
		}
		a.other = answerWords(a.other[:0], reference)
		if len(a.other) == 0 {
			continue
		}
		some = true
		if slices.Equal(a.words, a.other) {
			a.exact, a.f1 = 1, 1
			return
		}
		a.against = a.vocabulary.find(a.other, a.against[:0])
		a.f1 = max(a.f1, f1(a.ngrams.match(a.against)[0], len(a.words), len(a.other)).fmeasure)
	}
	if !some && len(a.words) == 0 {
		a.exact, a.f1 = 1, 1
	}
}

// answerWords appends the words of an answer that SQuAD compares.
func answerWords(list []string, text string) []string {
	kept := make([]byte, 0, len(text)+1)
	for i := range len(text) {
		switch c := plain[text[i]]; c {
		case otherwise:
			return anyWords(list, lower(text))
		case removed:
		default:
			kept = append(kept, c)
		}
	}
	for word := range strings.SplitSeq(string(kept), " ") {
		if word != "" && !isArticle(word) {
			list = append(list, word)
		}
	}
	return list
}

func isArticle(word string) bool { return word == "a" || word == "an" || word == "the" }

// Entries of plain that are not characters.
const (
	otherwise = 0 // the result depends on other characters: use anyWords
	removed   = 1
)

// plain maps the bytes of most texts to the characters that are compared: letters in lower case, and ' ' for white space.
var plain = func() (to [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch r := rune(c); {
		case isPunctuation(c):
			to[c] = removed
		case isSpace(r):
			to[c] = ' '
		case isWord(r):
			to[c] = byte(unicode.ToLower(r))
		}
	}
	return to
}()

// anyWords appends the words of any text in lower case. Unlike the fast path of answerWords, it also removes articles between characters
// that belong neither to words nor to white space.
func anyWords(list []string, text string) []string {
	kept := make([]byte, 0, len(text)+1)
	word := 0 // start of the current word in kept
	end := func() {
		if isArticle(string(kept[word:])) {
			kept = append(kept[:word], ' ')
		}
	}
	for _, r := range text {
		if r < utf8.RuneSelf && isPunctuation(byte(r)) {
			continue
		}
		if isWord(r) {
			kept = utf8.AppendRune(kept, r)
			continue
		}
		end()
		kept = utf8.AppendRune(kept, r)
		word = len(kept)
	}
	end()
	return append(list, strings.FieldsFunc(string(kept), isSpace)...)
}
