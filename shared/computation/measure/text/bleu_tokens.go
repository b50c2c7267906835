package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		text = western(" " + text + " ")
	case "zh":
		text = western(isolate(strings.TrimLeftFunc(text, isSpace), isChinese))
	}
	return append(list, strings.FieldsFunc(text, isSpace)...)
}

// western separates the punctuation of texts in Latin script.
func western(text string) string {
	text = isolate(text, isSign)
	text = separate(text, not(isDigit), isStop, false)
	text = separate(text, isStop, not(isDigit), true)
	return separate(text, isDigit, func(r rune) bool { return r == '-' }, false)
}

// chinese lists the characters that zh separates. sacrebleu gives two of its ranges in a notation for characters of four digits: so zh
// separates U+2001 to U+2A6D, such as “, and no character of Extension B.
var chinese = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x2001, Hi: 0x2a6d, Stride: 1},
	{Lo: 0x2e80, Hi: 0x2fdf, Stride: 1},
	{Lo: 0x2ff0, Hi: 0x303f, Stride: 1},
	{Lo: 0x3100, Hi: 0x312f, Stride: 1},
	{Lo: 0x31a0, Hi: 0x31ef, Stride: 1},
	{Lo: 0x3200, Hi: 0x4db5, Stride: 1},
	{Lo: 0x4e00, Hi: 0x9fbb, Stride: 1},
	{Lo: 0xf900, Hi: 0xfa2d, Stride: 1},
	{Lo: 0xfa30, Hi: 0xfa6a, Stride: 1},
	{Lo: 0xfa70, Hi: 0xfad9, Stride: 1},
	{Lo: 0xfe10, Hi: 0xfe1f, Stride: 1},
	{Lo: 0xfe30, Hi: 0xfe4f, Stride: 1},
	{Lo: 0xff00, Hi: 0xffef, Stride: 1},
}}

func isChinese(r rune) bool { return unicode.Is(chinese, r) }

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
