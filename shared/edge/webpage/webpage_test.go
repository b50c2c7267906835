package webpage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/edge/webpage"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// serve serves the page at /page.
func serve(t *testing.T, p webpage.Page) servertest.Answer {
	t.Helper()
	op := api.Document(api.Spec{ID: "page", Path: "/page", May: access.Anyone}, []string{webpage.MediaType}, p.Send)
	return servertest.New(t, op).Want(http.StatusOK, nil, "", http.MethodGet, "/page", nil)
}

// The policy contains the digests of the inline style and script. Without a script it allows none.
func TestPolicy_NamesTheDigestsOfThePage(t *testing.T) {
	inline := regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`)
	for _, script := range []string{"", `document.title = "<b>" && 'x'`} {
		a := serve(t, webpage.Page{Title: `<b>"title"`, Script: script, Main: webpage.Prose("text")})
		policy, elements := a.Header.Get("Content-Security-Policy"), 0
		for _, m := range inline.FindAllSubmatch(a.Body, -1) {
			sum := sha256.Sum256(m[2])
			if want := string(m[1]) + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("the policy is %q, without %s", policy, want)
			}
			elements++
		}
		if want := 1 + min(1, len(script)); elements != want || strings.Count(policy, "sha256") != want {
			t.Errorf("%d elements under the policy %q", elements, policy)
		}
		if !strings.Contains(string(a.Body), "<title>&lt;b&gt;&#34;title&#34; · Assay</title>") {
			t.Errorf("the title is not text: %.300s", a.Body)
		}
	}
}

// Each baseline is marked exactly once, even if its team is named "baseline". Two baselines of that team with equal tags show different
// times.
func TestEntry_MarksBaselines(t *testing.T) {
	at := record.At(time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC))
	shown := func(e record.Entry) string {
		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(serve(t, webpage.Page{Main: webpage.Entry(e, 1, 0)}).Body), "")
		_, main, _ := strings.Cut(text, "Skip to the content")
		return main
	}
	one := record.Entry{Team: record.BaselineTeam, RunTag: "bm25", SubmittedAt: at, Baseline: true}
	other := one
	other.SubmittedAt = record.At(at.Add(time.Second))
	if text := shown(one); strings.Count(text, "baseline") != 1 || text == shown(other) {
		t.Error(text)
	}
	of := record.Entry{Team: "Lakes", Title: "BM25", SubmittedAt: at, Baseline: true}
	if text := shown(of); strings.Count(text, "baseline") != 1 || strings.Contains(text, "03:04") {
		t.Error(text)
	}
}

func TestTruncate_EndsAtAWord(t *testing.T) {
	for text, want := range map[string]string{
		"short":              "short",
		"a few words, then":  "a few words…",
		"unbrokenandmore":    "unbrokenandm…",
		"ééééééééééééé":      "éééééé…",
		"ten bytes. and on.": "ten bytes…",
	} {
		if got := webpage.Truncate(text, 12); got != want {
			t.Errorf("%q is clipped to %q, want %q", text, got, want)
		}
	}
	nightlytest.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		most := rapid.IntRange(1, 40).Draw(t, "bytes")
		got := webpage.Truncate(text, most)
		if !utf8.ValidString(got) || len(got) > max(most+len("…"), 0) || len(text) <= most && got != text {
			t.Fatalf("%q is clipped to %q", text, got)
		}
	})
}

func TestDecimals_HideNothing(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0000", .5: "0.5000", -.12345: "-0.1235", 1e-5: "1e-05", 2e-5: "2e-05", 1e-12: "0.0000", 5e-5: "0.0001", 999999.5: "999999.5000",
		4.05e21: "4.05e+21",
	} {
		if got := webpage.Decimals(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestExcerpt_IsTheFirstParagraph(t *testing.T) {
	for description, want := range map[string]string{
		"":                              "",
		"One paragraph.\r\n\r\nAnother": "One paragraph.",
		"  One\nline  ":                 "One\nline",
	} {
		if got := webpage.Excerpt(description); got != want {
			t.Errorf("the gist of %q is %q, want %q", description, got, want)
		}
	}
}

// Texts are escaped, except for the marks of Markdown.
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

// TestEntry_CountsTheRunsOfTheLeaderboard: a team may have other runs, which the leaderboard does not show.
func TestEntry_CountsTheRunsOfTheLeaderboard(t *testing.T) {
	for runs, want := range map[int]string{1: " · the only run here", 3: " · best of 3 runs here"} {
		if body := string(serve(t, webpage.Page{Main: webpage.Entry(record.Entry{}, 1, runs)}).Body); !strings.Contains(body, want) {
			t.Errorf("%d runs: %s", runs, body)
		}
	}
}
