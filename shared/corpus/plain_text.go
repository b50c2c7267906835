package corpus

import (
	"strings"
	"unicode"
)

// plain puts a text on one line: white space becomes single spaces, and control characters and what is not UTF-8 become
// the replacement character. It keeps at most so many characters, if possible up to the end of a word, and says whether
// that cut something off.
func plain(text string, most int) (string, bool) {
	var out strings.Builder
	count, words := 0, 0 // characters, and bytes up to the end of the last whole word
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) {
			space = count > 0
			continue
		}
		if space {
			words = out.Len()
			count++
		}
		if count++; count > most {
			kept := out.String()
			// A script without spaces, or a very long word, is cut where it stands.
			if words > len(kept)/2 {
				kept = kept[:words]
			}
			return kept, true
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		if unicode.IsControl(r) {
			r = unicode.ReplacementChar
		}
		out.WriteRune(r)
	}
	return out.String(), false
}
