// Package webpage is what Assay's pages for browsers share: their frame, their look, and the Content-Security-Policy that
// holds them to what they bring along. A page is one answer: it loads nothing else, here or elsewhere, so it works
// offline and no third party learns who reads it. Style and script stand in the page, and the policy names their digests,
// so nothing that a user wrote can become either, whatever a template forgot.
package webpage

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"assay/shared/api"
	"assay/shared/markdown"

	"github.com/a-h/templ"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// MediaType is that of pages.
const MediaType = "text/html"

const contentType = MediaType + "; charset=utf-8"

//go:embed style.css
var style string

// Page is what stands within the frame.
type Page struct {
	Title   string // of the browser's tab, such as "Leaderboard of Lakes"; the product's name follows it
	Here    string // path of the page, if the frame's navigation leads to it
	Console string // address in the console, after its #, of what the page is about; empty: where the console begins
	Script  string // what the page does beyond showing itself; it must be of use without
	Form    bool   // whether it has a form, which asks this server
	Connect string // sources of CSP that the script may ask when somebody uses the page; empty: none
	Style   string // rules of CSS that this page needs beyond those of every page
	Base    string // URL of the server, for a page that people keep: its links lead there from wherever the copy is
	Main    templ.Component
}

// Rendered is a page as it is sent.
type Rendered struct {
	HTML   []byte
	Policy string // the Content-Security-Policy that holds the page to what it brings along
}

// Render makes the page. It must not depend on who asks when the operation lets anybody keep the answer.
func (p Page) Render(ctx context.Context) (Rendered, error) {
	var out bytes.Buffer
	if err := frame(p).Render(ctx, &out); err != nil {
		return Rendered{}, err
	}
	html := out.Bytes()
	if p.Base != "" {
		// In a text quotation marks are escaped, so that this stands in links alone.
		html = bytes.ReplaceAll(html, []byte(`href="/`), []byte(`href="`+templ.EscapeString(p.Base)+"/"))
	}
	return Rendered{html, p.policy()}, nil
}

// Write answers with the page, or 304 when the caller has it already.
func (r Rendered) Write(c *api.Call) error {
	c.SetContentPolicy(r.Policy)
	return c.WriteDocument(contentType, r.HTML)
}

// Static returns a handler that answers every caller with the page, which the first request renders.
func (p Page) Static() func(context.Context, *api.Call) error {
	page := api.NewStatic(contentType, func() ([]byte, error) {
		r, err := p.Render(context.Background())
		return r.HTML, err
	})
	return func(ctx context.Context, c *api.Call) error {
		c.SetContentPolicy(p.policy())
		return page.Answer(ctx, c)
	}
}

// Send renders the page and answers with it.
func (p Page) Send(ctx context.Context, c *api.Call) error {
	r, err := p.Render(ctx)
	if err != nil {
		return err
	}
	return r.Write(c)
}

// style is what the page looks by.
func (p Page) style() string { return style + p.Style }

// policy allows the one style, the one script if there is any, the icon, which is a data URL, and the form.
func (p Page) policy() string {
	form := "'none'"
	if p.Form {
		form = "'self'"
	}
	all := "default-src 'none'; base-uri 'none'; form-action " + form + "; frame-ancestors 'none'; img-src data:; style-src " +
		digest(p.style())
	if p.Script != "" {
		all += "; script-src " + digest(p.Script)
	}
	if p.Connect != "" {
		all += "; connect-src " + p.Connect
	}
	return all
}

// digest is a source expression of CSP level 2 for an inline element with the content.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// icon is a small bar chart. Without one, browsers would ask the server for it.
const icon = `<link rel="icon" href="data:image/svg+xml,` +
	`%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230b6e5f' d='M1 9h4v6H1zM6 1h4v14H6zM11 5h4v10h-4z'/%3E%3C/svg%3E">`

// Icon is the link to the icon of every page.
func Icon() templ.Component { return templ.Raw(icon) }

// element is an element whose content is no markup. Only what is built into the program goes here.
func element(name, content string) templ.Component {
	return templ.Raw("<" + name + ">" + content + "</" + name + ">")
}

// Instant says an instant as people read it, to the minute.
func Instant(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04 UTC") }

// Truncate shortens a text to about so many bytes, at the end of a word where there is one.
func Truncate(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	text = strings.ToValidUTF8(text[:bytes], "")
	if i := strings.LastIndexAny(text, " \n"); i > bytes/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " \n,.;:") + "…"
}

// Line shows a paragraph of Markdown within a line.
func Line(source string) templ.Component { return templ.Raw(markdown.Line(source)) }

// Excerpt is the first paragraph of Markdown as plain text, or its beginning.
func Excerpt(source string) string { return Truncate(markdown.First(source), 280) }

// Decimals is a result to four digits behind the point, as results are reported. One so large, or so small, that these
// would hide it is written with an exponent; below 1e-9 is what rounding leaves.
func Decimals(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e6:
		return strconv.FormatFloat(v, 'g', 5, 64)
	case size >= 1e-9 && size < 5e-5:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Value is a result that need not be defined.
func Value(v *float64) string {
	if v == nil {
		return "–"
	}
	return Decimals(*v)
}

// AriaSort says, as aria-sort has it, how a column is sorted that has the best result first.
func AriaSort(lowerIsBetter bool) string {
	if lowerIsBetter {
		return "ascending"
	}
	return "descending"
}

// AriaCurrent marks a link that leads to the page it stands on.
func AriaCurrent(here bool) templ.Attributes {
	if here {
		return templ.Attributes{"aria-current": "page"}
	}
	return nil
}
