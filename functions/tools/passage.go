package tools

import (
	"strings"

	"assay/shared/collection"
)

// snippet is the passage of a document that answers show of it, with the words of the query marked.
func snippet(d collection.Document, query string) collection.Snippet {
	s := collection.Cut(d.Text, query, maxPassage)
	s.After = s.After || d.Clipped
	return s
}

// passage is the snippet as one text, in which a piece stands as shown returns it.
func passage(s collection.Snippet, shown func(collection.Piece) string) string {
	var b strings.Builder
	if s.Before {
		b.WriteString("… ")
	}
	for _, p := range s.Pieces {
		b.WriteString(shown(p))
	}
	if s.After {
		b.WriteString(" …")
	}
	return b.String()
}

// clipTitle is as much of a title as is shown.
func clipTitle(title string) string {
	runes := []rune(title)
	if len(runes) <= maxTitle {
		return title
	}
	return string(runes[:maxTitle]) + "…"
}
