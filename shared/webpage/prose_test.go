package webpage

import (
	"bytes"
	"testing"
)

// What the page shows is text, whatever stands in it, and what stands between backticks is code.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"plain <b> & \"x\"":   `plain &lt;b&gt; &amp; &#34;x&#34;`,
		"a `<i>` b `c` d":     `a <code>&lt;i&gt;</code> b <code>c</code> d`,
		"`one` open `of two":  `<code>one</code> open ` + "`of two",
		"nothing `` in there": "nothing `` in there",
	} {
		var out bytes.Buffer
		if err := Prose(text).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q is shown as %q, want %q", text, out.String(), want)
		}
	}
}
