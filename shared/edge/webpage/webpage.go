// Package webpage has the common parts of Assay's HTML pages: frame, style and Content-Security-Policy. A page is a single response and
// loads nothing else. So it works offline, and no third party learns who reads it. Style and script are inline, and the policy contains
// their digests. So browsers run no script or style from users, even if a template fails to escape it.
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

	"assay/shared/edge/api"
	"assay/shared/edge/markdown"
	"assay/shared/language/clock"

	"github.com/a-h/templ"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// MediaType is the media type of pages.
const MediaType = "text/html"

const contentType = MediaType + "; charset=utf-8"

//go:embed style.css
var style string

// Page is the content of a page within the frame.
type Page struct {
	Title   string // of the browser's tab, such as "Leaderboard of Lakes"; the product's name follows it
	Here    string // path of the page, if the frame's navigation links to it
	Console string // address of the page's subject in the console, after its #; empty: the console's start
	Script  string // enhances the page, which must be useful without it
	Form    bool   // whether the page has a form, which is sent to this server
	Connect string // CSP sources that the script may request when somebody uses the page; empty: none
	Style   string // CSS rules in addition to those of every page
	Base    string // URL of the server, for pages that people save: links of a saved copy then lead to the server
	Main    templ.Component
}

// Rendered is a rendered page.
type Rendered struct {
	HTML   []byte
	Policy string // Content-Security-Policy that allows only the page's own content
}

// Render renders the page. If caches may share the answer of the operation, the page must not depend on the caller.
func (p Page) Render(ctx context.Context) (Rendered, error) {
	var out bytes.Buffer
	if err := frame(p).Render(ctx, &out); err != nil {
		return Rendered{}, err
	}
	html := out.Bytes()
	if p.Base != "" {
		// Texts escape quotation marks, so only links match.
		html = bytes.ReplaceAll(html, []byte(`href="/`), []byte(`href="`+templ.EscapeString(p.Base)+"/"))
	}
	return Rendered{html, p.policy()}, nil
}

// Write answers with the page, or 304 if the caller already has it.
func (r Rendered) Write(c *api.Call) error {
	c.SetContentPolicy(r.Policy)
	return c.WriteDocument(contentType, r.HTML)
}

// Static returns a handler that answers all callers with the same page. The first request renders it.
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

// style returns the CSS of the page.
func (p Page) style() string { return style + p.Style }

// policy allows the style, the script if there is one, the icon, which is a data URL, and the form.
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

// digest returns the source expression of CSP level 2 for an inline element with the content.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// icon is a small bar chart. Without an icon, browsers would request one from the server.
const icon = `<link rel="icon" href="data:image/svg+xml,` +
	`%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230b6e5f' d='M1 9h4v6H1zM6 1h4v14H6zM11 5h4v10h-4z'/%3E%3C/svg%3E">`

// Icon returns the link element for the icon.
func Icon() templ.Component { return templ.Raw(icon) }

// element returns an element with unescaped content. The content must come from the program, never from users.
func element(name, content string) templ.Component {
	return templ.Raw("<" + name + ">" + content + "</" + name + ">")
}

// Instant formats a time for people.
func Instant(at time.Time) string { return clock.Instant(at) }

// Truncate shortens a text to about maxBytes, at the end of a word if possible.
func Truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	text = strings.ToValidUTF8(text[:maxBytes], "")
	if i := strings.LastIndexAny(text, " \n"); i > maxBytes/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " \n,.;:") + "…"
}

// Line renders a paragraph of Markdown within a line.
func Line(source string) templ.Component { return templ.Raw(markdown.Line(source)) }

// Excerpt returns the first paragraph of Markdown as plain text, shortened if it is long.
func Excerpt(source string) string { return Truncate(markdown.First(source), 280) }

// Decimals formats a result with four decimal places, like published results. It uses an exponent for values that are so large or small
// that four places would hide them. Values below 1e-9 are rounding errors and become 0.0000.
func Decimals(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e6:
		return strconv.FormatFloat(v, 'g', 5, 64)
	case size >= 1e-9 && size < 5e-5:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Value formats a result that may be undefined.
func Value(v *float64) string {
	if v == nil {
		return "–"
	}
	return Decimals(*v)
}

// AriaSort returns the value of aria-sort for a column that has the best result first.
func AriaSort(lowerIsBetter bool) string {
	if lowerIsBetter {
		return "ascending"
	}
	return "descending"
}

// AriaCurrent marks a link to the current page.
func AriaCurrent(here bool) templ.Attributes {
	if here {
		return templ.Attributes{"aria-current": "page"}
	}
	return nil
}
