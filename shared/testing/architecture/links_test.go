package architecture

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// TestDocuments_LinkToWhatExists finds relative links to files, and to headings of documents, that do not exist.
func TestDocuments_LinkToWhatExists(t *testing.T) {
	files := documents(t)
	headings := map[string][]string{}
	for _, f := range files {
		headings[f.path] = anchors(f.content)
	}
	checked := 0
	for _, f := range files {
		for _, destination := range links(f.content) {
			if fault := brokenLink(f.path, destination, headings); fault != "" {
				t.Errorf("%s links to %s: %s", f.path, destination, fault)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("the documents have no link")
	}
}

func TestLinks_ChecksCatch(t *testing.T) {
	content := []byte("# One `-flag`, two\n\n## Same\n\n## Same\n\n[a](../LICENSE) `[b](code)`\n\n```sh\n[c](block)\n```\n\n| [d](#same-1) |\n")
	if got, want := anchors(content), []string{"one--flag-two", "same", "same-1"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
	if got, want := links(content), []string{"../LICENSE", "#same-1"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	headings := map[string][]string{"grpc/README.md": {"health"}, "README.md": {"how-fast"}}
	for destination, broken := range map[string]bool{
		"https://lab.example/x": false, "../LICENSE": false, "#health": false, "../README.md#how-fast": false, "..": false,
		"../LICENCE": true, "#wealth": true, "../README.md#how-slow": true, "../../outside": true,
	} {
		if got := brokenLink("grpc/README.md", destination, headings); (got != "") != broken {
			t.Errorf("%s is broken: %q, want %t", destination, got, broken)
		}
	}
}

// brokenLink returns why a link in a document leads nowhere, or "". It does not follow links to other sites.
func brokenLink(document, destination string, headings map[string][]string) string {
	u, err := url.Parse(destination)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" || u.Host != "" {
		return ""
	}
	target := document
	if u.Path != "" {
		target = path.Join(path.Dir(document), u.Path)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil || strings.HasPrefix(target, "../") {
		return "the file does not exist"
	}
	if u.Fragment != "" && !slices.Contains(headings[target], u.Fragment) {
		return "the heading does not exist"
	}
	return ""
}

// links returns the destinations of the links and images of a document, without those in code.
func links(content []byte) []string {
	var out []string
	walkMarkdown(content, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			out = append(out, string(n.Destination))
		case *ast.Image:
			out = append(out, string(n.Destination))
		}
	})
	return out
}

// anchors returns the names under which GitHub links to the headings of a document.
func anchors(content []byte) []string {
	var out []string
	count := map[string]int{}
	walkMarkdown(content, func(n ast.Node) {
		heading, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r):
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, string(bytes.TrimSpace(heading.Lines().Value(content))))
		count[name]++
		if n := count[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n-1)
		}
		out = append(out, name)
	})
	return out
}

func walkMarkdown(content []byte, visit func(ast.Node)) {
	document := goldmark.DefaultParser().Parse(text.NewReader(content))
	// The visitor returns no error, so Walk returns none.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}
