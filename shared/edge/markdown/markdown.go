// Package markdown renders Markdown from users, such as descriptions, as safe HTML for a page of this server. It supports CommonMark
// with restrictions. Raw HTML appears as text. Links may lead only to web pages and mail addresses, and ask search engines not to follow
// them. Images become links, because loading an image would tell another server who reads the page.
//
// Time and size of the result are bounded for every text. The parser takes quadratic time for deeply nested or densely marked texts, so
// texts deeper or denser than people write appear as plain text.
package markdown

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxText  = 64 << 10 // bytes of a text that are parsed; the greatest length of a description
	maxHTML  = 512 << 10
	maxFirst = 1 << 10 // bytes at the start of a text that First reads
	maxDepth = 8       // nested quotes and lists
	maxMarks = 500     // marks of emphasis and links between two empty lines
)

// converter parses and renders. It is created at its first use, so that functions without Markdown start faster.
var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithASTTransformers(util.Prioritized(transformer{}, 0)),
		)),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(links{}, 0))),
	)
})

// without removes a parser from a list.
func without(all []util.PrioritizedValue, unwanted any) []util.PrioritizedValue {
	return slices.DeleteFunc(all, func(p util.PrioritizedValue) bool { return p.Value == unwanted })
}

// HTML renders a text. Headings start at the third level, below those of the page.
func HTML(source string) string {
	source = strings.ToValidUTF8(source[:min(len(source), maxText)], "\uFFFD")
	out := bounded{left: maxHTML}
	if tooComplex(source) || converter().Convert([]byte(source), &out) != nil {
		return "<pre>" + string(util.EscapeHTML([]byte(source))) + "</pre>"
	}
	return out.String()
}

// Line renders a text of one paragraph without the paragraph element, for use within a line.
func Line(source string) string {
	rendered := strings.TrimSpace(HTML(source))
	if strings.Count(rendered, "<p>") > 1 {
		return rendered
	}
	return strings.TrimSuffix(strings.TrimPrefix(rendered, "<p>"), "</p>")
}

// First returns the first paragraph of a text without marks, or the start of the text. It returns headings only if there is nothing
// else. It is fast, because lists call it for many texts.
func First(source string) string {
	source = strings.TrimSpace(strings.ReplaceAll(source, "\r\n", "\n"))
	source = strings.ToValidUTF8(source[:min(len(source), maxFirst)], "")
	for block := range strings.SplitSeq(source, "\n\n") {
		if first := plainText(block, false); first != "" {
			return first
		}
	}
	return plainText(source, true)
}

// plainText returns a text without marks. headings says whether the result includes headings.
func plainText(source string, headings bool) string {
	if tooComplex(source) {
		return source
	}
	content := []byte(source)
	var plain strings.Builder
	_ = ast.Walk(converter().Parser().Parse(text.NewReader(content)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if !headings {
				return ast.WalkSkipChildren, nil
			}
			plain.WriteByte('\n')
		case *ast.Text:
			if entering {
				plain.Write(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(n.Value(content)))))
				if n.SoftLineBreak() || n.HardLineBreak() {
					plain.WriteByte('\n')
				}
			}
		case *ast.AutoLink:
			if entering {
				plain.Write(n.Label(content))
			}
		default:
			if n.Type() == ast.TypeBlock && !entering {
				plain.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(plain.String())
}

// tooComplex reports whether a text is nested more deeply or marked more densely than people write.
func tooComplex(source string) bool {
	if strings.Contains(source, "]:") && strings.Count(source, "[") > maxMarks {
		return true // each link could repeat a long definition
	}
	marks := 0
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line == "" {
			marks = 0
			continue
		}
		marks += strings.Count(line, "[") + strings.Count(line, "*") + strings.Count(line, "_")
		if marks > maxMarks {
			return true
		}
		if strings.Trim(line, "-*_ \t") == "" {
			continue // a thematic break
		}
		depth := 0
		for _, field := range strings.Fields(strings.ReplaceAll(line, ">", " > ")) {
			if field != ">" && strings.Trim(field, "0123456789.)-+*") != "" {
				break
			}
			depth++
			if depth > maxDepth {
				return true
			}
		}
	}
	return false
}

// bounded is a buffer with a greatest length.
type bounded struct {
	bytes.Buffer
	left int
}

var errTooLarge = errors.New("the rendered text is too large")

func (b *bounded) Write(p []byte) (int, error) {
	b.left -= len(p)
	if b.left < 0 {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// transformer lowers headings, and removes the language names of code blocks.
type transformer struct{}

// Transform implements parser.ASTTransformer.
func (transformer) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				n.Level = min(n.Level+2, 6)
			}
		case *ast.FencedCodeBlock:
			n.Info = nil
		}
		return ast.WalkContinue, nil
	})
}

// links renders links, and images as links.
type links struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (links) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	for _, kind := range []ast.NodeKind{ast.KindLink, ast.KindImage, ast.KindAutoLink} {
		r.Register(kind, renderLink)
	}
}

// schemes lists the allowed schemes of links. "" stands for addresses on this server.
var schemes = []string{"", "http", "https", "mailto"}

// renderLink writes a link. If its address is not allowed, it writes only the text. It checks the address in the form that the browser
// gets.
func renderLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	var address, title, label []byte
	switch n := n.(type) {
	case *ast.Link:
		address, title = util.URLEscape(n.Destination, true), n.Title
	case *ast.Image:
		address, title = util.URLEscape(n.Destination, true), n.Title
	case *ast.AutoLink:
		address = util.URLEscape(n.URL(source), false)
		label = util.EscapeHTML(n.Label(source))
		if n.AutoLinkType == ast.AutoLinkEmail {
			address = slices.Concat([]byte("mailto:"), address)
		}
	}
	u, err := url.Parse(string(address))
	allowed := err == nil && u.String() != "" && slices.Contains(schemes, u.Scheme)
	switch {
	case entering && allowed:
		_, _ = w.WriteString(`<a href="`)
		_, _ = w.Write(util.EscapeHTML(address))
		if title != nil {
			_, _ = w.WriteString(`" title="`)
			html.DefaultWriter.Write(w, title)
		}
		_, _ = w.WriteString(`" rel="nofollow ugc noopener">`)
		_, _ = w.Write(label)
	case entering:
		_, _ = w.Write(label)
	case allowed:
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}
