package corpus

import (
	"unicode"
	"unicode/utf8"
)

// Snippet is a passage of a text, marked; Before and After say on which sides the text goes on.
type Snippet struct {
	Pieces []Piece `json:"passage,omitempty" doc:"the passage with most words of the query; the pieces joined are its text"`
	Before bool    `json:"before,omitempty" doc:"whether the document has text before the passage"`
	After  bool    `json:"after,omitempty" doc:"whether it has text after it"`
}

// Cut cuts the passage of at most so many characters out of a text that has the most different words of the query, and
// of those the one with most of them, and marks those words. It begins and ends with whole words, unless one
// alone is longer. A text that is short enough stays whole.
func Cut(text, query string, most int) Snippet {
	marked := matches(text, query)
	most = max(most, 0)
	if utf8.RuneCountInString(text) <= most {
		return Snippet{Pieces: pieces(text, marked, 0, len(text))}
	}
	first, last := densest(text, marked, most)
	start, end := around(text, first, last, most)
	return Snippet{Pieces: pieces(text, marked, start, end), Before: start > 0, After: end < len(text)}
}

// densest is where the best passage from one marked word to another starts and ends; at the start of the text when no
// marked word is short enough.
func densest(text string, marked []word, most int) (start, end int) {
	count := map[string]int{} // of the words of the passage
	var distinct, total int
	from, length := 0, 0 // the passage's first word, and its characters
	for i, w := range marked {
		if i == from {
			length = 0
		} else {
			length += utf8.RuneCountInString(text[marked[i-1].end:w.start])
		}
		length += utf8.RuneCountInString(text[w.start:w.end])
		count[w.key]++
		for length > most {
			left := marked[from]
			if count[left.key]--; count[left.key] == 0 {
				delete(count, left.key)
			}
			next := w.end
			if from++; from <= i {
				next = marked[from].start
			}
			length -= utf8.RuneCountInString(text[left.start:next])
		}
		if size := i - from + 1; len(count) > distinct || len(count) == distinct && size > total {
			distinct, total = len(count), size
			start, end = marked[from].start, w.end
		}
	}
	return start, end
}

// around widens a passage on both sides equally to so many characters, and takes back what of that is part of a word.
func around(text string, first, last, most int) (start, end int) {
	spare := most - utf8.RuneCountInString(text[first:last])
	start, end = first, last
	for n := spare / 2; n > 0 && start > 0; n-- {
		start = wordStart(text, start)
		spare--
	}
	for ; spare > 0 && end < len(text); spare-- {
		end = wordEnd(text, end)
	}
	for ; spare > 0 && start > 0; spare-- {
		start = wordStart(text, start)
	}
	for start < first && !betweenWords(text, start) {
		start = wordEnd(text, start)
	}
	whole := end
	for whole > last && !betweenWords(text, whole) {
		whole = wordStart(text, whole)
	}
	if whole > start {
		end = whole
	}
	return start, end
}

// betweenWords says whether a place in a text is not inside a word.
func betweenWords(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !inWord(before) || !inWord(after) || unicode.Is(unicode.Han, before) && !unicode.IsMark(after) || unicode.Is(unicode.Han, after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func wordStart(text string, at int) int {
	_, size := utf8.DecodeLastRuneInString(text[:at])
	return at - size
}

func wordEnd(text string, at int) int {
	_, size := utf8.DecodeRuneInString(text[at:])
	return at + size
}
