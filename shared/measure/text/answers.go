package text

import (
	"slices"
	"strings"
)

// answers compares as SQuAD does.
type answers struct {
	exact, f1        float64 // of the example that was compared last
	words, other     []string
	symbols, against []uint32
	vocabulary       vocabulary
	ngrams           ngrams
}

func (a *answers) compare(references []string, text string) {
	a.words = answerWords(a.words[:0], text)
	a.symbols = a.vocabulary.of(a.words, a.symbols)
	a.ngrams.reset(a.symbols, 1)
	a.exact, a.f1 = 0, 0
	some := false // reference of which something is left
	for _, reference := range references {
		if a.other = answerWords(a.other[:0], reference); len(a.other) == 0 {
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

// answerWords appends the words of an answer that are compared.
func answerWords(list []string, text string) []string {
	kept := make([]byte, 0, len(text))
	for _, c := range []byte(lower(text)) {
		if !isPunctuation(c) {
			kept = append(kept, c)
		}
	}
	text = string(kept)
	kept = kept[:0]
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(text)
		}
		if word := text[:end]; word != "a" && word != "an" && word != "the" {
			kept = append(kept, word...)
		} else {
			kept = append(kept, ' ')
		}
		text = text[end:]
		if end = strings.IndexFunc(text, isWord); end < 0 {
			end = len(text)
		}
		kept = append(kept, text[:end]...)
		text = text[end:]
	}
	return appendWords(list, string(kept))
}
