package corpus

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure/measuretest"
)

func TestReadIDs_OfFiles(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for name, c := range map[string]struct {
		files     []File
		queries   []string
		documents []string // nil: not known
	}{
		"both": {
			[]File{file("corpus.jsonl", `{"_id":"d1","text":"a"}`+"\n"+`{"_id":"d2","text":"b"}`),
				file("topics.tsv", "qid\tquery\n1\twhat\n2\twho\n")}, []string{"1", "2"}, []string{"d1", "d2"}},
		"another format": {
			[]File{file("readme.md", strings.Repeat("about it\n", 2*maxUnrecognized)), file("queries.jsonl", `{"id":7,"text":"what"}`)},
			[]string{"7"}, nil},
		"documents that are too long": {[]File{file("c.tsv", "d1\t"+long+"\nd2\tb\n"), file("topics.tsv", "1\twhat")}, []string{"1"}, nil},
		"topics that are too long":    {[]File{file("c.tsv", "d2\tb\n"), file("topics.tsv", "1\t"+long+"\n2\twho\n")}, nil, []string{"d2"}},
		"documents that are cut off": {[]File{file("c.tsv.gz", measuretest.Gzip(t, "d1\ta\nd2\tb\n")[:30]), file("topics.tsv", "1\twhat")},
			[]string{"1"}, nil},
		"topics in the old form of TREC": {
			[]File{file("topics", "<top><num> Number: 301 <title> a\n</top>\n<top><num> Number: 302 <title> b\n</top>")}, []string{
				"301", "302"}, nil},
		"numbers with zeros before them": {
			[]File{file("topics", "<top><num> Number: 301 <title> a\n</top>\n<top><num> Number: 051 <title> b\n</top>")}, nil, nil},
		"lines with both": {[]File{file("rerank.jsonl", `{"qid":"1","query":"a","docno":"d1","text":"b"}`)}, []string{"1"},
			[]string{"d1"}},
		"nothing": {nil, nil, nil},
	} {
		ids, err := ReadIDs(t.Context(), c.files...)
		if err != nil || !slices.Equal(ids.Queries, c.queries) {
			t.Errorf("%s: %v, %q, want %q", name, err, ids.Queries, c.queries)
			continue
		}
		known := ids.Documents()
		if known == nil && c.documents == nil {
			continue
		}
		if known == nil || slices.ContainsFunc(c.documents, func(d string) bool { return !known([]byte(d)) }) || known([]byte("x")) ||
			ids.Bytes() == 0 {
			t.Errorf("%s: documents %v", name, ids.documents)
		}
	}
	if _, err := ReadIDs(t.Context(),
		File{Name: "x", Open: func() (io.ReadCloser, error) { return nil, fmt.Errorf("lost: %w", io.ErrClosedPipe) }}); !errors.Is(err,
		io.ErrClosedPipe) {
		t.Error(err)
	}
}
