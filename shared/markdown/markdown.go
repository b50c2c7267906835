// Package markdown renders the Markdown that users write, such as descriptions, as HTML that is safe to stand in a page of
// this server: CommonMark without raw HTML, which is shown as the text that it is. No image is loaded, because that would
// tell another server who reads the page; it becomes a link. Links tell search engines that nobody here vouches for them.
//
// The time and the size of the result are bounded whatever the text: the parser needs the square of how deep and how dense
// marks stand, so that a text which is deeper or denser than people write is shown as plain text.
package markdown

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxText  = 64 << 10 // bytes of a text that is parsed: as long as a description may be
	maxHTML  = 512 << 10
	maxFirst = 1 << 10 // bytes of the beginning of a text
	maxDepth = 8       // quotes and lists within each other
	maxMarks = 500     // marks of emphasis and links in lines that no empty line divides
)

var (
	converter = goldmark.New(goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithASTTransformers(util.Prioritized(transformer{}, 0)),
	)))
	policy = newPolicy()
	// refused is a link that the policy has taken the address from.
	refused = regexp.MustCompile(`(?s)<a (?:title="[^"]*" )?rel="[^"]*">(.*?)</a>`)
)

// without removes a parser from a list.
func without(all []util.PrioritizedValue, unwanted any) []util.PrioritizedValue {
	return slices.DeleteFunc(all, func(p util.PrioritizedValue) bool { return p.Value == unwanted })
}

// newPolicy allows what the converter makes of CommonMark, and nothing else.
func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "ul", "ol", "li")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href", "title").OnElements("a")
	p.AllowAttrs("rel").Matching(bluemonday.SpaceSeparatedTokens).OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	return p
}

// HTML renders a text. Headings begin at the third level, below those of the page.
func HTML(source string) string {
	source = strings.ToValidUTF8(source[:min(len(source), maxText)], "\uFFFD")
	out := bounded{left: maxHTML}
	if tooComplex(source) || converter.Convert([]byte(source), &out) != nil {
		return "<pre>" + html.EscapeString(source) + "</pre>"
	}
	return string(refused.ReplaceAll(policy.SanitizeBytes(out.Bytes()), []byte("$1")))
}

// Line renders a text of one paragraph to stand within a line: without the element of the paragraph.
func Line(source string) string {
	rendered := strings.TrimSpace(HTML(source))
	if strings.Count(rendered, "<p>") > 1 {
		return rendered
	}
	return strings.TrimSuffix(strings.TrimPrefix(rendered, "<p>"), "</p>")
}

// First returns the first paragraph of a text without its marks, or its beginning; headings only when there is nothing else. Lists
// have it of many texts.
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

// plainText returns a text without its marks, and with its headings or without.
func plainText(source string, headings bool) string {
	if tooComplex(source) {
		return source
	}
	content := []byte(source)
	var plain strings.Builder
	_ = ast.Walk(converter.Parser().Parse(text.NewReader(content)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
		case *ast.String:
			if entering {
				plain.Write(n.Value)
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

// tooComplex reports whether the marks of a text stand deeper or denser than people write.
func tooComplex(source string) bool {
	if strings.Contains(source, "]:") && strings.Count(source, "[") > maxMarks {
		return true // each link could repeat a long definition
	}
	marks := 0
	for line := range strings.Lines(source) {
		if line = strings.TrimSpace(line); line == "" {
			marks = 0
			continue
		}
		if marks += strings.Count(line, "[") + strings.Count(line, "*") + strings.Count(line, "_"); marks > maxMarks {
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
			if depth++; depth > maxDepth {
				return true
			}
		}
	}
	return false
}

// bounded keeps what is written, up to a limit.
type bounded struct {
	bytes.Buffer
	left int
}

var errTooLarge = errors.New("the rendered text is too large")

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// transformer turns images into links, marks links as those of users, and lowers headings.
type transformer struct{}

// Transform implements parser.ASTTransformer.
func (transformer) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var images []*ast.Image
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			images = append(images, n)
		case *ast.Link, *ast.AutoLink:
			n.SetAttributeString("rel", rel)
		case *ast.Heading:
			n.Level = min(n.Level+2, 6)
		}
		return ast.WalkContinue, nil
	})
	for _, image := range images {
		link := ast.NewLink()
		link.Destination, link.Title = image.Destination, image.Title
		link.SetAttributeString("rel", rel)
		for child := image.FirstChild(); child != nil; child = image.FirstChild() {
			link.AppendChild(link, child)
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}

// rel says of a link that a user wrote it.
var rel = []byte("nofollow ugc noopener")
