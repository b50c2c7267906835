package corpus

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// show puts marked pieces in brackets.
func show(pieces []Piece) string {
	var out strings.Builder
	for _, p := range pieces {
		if p.Marked {
			out.WriteString("[" + p.Text + "]")
		} else {
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

func joined(pieces []Piece) string {
	var out strings.Builder
	for _, p := range pieces {
		out.WriteString(p.Text)
	}
	return out.String()
}

func TestCut_MarksWords(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"The moon, the MOON!", "the moon", "The [moon], the [MOON]!"},
		{"moonlight and honeymoon", "moon", "moonlight and honeymoon"},
		{"one city, two cities; a boss", "cities bosses", "one [city], two [cities]; a boss"},
		{"Two dogs' tails", "dog tail", "Two [dogs]' [tails]"},
		{"STRASSE, straße", "Straße", "[STRASSE], [straße]"},
		{"cafe\u0301 CAFÉ cafe", "café", "[cafe\u0301] [CAFÉ] cafe"},
		{"to be is not to do", "to be", "[to] [be] is not [to] do"},
		{"its use was hers", "use this", "its [use] was hers"},
		{"地球和月球", "月球", "地[球]和[月][球]"},
		{"COVID-19 in 2019", "covid 19", "[COVID]-[19] in 2019"},
		{"nothing here", "", "nothing here"},
		{"", "moon", ""},
		{"<b>moon</b>\xff\x00moon", "moon b", "<[b]>[moon]</[b]>\xff\x00[moon]"},
	} {
		if got := show(mark(c.text, c.query)); got != c.want {
			t.Errorf("mark(%q, %q) = %q, want %q", c.text, c.query, got, c.want)
		}
	}
}

func TestCut_ChoosesThePassage(t *testing.T) {
	for _, c := range []struct {
		text, query   string
		most          int
		want          string
		before, after bool
	}{
		{"short enough", "enough", 12, "short [enough]", false, false},
		{"moon aaa bbb ccc moon sun ddd eee", "moon sun", 16, "ccc [moon] [sun] ddd", true, true},
		{"aaa bbb ccc ddd moon", "moon", 12, "ccc ddd [moon]", true, false},
		{"moon aaa bbb ccc ddd", "moon", 12, "[moon] aaa bbb", false, true},
		{"moon aaa bbb ccc moon moon", "moon", 9, "[moon] [moon]", true, false},
		{"no such words at all", "moon", 8, "no such", false, true},
		{"incomprehensibilities", "moon", 5, "incom", false, true},
		{"a incomprehensibilities moon", "incomprehensibilities moon", 7, "[moon]", true, false},
		{"地球和月球很大", "月", 3, "和[月]球", true, true},
		{"moon", "moon", 0, "", false, true},
		{"moon", "moon", -1, "", false, true},
	} {
		got := Cut(c.text, c.query, c.most)
		if strings.TrimSpace(show(got.Pieces)) != c.want || got.Before != c.before || got.After != c.after {
			t.Errorf("Cut(%q, %q, %d) = %q, %v, %v, want %q", c.text, c.query, c.most, show(got.Pieces), got.Before, got.After, c.want)
		}
	}
}

func TestPlain_KeepsWords(t *testing.T) {
	for _, c := range []struct {
		text, want string
		most       int
		clipped    bool
	}{
		{" a\t\n b\u00a0c ", "a b c", 5, false},
		{"one two three", "one two", 7, true},
		{"one two three", "one two", 8, true},
		{"one two three", "one two", 10, true},
		{"一二三四五", "一二三", 3, true},
		{"a bcdefghij", "a bcde", 6, true},
		{"a\x00\x1b\x7f\u0085b\xff", "a\ufffd\ufffd\ufffd b\ufffd", 9, false},
		{"", "", 0, false},
		{"a", "", 0, true},
	} {
		if got, clipped := plain(c.text, c.most); got != c.want || clipped != c.clipped {
			t.Errorf("plain(%q, %d) = %q, %v, want %q, %v", c.text, c.most, got, clipped, c.want, c.clipped)
		}
	}
}

// texts draws texts of few different words, so that queries match them, with unusual characters between.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"moon", "Moons", " ", " sun ", "月", "\u0301", "\xff", "\x00", "<b>",
			", "}), rapid.String()), 0, 30).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func TestCut_KeepsTheText(t *testing.T) { nightlytest.Check(t, cutKeepsTheText) }

func FuzzCut(f *testing.F) { f.Fuzz(rapid.MakeFuzz(cutKeepsTheText)) }

func cutKeepsTheText(t *rapid.T) {
	text, query := texts().Draw(t, "text"), texts().Draw(t, "query")
	checkMark(t, text, query)
	checkCut(t, text, query, rapid.IntRange(-1, 60).Draw(t, "most"))
}

func checkMark(t rapid.TB, text, query string) {
	all := mark(text, query)
	if joined(all) != text {
		t.Fatalf("%q became %q", text, all)
	}
	for i, p := range all {
		if p.Text == "" || i > 0 && !p.Marked && !all[i-1].Marked {
			t.Fatalf("piece %d of %q is empty or a part of the one before", i, all)
		}
	}
	for _, p := range all {
		if p.Marked && !reflect.DeepEqual(mark(p.Text, p.Text), []Piece{{p.Text, true}}) {
			t.Fatalf("%q is marked, but is no whole word", p.Text)
		}
	}
}

func checkCut(t rapid.TB, text, query string, most int) {
	got := Cut(text, query, most)
	passage := joined(got.Pieces)
	switch {
	case utf8.RuneCountInString(passage) > max(most, 0):
		t.Fatalf("%q has more than %d characters", passage, most)
	case !got.Before && !strings.HasPrefix(text, passage), !got.After && !strings.HasSuffix(text, passage), !strings.Contains(text, passage):
		t.Fatalf("%+v is no passage of %q", got, text)
	case !got.Before && !got.After && passage != text:
		t.Fatalf("%+v says that it is all of %q", got, text)
	}
	marked, short := 0, false
	for _, p := range got.Pieces {
		if p.Marked {
			marked++
		}
	}
	for _, p := range mark(text, query) {
		short = short || p.Marked && utf8.RuneCountInString(p.Text) <= most
	}
	if short != (marked > 0) {
		t.Fatalf("%+v has %d words of %q, of %q", got, marked, query, text)
	}
}

// mark returns the whole text, with the words of the query marked.
func mark(text, query string) []Piece { return Cut(text, query, len(text)).Pieces }
