package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary numbers the words of one text from 1. The numbers are called symbols. Other words have the symbol 0.
type vocabulary map[string]uint32

// of clears the vocabulary and returns the symbols of a text's words.
func (v *vocabulary) of(words []string, symbols []uint32) []uint32 {
	const small = 1024
	if *v == nil || len(*v) > small {
		*v = vocabulary{} // clearing a map takes time for its greatest size so far
	}
	clear(*v)
	return v.add(words, symbols[:0])
}

// add appends the symbols of more words of the text.
func (v *vocabulary) add(words []string, symbols []uint32) []uint32 {
	for _, word := range words {
		symbol, ok := (*v)[word]
		if !ok {
			symbol = uint32(len(*v) + 1)
			(*v)[word] = symbol
		}
		symbols = append(symbols, symbol)
	}
	return symbols
}

// find appends the symbols of the words of a reference.
func (v *vocabulary) find(words []string, symbols []uint32) []uint32 {
	for _, word := range words {
		symbols = append(symbols, (*v)[word])
	}
	return symbols
}

// isSpace is like Python's str.isspace.
func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r' || '\x1c' <= r && r <= '\x1f'
	}
	return unicode.IsSpace(r)
}

// isWord is like \w in Python's re. Marks are not part of words.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isPunctuation reports whether c is in Python's string.punctuation, the punctuation of ASCII.
func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

const (
	dottedI    = 'İ'
	sigma      = 'Σ'
	finalSigma = 'ς'
)

// lower is like Python's str.lower. Unlike strings.ToLower, it turns İ into two characters, and Σ into ς at the end of a word.
func lower(text string) string {
	if !strings.ContainsRune(text, dottedI) && !strings.ContainsRune(text, sigma) {
		return strings.ToLower(text)
	}
	lowered := make([]byte, 0, len(text)+len(text)/2)
	for i, r := range text {
		switch {
		case r == dottedI:
			lowered = append(lowered, "i\u0307"...)
		case r == sigma && endsWord(text[:i], text[i+utf8.RuneLen(r):]):
			lowered = utf8.AppendRune(lowered, finalSigma)
		default:
			lowered = utf8.AppendRune(lowered, unicode.ToLower(r))
		}
	}
	return string(lowered)
}

// endsWord reports whether a Σ between the texts ends a word: the condition Final_Sigma of the Unicode Standard.
func endsWord(before, after string) bool {
	letter := func(text string, next func(string) (rune, int), rest func(text string, n int) string) bool {
		for text != "" {
			r, n := next(text)
			if !isCaseIgnorable(r) {
				return isCased(r)
			}
			text = rest(text, n)
		}
		return false
	}
	return letter(before, utf8.DecodeLastRuneInString, func(text string, n int) string { return text[:len(text)-n] }) &&
		!letter(after, utf8.DecodeRuneInString, func(text string, n int) string { return text[n:] })
}

func isCased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable reports the property Case_Ignorable. Part of it follows from Word_Break, which Go lacks, so these characters are listed.
func isCaseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:·\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r)
}
