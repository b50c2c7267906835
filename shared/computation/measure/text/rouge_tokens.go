package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure"
)

// rougeTokens says how ROUGE takes texts apart.
type rougeTokens struct{ stem, unicode bool }

func rougeTokensOf(m measure.Measure) rougeTokens {
	return rougeTokens{stem: m.Flag("stem"), unicode: m.Param("tokenize") == "unicode"}
}

// appendWords appends the words of a text.
func (t rougeTokens) appendWords(list []string, text string) []string {
	if t.unicode {
		return appendUnicode(list, lower(text))
	}
	return appendASCII(list, text, t.stem)
}

const kelvin = '\u212a' // its lower case is k

// isASCIIWord reports whether the lower case of a character has a letter a to z or a digit.
func isASCIIWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == kelvin || r == dottedI
}

// isUnicodeWord reports whether a character begins a word of appendUnicode.
func isUnicodeWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// appendASCII appends the words of a text as rouge-score defines them: letters a to z and digits, in lower case.
func appendASCII(list []string, text string, stemmed bool) []string {
	kept := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			kept = append(kept, byte(r))
		case 'A' <= r && r <= 'Z':
			kept = append(kept, byte(r)+'a'-'A')
		case r == kelvin:
			kept = append(kept, 'k')
		case r == dottedI:
			kept = append(kept, "i "...)
		default:
			kept = append(kept, ' ')
		}
	}
	first := len(list)
	list = append(list, strings.Fields(string(kept))...)
	if stemmed {
		for i, word := range list[first:] {
			list[first+i] = stem(word)
		}
	}
	return list
}

// spaceless lists the scripts that do not separate words by spaces.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// appendUnicode appends the words of a text in lower case: letters and numbers of all scripts, with the marks that follow them. Each letter
// or number of a script without spaces is a word.
func appendUnicode(list []string, text string) []string {
	start := -1     // of the current word; -1 outside a word
	single := false // the current word has its only letter
	end := func(at int) {
		if start >= 0 {
			list = append(list, text[start:at])
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf && !isWord(r) || r == '_':
			end(i)
		case unicode.IsMark(r):
		case !isUnicodeWord(r):
			end(i)
		case unicode.In(r, spaceless...):
			end(i)
			start, single = i, true
		case single || start < 0:
			end(i)
			start, single = i, false
		}
	}
	end(len(text))
	return list
}
