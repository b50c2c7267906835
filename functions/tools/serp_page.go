package tools

import (
	"cmp"
	"fmt"

	"assay/shared/corpus"
	"assay/shared/plural"

	"github.com/a-h/templ"
)

func (out SerpOutput) page() (string, templ.Component) { return "Search results", serpPage(out) }

// resultCount says how much of the ranking the page has.
func (out *SerpOutput) resultCount() string {
	return fmt.Sprintf("%d of %s", len(out.Results), plural.Count(out.Retrieved, "document"))
}

// heading is what a result is called: its title where there is one.
func (r *SerpResult) heading() string { return cmp.Or(r.Title, r.Document) }

// passage shows the pieces with nothing between them: where a template breaks its lines a browser would show spaces.
func (r *SerpResult) passage() templ.Component {
	return templ.Raw(passage(r.Snippet, func(p corpus.Piece) string {
		text := templ.EscapeString(p.Text)
		if p.Marked {
			text = "<mark>" + text + "</mark>"
		}
		return text
	}))
}
