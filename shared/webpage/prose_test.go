package webpage_test

import (
	"bytes"
	"testing"

	"assay/shared/webpage"
)

// What a page shows is text, whatever stands in it, with the marks of Markdown.
func TestProse_IsMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain <b> & \"x\"":   `plain &lt;b&gt; &amp; &quot;x&quot;`,
		"a `<i>` b *c* d":     `a <code>&lt;i&gt;</code> b <em>c</em> d`,
		"`one` open `of two":  "<code>one</code> open `of two",
		"filter[x]=<id> a_b_": "filter[x]=&lt;id&gt; a_b_",
	} {
		var line, prose bytes.Buffer
		if err := webpage.Line(text).Render(t.Context(), &line); err != nil {
			t.Fatal(err)
		}
		if err := webpage.Prose(text).Render(t.Context(), &prose); err != nil {
			t.Fatal(err)
		}
		if line.String() != want || prose.String() != `<div class="prose"><p>`+want+"</p>\n</div>" {
			t.Errorf("%q is shown as %q in a line and as %q by itself, want %q", text, line.String(), prose.String(), want)
		}
	}
}
