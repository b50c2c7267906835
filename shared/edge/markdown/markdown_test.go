package markdown_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/edge/markdown"

	"golang.org/x/net/html"
)

func TestHTML_OfMarkdown(t *testing.T) {
	const rel = ` rel="nofollow ugc noopener"`
	for source, want := range map[string]string{
		"A *b* **c** `d`":           "<p>A <em>b</em> <strong>c</strong> <code>d</code></p>\n",
		"# One\n## Two\n###### Six": "<h3>One</h3>\n<h4>Two</h4>\n<h6>Six</h6>\n",
		"- a\n- b\n\n3. c":          "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol start=\"3\">\n<li>c</li>\n</ol>\n",
		"[a](https://b.org/ \"t\")": `<p><a href="https://b.org/" title="t"` + rel + ">a</a></p>\n",
		"[a][x]\n\n[x]: /v1/tasks":  `<p><a href="/v1/tasks"` + rel + ">a</a></p>\n",
		"[a](HTTPS://b.org)":        `<p><a href="HTTPS://b.org"` + rel + ">a</a></p>\n",
		"[a](mailto:b@c.org) <b@c.org>": `<p><a href="mailto:b@c.org"` + rel + `>a</a> <a href="mailto:b@c.org"` + rel +
			">b@c.org</a></p>\n",
		"[a](/b \"&quot; c\")":                `<p><a href="/b" title="&quot; c"` + rel + ">a</a></p>\n",
		"<https://b.org>":                     `<p><a href="https://b.org"` + rel + ">https://b.org</a></p>\n",
		"![*an* image](https://b.org/a.png)":  `<p><a href="https://b.org/a.png"` + rel + "><em>an</em> image</a></p>\n",
		"[a](javascript:alert(1))":            "<p>a</p>\n",
		"[a](data:text/html,x)":               "<p>a</p>\n",
		"[a](&#106;avascript:x)":              "<p>a</p>\n",
		"[a](<java\tscript:x>) [b]() [c](#)":  "<p>a b c</p>\n",
		"<javascript:&amp;>":                  "<p>javascript:&amp;amp;</p>\n",
		"![*a*](javascript:x)":                "<p><em>a</em></p>\n",
		"[*a*\nb](data:x \"t\") [c](/d)":      "<p><em>a</em>\nb <a href=\"/d\"" + rel + ">c</a></p>\n",
		"<b>x</b>\n\n<script>\nx\n</script>":  "<p>&lt;b&gt;x&lt;/b&gt;</p>\n<p>&lt;script&gt;\nx\n&lt;/script&gt;</p>\n",
		"a & b < c":                           "<p>a &amp; b &lt; c</p>\n",
		"```go\n<x>\n```":                     "<pre><code>&lt;x&gt;\n</code></pre>\n",
		"[a](https://b.org/\" onclick=\"x\")": "<p>[a](https://b.org/&quot; onclick=&quot;x&quot;)</p>\n",
		strings.Repeat("*", 501) + "<script>": "<pre>" + strings.Repeat("*", 501) + "&lt;script&gt;</pre>",
		"---------- - - - - - - - - - -":      "<hr>\n",
		"a\xff":                               "<p>a\uFFFD</p>\n",
	} {
		if got := markdown.HTML(source); got != want {
			t.Errorf("%q is\n%q, want\n%q", source, got, want)
		}
	}
}

func TestFirst_OfMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"A *b* **c** `d` [e](f) ![g](h)\ni\n\nj":     "A b c d e g\ni",
		"# One\ntwo":                                 "two",
		"# One\r\n\r\nTwo\n===\n\n---\n\n*a* b\n\nc": "a b",
		"# One\n\n- a\n- b\n\nc":                     "a\n\nb",
		"# One\n\n## *Two*":                          "One\n\nTwo",
		"<https://b.org> &amp; \\*c <i>":             "https://b.org & *c <i>",
		"":                                           "",
		strings.Repeat("[", 600):                     strings.Repeat("[", 600),
		"*a* " + strings.Repeat("b", 9_000):          "a " + strings.Repeat("b", 1<<10-4),
	} {
		if got := markdown.First(source); got != want {
			t.Errorf("%q begins with %q, want %q", source, got, want)
		}
	}
}

// worst returns texts that take Markdown parsers quadratic time, or whose HTML is many times as long.
func worst() map[string]string {
	all := map[string]string{
		"table of references": "[a]: " + strings.Repeat("b", 30_000) + "\n\n" + strings.Repeat(strings.Repeat("[a]", 300)+"\n\n", 40),
		"deep lazy":           strings.Repeat(">", 10_000) + "a\n" + strings.Repeat("b\n", 20_000),
		"quoted lists":        strings.Repeat(strings.Repeat("> - ", 20)+"a\n", 700),
		"quotes of lines":     strings.Repeat(strings.Repeat(">", 250)+"a\n", 250),
		"as deep as allowed":  strings.Repeat(strings.Repeat(">", 8)+"\n\n", 6_000),
		"as dense as allowed": strings.Repeat(strings.Repeat("[](", 500)+"\n\n", 40),
		"emphasis as allowed": strings.Repeat(strings.Repeat("**x_", 166)+"\n\n", 90),
		"wide table":          strings.Repeat("|a", 8_000) + "\n" + strings.Repeat("|-", 8_000) + "\n" + strings.Repeat("|\n", 16_000),
		"indented lists":      strings.Repeat("- a\n  - a\n    - a\n      - a\n", 2_000),
		"unclosed backticks":  strings.Repeat("` `` ```` ````` ", 4_000),
	}
	for _, unit := range []string{">", "> ", "- ", "1. ", "> - ", "[", "![", "[a](", "[](", "[a](<b", "[a](b \"", "*a **a ", "**x_",
		"a**b" + "c* ", "*_", "`", "<", "<a ", "<http://a",
		"&", "\\", "\t", "a\n=\n", "[a]: u\n", "[a][b]", "```\n", "-\n+\n", "[](a)", "***\n", "\n", "\x00"} {
		all[unit] = strings.Repeat(unit, 64<<10/len(unit))
	}
	all["links within links"] = strings.Repeat("[", 13_000) + "a" + strings.Repeat("](b)", 13_000)
	return all
}

// TestHTML_IsBounded checks the size and the elements of HTML for texts of 64 KiB. A parser with quadratic time would exceed the time
// limit of tests.
func TestHTML_IsBounded(t *testing.T) {
	for name, source := range worst() {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			got := markdown.HTML(source)
			if len(got) > 1<<20 {
				t.Errorf("%d bytes become %d", len(source), len(got))
			}
			check(t, got)
			if first := markdown.First(source); len(first) > len(source) {
				t.Errorf("the first paragraph of %d bytes has %d", len(source), len(first))
			}
		})
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"[a](javascript:x)", "<a href=javascript:x>", "![a](//b)", "&#106;avascript:", "<javascript:x>",
		"[a]: data:x\n[a]", "> - 1. # `x`",
		"[a](JaVaScRiPt:x)", "[a](<java\tscript:x>)", "[a](&amp;#106;avascript:x)", "[a](&#1;javascript:x)", "[a](\\javascript\\:x)",
		"[a](java%73cript:x)", "![a](vbscript:x 't')",
		"[a](/b \"&quot; onclick=&quot;x\")", "<a@b.org>", "[![a](b)](c)", "```\" onclick=x\nx\n```", "1000000000000. a", "</p></div>",
		"<!-- a -->", "<!doctype html>", "<?php ?>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { check(t, markdown.HTML(source)) })
}

// attributes lists the allowed elements with their allowed attributes.
var attributes = map[string][]string{
	"a": {"href", "title", "rel"}, "ol": {"start"},
	"p": nil, "br": nil, "hr": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "pre": nil, "code": nil, "em": nil,
	"strong": nil, "ul": nil, "li": nil,
}

var (
	// ignored matches characters that browsers remove from an address before they parse its scheme (URL Standard).
	ignored = regexp.MustCompile(`^[\x00-\x20]+|[\t\r\n]`)
	scheme  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
)

// check parses HTML like a browser and fails for elements, attributes and addresses that are not allowed.
func check(t *testing.T, rendered string) {
	t.Helper()
	var open []string
	for z := html.NewTokenizer(strings.NewReader(rendered)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				t.Fatalf("%v, and %q are not closed", z.Err(), open)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			allowed, ok := attributes[token.Data]
			if !ok {
				t.Fatalf("there is <%s>", token.Data)
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
			values := map[string]string{}
			for _, a := range token.Attr {
				if !slices.Contains(allowed, a.Key) {
					t.Fatalf("<%s> has %s", token.Data, a.Key)
				}
				values[a.Key] = a.Val
			}
			if m := scheme.FindStringSubmatch(ignored.ReplaceAllString(values["href"], "")); len(m) == 2 &&
				!slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(m[1])) {
				t.Fatalf("there is a link to %q", values["href"])
			}
			if token.Data == "a" && (values["href"] == "" || values["rel"] != "nofollow ugc noopener") {
				t.Fatalf("a link has %v", token.Attr)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("</%s> closes none of %q", name, open)
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken:
			t.Fatal("there is a comment or doctype")
		}
	}
}
