package corpus

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure/measuretest"
)

func file(name, content string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

const webPage = `<DOC><DOCNO>W1</DOCNO>
<DOCHDR>
HTTP/1.0 200 OK
</DOCHDR>
<html><head><title>Tide &amp; time</title><script>var a = "<b>";</script></head>
<body>High water <b>twice</b> a day, 3 < 4.</body></html>
</DOC>`

func TestRead_KnowsFormats(t *testing.T) {
	for name, c := range map[string]struct {
		file, content    string
		document         Document // of d1
		query            string   // of q1
		documents, seenq int
	}{
		"BEIR documents": {
			file: "corpus.jsonl", content: `{"_id": "d0", "title": "", "text": "none"}` + "\n" +
				`{"_id":"d1","title":"Moon","text":"It orbits \"us\".","metadata":{"text":"no","a":[1,{"_id":"d9"}]}}`,
			document: Document{Title: "Moon", Text: `It orbits "us".`}, documents: 2,
		},
		"BEIR queries": {file: "queries.jsonl", content: `{"_id":"q1","text":"how far is the moon","metadata":{}}`,
			query: "how far is the moon", seenq: 1},
		"Anserini": {file: "docs.json", content: "\ufeff" + ` { "id" : "d1" , "contents" : "one\ntwo\u0007" } `, document: Document{
			Text: "one two\ufffd"}, documents: 1},
		"TIRA documents": {file: "documents.jsonl", content: `{"docno":"d1","text":"t","original_document":{"title":"no"}}`,
			document: Document{Text: "t"}, documents: 1},
		"TIRA topics": {file: "input.jsonl", content: `{"qid":"q1","query":"moon landing","original_query":{"query_id":"no"}}`,
			query: "moon landing", seenq: 1},
		"TIRA for re-ranking": {file: "rerank.jsonl", content: `{"qid":"q1","query":"moon","docno":"d1","text":"about it","rank":1}`,
			query: "moon", document: Document{Text: "about it"}, documents: 1, seenq: 1},
		"MS MARCO passages": {file: "passages.jsonl", content: `{"pid":"d1","passage":"of a document","docid":"D7"}`, document: Document{
			Text: "of a document"}, documents: 1},
		"the other way round": {file: "passages.jsonl", content: `{"docid":"D7","body":"no","pid":"d1","text":"of a document"}`,
			document: Document{Text: "of a document"}, documents: 1},
		"MS MARCO documents": {file: "docs.jsonl", content: `{"url":"u","title":"T","headings":"no","body":"B","docid":"d1"}`,
			document: Document{Title: "T", Text: "B"}, documents: 1},
		"title of a topic":    {file: "x.jsonl", content: `{"topic_id":"q1","title":"moons","description":"no"}`, query: "moons", seenq: 1},
		"topic as an id":      {file: "x.jsonl", content: `{"topic":"q1","query":"moons"}`, query: "moons", seenq: 1},
		"topic as a subject":  {file: "x.jsonl", content: `{"_id":"d1","text":"t","topic":"q1"}`, document: Document{Text: "t"}, documents: 1},
		"question with an id": {file: "x.jsonl", content: `{"id":"q1","query":"moons"}`, query: "moons", seenq: 1},
		"ids with escapes":    {file: "x.jsonl", content: `{"id":"\u0064\u0031","text":"t"}`, document: Document{Text: "t"}, documents: 1},
		"qrels and runs":      {file: "x.jsonl", content: `{"qid":"q1","docno":"d1","score":3}`},
		"first of two":        {file: "x.tsv", content: "d1\tone\nd1\ttwo", document: Document{Text: "one"}, documents: 2},
		"TSV documents": {file: "collection.tsv", content: "d0\tzero\r\nd1\tthe first\r\n", document: Document{Text: "the first"},
			documents: 2},
		"TSV queries": {file: "sets/queries.dev.tsv", content: "q1\thow  high", query: "how high", seenq: 1},
		"TSV topics":  {file: "Topics.TSV", content: "q1\thow high", query: "how high", seenq: 1},
		"TSV with addresses": {file: "docs.tsv", content: "d1\thttps://example.org/\tA title\tA body\nd1\t0\tq1\t1", document: Document{
			Title: "A title", Text: "A body"}, documents: 1},
		"TSV of something": {file: "x.tsv", content: "d1\t0\t1\nd1 Q0 q1 1\nd1\t\n\t\n"},
		"Latin 1":          {file: "x.tsv", content: "d1\tcaf\xe9", document: Document{Text: "caf\ufffd"}, documents: 1},
		"TREC documents": {
			file: "ft.sgml", content: "<DOC>\n<DOCNO> d0 </DOCNO>\n<TEXT>no</TEXT>\n</DOC>\n<doc>\n<docno> d1 " +
				"</docno>\n<HEADLINE><P>Head\n</P></HEADLINE>\n<TEXT>\n{\"one\":\t1}\n<P>R&amp;D</P>\n</TEXT>\n<SUBJECT>no</SUBJECT>\n</doc>\n",
			document: Document{Title: "Head", Text: `{"one": 1} R&D`}, documents: 2,
		},
		"TREC documents on one line": {
			file: "x", content: "<DOC><DOCNO>d0</DOCNO><TEXT>no</TEXT></DOC><DOC><DOCNO>d1</DOCNO><TEXT>yes</TEXT></DOC>", document: Document{
				Text: "yes"}, documents: 2},
		"TREC page": {file: "x", content: strings.Replace(webPage, "W1", "d1", 1), document: Document{
			Title: "Tide & time", Text: "Tide & time High water twice a day, 3 < 4."}, documents: 1},
		"TREC without an id": {file: "x", content: "<DOC><TEXT>no</TEXT></DOC>"},
		"TREC topics": {
			file: "301-450", content: "<top>\n\n<num> Number: q1 \n<title> Topic: Hunger in cities\n\n<desc> Description: " +
				"\nno\n</top>\n<top>\n<num> Number: q2\n<title> b\n</top>",
			query: "Hunger in cities", seenq: 2,
		},
		"TREC topics left open": {file: "x", content: "<top><num>Number: q0<title>a\n<top><num> Number: q1<title>b", query: "b", seenq: 2},
		"numbers with zeros":    {file: "x", content: "<top><num> Number: 00q1<title>b", query: "b", seenq: 1},
		"single quotes":         {file: "x.xml", content: "<topics><topic number='q1'><query>b</query></topic></topics>", query: "b", seenq: 1},
		"XML topics": {
			file: "x.xml", content: "<?xml version=\"1.0\"?>\n<topics>\n<topic number=\"q1\" type=\"a\">\n<query>one &lt; " +
				"two</query>\n</topic></topics>", query: "one < two", seenq: 1},
		"XML topics of Touché": {file: "x.xml", content: "<topics><topic><number>q1</number><title>Is it?</title></topic></topics>",
			query: "Is it?", seenq: 1},
		"packed": {file: "x.jsonl.gz", content: measuretest.Gzip(t, `{"id":"d1","text":"t"}`), document: Document{Text: "t"},
			documents: 1},
		"lines that are broken": {
			file: "x.jsonl", content: "{\n{}\n{]\n{\"id\n{\"id\":\n{\"id\":}\n{\"id\":\"d1\",\"text\":\"\\x\"}\n{\"id\":\"d1\",\"text\":[\"t\"}\n" +
				"{\"id\":\"\",\"text\":\"t\"}\n{\"id\":\"\\ud\",\"text\":\"\"}\n{\"id\":\"d1\",\"text\":\"t\"}",
			document: Document{Text: "t"}, documents: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Reading goes on to the end, because no file has this id.
			texts, err := Read(t.Context(), Wanted{Documents: []string{"d1", "absent"}, Queries: []string{"q1"}}, file(c.file, c.content))
			if err != nil {
				t.Fatal(err)
			}
			wantFault := ""
			if c.documents+c.seenq == 0 {
				wantFault = "the file has no document and no query of a known format"
			}
			want := FileReport{Name: c.file, Documents: c.documents, Queries: c.seenq, Fault: wantFault}
			if len(texts.Files) != 1 || texts.Files[0] != want {
				t.Errorf("report is %+v, want %+v", texts.Files, want)
			}
			if texts.Documents["d1"] != c.document || texts.Queries["q1"] != c.query {
				t.Errorf("got %+v and %q, want %+v and %q", texts.Documents, texts.Queries, c.document, c.query)
			}
		})
	}
}

func TestRead_TakesNumbersAsIDs(t *testing.T) {
	texts, err := Read(t.Context(), Wanted{Documents: []string{"301", "1e3", "-0"}},
		file("x.jsonl", `{"id":301,"text":"a"}`+"\n"+`{"id": 1e3 ,"text":"b"}`+"\n"+`{"text":"c","id":-0}`))
	if err != nil || texts.Documents["301"].Text != "a" || texts.Documents["1e3"].Text != "b" || texts.Documents["-0"].Text != "c" {
		t.Errorf("got %v, %v", texts, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"_id":"d","title":"t","text":"x"}`, `{"qid":"q","query":"a","docno":"d","text":"b"}`, "d\ttext\nq\ttext", "d\thttp://a\tb\tc",
		"<DOC><DOCNO>d</DOCNO><TEXT>a<b></TEXT></DOC>", webPage, "<top><num> Number: q <title> t", "<topic number=\"q\"><query>a</query></topic>",
		"{\"id\":\"d\\\\\",\"text\":{\"a\":[\"}\"]}}", "<doc", "<doc><script", "\xff\x00", measuretest.Gzip(f, "d\ttext"),
		measuretest.Gzip(f, "d\ttext")[:20],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		wanted := Wanted{Documents: []string{"d", "absent"}, Queries: []string{"q"}}
		texts, err := Read(t.Context(), wanted, file("x", content), file("queries", content))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Read(t.Context(), wanted, File{Name: "x", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(iotest.OneByteReader(strings.NewReader(content))), nil
		}}, file("queries", content))
		if !maps.Equal(texts.Documents, again.Documents) || !maps.Equal(texts.Queries, again.Queries) {
			t.Errorf("how the bytes come changes %+v to %+v", texts, again)
		}
		for id, d := range texts.Documents {
			if id != "d" {
				t.Errorf("nobody asked for %q", id)
			}
			checkPlain(t, d.Title, MaxTitle)
			checkPlain(t, d.Text, MaxText)
		}
		for id, q := range texts.Queries {
			if id != "q" {
				t.Errorf("nobody asked for %q", id)
			}
			checkPlain(t, q, MaxQuery+1)
		}
	})
}

func checkPlain(t *testing.T, text string, most int) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > most ||
		strings.TrimSpace(text) != text {
		t.Errorf("%q is not plain", text)
	}
}

// BenchmarkRead looks for 100 of 50,000 documents in 50 MB. The last document is one of them.
func BenchmarkRead(b *testing.B) {
	var content strings.Builder
	body := strings.Repeat(`some words of a \"document\" and `, 29)
	var wanted Wanted
	for i := range 50_000 {
		fmt.Fprintf(&content, `{"_id": "doc%d", "title": "Title of %d", "text": "%s"}`+"\n", i, i, body)
		if i%500 == 499 {
			wanted.Documents = append(wanted.Documents, fmt.Sprint("doc", i))
		}
	}
	for name, corpus := range map[string]string{"plain": content.String(), "gzip": measuretest.Gzip(b, content.String())} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(content.Len()))
			b.ReportAllocs()
			for b.Loop() {
				texts, err := Read(b.Context(), wanted, file("corpus.jsonl", corpus))
				if err != nil || len(texts.Documents) != 100 {
					b.Fatal(len(texts.Documents), err)
				}
			}
		})
	}
}

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
