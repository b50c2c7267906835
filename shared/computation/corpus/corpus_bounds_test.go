package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/measuretest"
)

func TestRead_ClipsLongTexts(t *testing.T) {
	long := strings.Repeat("über ", 600)
	content := fmt.Sprintf(`{"qid":"q","query":%[1]q,"docno":"d","title":%[1]q,"text":%[1]q}`, long)
	texts, err := Read(t.Context(), Wanted{Documents: []string{"d"}, Queries: []string{"q"}}, file("x.jsonl", content))
	if err != nil {
		t.Fatal(err)
	}
	d, q := texts.Documents["d"], texts.Queries["q"]
	if d.Text != strings.TrimSpace(long[:2000/5*6]) || d.Title != strings.TrimSpace(long[:300/5*6]) || !d.Clipped ||
		q != strings.TrimSpace(long[:1000/5*6])+"…" {
		t.Errorf("%d characters of text, %d of title, clipped %v; query ends %q", utf8.RuneCountInString(d.Text), utf8.RuneCountInString(d.Title),
			d.Clipped, q[len(q)-10:])
	}
}

func TestRead_StopsWhenAllIsFound(t *testing.T) {
	broken := errors.New("read on")
	endless := File{Name: "corpus.tsv", Open: func() (io.ReadCloser, error) {
		start := "d1\tone\n" + strings.Repeat("x\ty\n", MaxLine)
		return io.NopCloser(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken))), nil
	}}
	wanted := Wanted{Documents: []string{"d1"}, Queries: []string{"q1", "q1"}}
	texts, err := Read(t.Context(), wanted, endless, file("queries.tsv", "q1\twhat"), file("more.tsv", "d1\ttwo"))
	if err != nil || len(texts.Files) != 2 || texts.Files[0].Name != "queries.tsv" || texts.Documents["d1"].Text != "one" {
		t.Errorf("got %+v, %v", texts, err)
	}
	if texts, err = Read(t.Context(), Wanted{}, endless); err != nil || texts.Files != nil {
		t.Errorf("asked for nothing: got %+v, %v", texts, err)
	}
	wanted.Documents = append(wanted.Documents, "d2")
	if texts, err = Read(t.Context(), wanted, endless); !errors.Is(err, broken) || texts.Documents["d1"].Text != "one" {
		t.Errorf("got %+v, %v", texts, err)
	}
}

func TestRead_ReturnsErrorsOfFiles(t *testing.T) {
	broken := errors.New("connection lost")
	shut := File{Name: "x", Open: func() (io.ReadCloser, error) { return nil, broken }}
	for name, f := range map[string]File{
		"opening": shut,
		"at once": {Name: "x", Open: func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil }},
		"later": {Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("a\tb\nc"), iotest.ErrReader(broken))), nil
		}},
		"once": {Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(iotest.TimeoutReader(strings.NewReader("a\tb\nc"))), nil
		}},
		"unpacked": {Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(measuretest.Gzip(t, "a\tb")[:14]), iotest.ErrReader(broken))), nil
		}},
	} {
		if _, err := Read(t.Context(), Wanted{Documents: []string{"d"}}, f); !errors.Is(err, broken) && !errors.Is(err, iotest.ErrTimeout) ||
			!strings.Contains(err.Error(), "texts of x") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Wanted{Documents: []string{"d"}}, file("x", "d\te")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRead_ReportsUnreadableFiles(t *testing.T) {
	packed := measuretest.Gzip(t, strings.Repeat("d0\tsome text that goes on\n", 1000)+"\n")
	for name, c := range map[string]struct{ content, want string }{
		"empty":          {"", "the file has no document"},
		"run":            {strings.Repeat("1 Q0 d 1 1 t\n", maxUnrecognized+1), "the first 1000 lines have no document"},
		"page":           {strings.Repeat("<p>one</p>\n", maxUnrecognized+1), "the first 1000 lines have no document"},
		"overlong lines": {strings.Repeat(strings.Repeat("x", 101)+"\n", maxUnrecognized+1), "the first 1000 lines have no document"},
		"zip":            {"PK\x03\x04\x00", "zip archive"},
		"UTF-16":         {"\xff\xfed\x00\t\x00", "text in UTF-16"},
		"binary":         {"d\t\x00", "neither text"},
		"packed twice":   {measuretest.Gzip(t, packed), "gzip twice"},
		"cut gzip":       {packed[:len(packed)-9], "not read to its end: the gzip file ends too early"},
		"gzip header":    {packed[:5], "the gzip file ends too early"},
		"gzip bomb":      {measuretest.Gzip(t, strings.Repeat("d0\ta\n", 5000)), "more than 10 times its size"},
	} {
		l := limits{left: 1 << 20, read: 1 << 20, line: 100, expansion: lines.Expansion{Bytes: 1 << 20, Ratio: 10, RatioFrom: 10 << 10}}
		if name == "cut gzip" {
			l.expansion.Ratio = 1000
		}
		texts, err := read(t.Context(), l, Wanted{Documents: []string{"d"}}, []File{file("x", c.content), file("y", "d\tfound")})
		if err != nil || len(texts.Files) != 2 || !strings.Contains(texts.Files[0].Fault, c.want) || texts.Documents["d"].Text != "found" {
			t.Errorf("%s: got %+v, %v, want %q", name, texts, err, c.want)
		}
	}
}

func TestRead_BoundsAllFiles(t *testing.T) {
	l := limits{left: 2 << 20, read: 2 << 20, line: 100, expansion: lines.StandardExpansion}
	half := strings.Repeat("d0\tsome text\n", 1<<20/13)
	texts, err := read(t.Context(), l, Wanted{Documents: []string{"d"}}, []File{
		file("a", half), file("b", half), file("c", half), file("d", "d\tlate")})
	if err != nil || len(texts.Files) != 4 || texts.Files[1].Fault != "" || texts.Files[3].Documents != 0 {
		t.Fatalf("got %+v, %v", texts, err)
	}
	for _, f := range texts.Files[2:] {
		if !strings.Contains(f.Fault, "at most 2 MiB") {
			t.Errorf("got %+v", f)
		}
	}
}

func TestRead_SkipsOverlongLines(t *testing.T) {
	content := "d0\t" + strings.Repeat("x", MaxLine) + "\nd1\t" + strings.Repeat("y", MaxLine-4) + "\nd2\t" + strings.Repeat("z", 3*MaxLine)
	texts, err := Read(t.Context(), Wanted{Documents: []string{"d0", "d1", "d2"}}, file("x", content))
	if err != nil || len(texts.Documents) != 1 || len(texts.Documents["d1"].Text) != MaxText {
		t.Errorf("got %d documents, %+v, %v", len(texts.Documents), texts.Files, err)
	}
}

func TestRead_ClipsLongDocumentsOfTREC(t *testing.T) {
	content := "<DOC><DOCNO>d1</DOCNO><TEXT>\n" + strings.Repeat("some words\n", 200_000) +
		"</TEXT></DOC>\n<DOC><DOCNO>d2</DOCNO><TEXT>two</TEXT></DOC>"
	texts, err := Read(t.Context(), Wanted{Documents: []string{"d1", "d2"}}, file("x", content))
	if d := texts.Documents["d1"]; err != nil || !d.Clipped || len(d.Text) < MaxText-10 || texts.Documents["d2"].Text != "two" {
		t.Errorf("got %+v, %v", texts, err)
	}
	var b block
	for range 3 {
		b.keep(make([]byte, maxBlock/2+1))
	}
	if len(b.kept) != maxBlock {
		t.Errorf("%d bytes were kept", len(b.kept))
	}
}
