package tools

import (
	"strings"

	"assay/shared/corpus"
)

// snippet is the passage of a document that answers show of it, with the words of the query marked.
func snippet(d corpus.Document, query string) corpus.Snippet {
	s := corpus.Cut(d.Text, query, maxPassage)
	s.After = s.After || d.Clipped
	return s
}

// passage is the snippet as one text, in which a piece stands as shown returns it.
func passage(s corpus.Snippet, shown func(corpus.Piece) string) string {
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
