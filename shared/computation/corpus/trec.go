package corpus

import (
	"bytes"
	"html"
	"strings"
)

// block is the current document or topic of TREC. Only its first maxBlock bytes are kept, because more would hardly be shown.
type block struct {
	tag  string // empty outside of documents and topics
	kept []byte
}

const maxBlock = 64 << 10

// readTREC reads a line of a file with TREC's tags. A block also ends where the next block begins, because some files of topics have no
// closing tags.
func (f *finder) readTREC(line []byte) {
	b := &f.block
	for {
		if b.tag == "" {
			at, tag := find(line, "doc", "top", "topic")
			if at < 0 {
				return
			}
			b.tag, b.kept = tag, b.kept[:0]
			line = line[at:]
			b.keep(line[:1+len(tag)])
			line = line[1+len(tag):]
		}
		at, found := find(line, b.tag, "/"+b.tag)
		if at < 0 {
			b.keep(line)
			b.keep([]byte{'\n'})
			return
		}
		b.keep(line[:at])
		line = line[at:]
		if found != b.tag {
			line = line[1+len(found):]
		}
		f.closeBlock()
	}
}

func (b *block) keep(text []byte) {
	b.kept = append(b.kept, text[:min(len(text), maxBlock-len(b.kept))]...)
}

// closeBlock ends the current block, if there is one, and reads it as a document or a topic.
func (f *finder) closeBlock() {
	switch f.block.tag {
	case "":
	case "doc":
		f.document(f.block.kept)
	default:
		f.topic(f.block.kept)
	}
	f.block.tag = ""
}

func (f *finder) document(block []byte) {
	id, ok := element(block, "docno")
	id = bytes.TrimSpace(id)
	if !ok || len(id) == 0 || !f.wantsDocument(id) {
		return
	}
	title, _ := element(block, "title", "headline", "head", "hl", "ti")
	body, ok := element(block, "text")
	if !ok {
		// A web page: the text after the crawler's header.
		body = textAfter(block, "/docno", "/dochdr")
	}
	f.addDocument(string(id), stripTags(title), stripTags(body))
}

// topic reads a topic of TREC, in its old form (<num> Number: 301 <title> ...) or in XML (<topic number="1"><query>...).
func (f *finder) topic(block []byte) {
	id, ok := element(block, "num", "number")
	if !ok {
		id = attribute(block, "number", "id")
	}
	if label, rest, ok := bytes.Cut(id, []byte{':'}); ok && strings.EqualFold(string(bytes.TrimSpace(label)), "number") {
		id = rest
	}
	text, ok := element(block, "title", "query", "question")
	id = bytes.TrimSpace(id)
	if !ok || len(id) == 0 {
		return
	}
	wanted := f.wantsQuery(id)
	short := bytes.TrimLeft(id, "0") // <num> may have 051 where qrels and runs have 51
	f.cut = f.cut || len(short) < len(id)
	if !wanted && f.queries[string(short)] {
		id, wanted = short, true
	}
	if wanted {
		words := strings.TrimSpace(stripTags(text))
		if rest, ok := strings.CutPrefix(words, "Topic:"); ok {
			words = rest
		}
		f.addQuery(string(id), words)
	}
}

// find returns the place and the name of the first tag in a text that is one of the tags, or -1. The name of a closing tag begins with a
// slash.
func find(text []byte, tags ...string) (int, string) {
	for i := 0; ; i++ {
		next := bytes.IndexByte(text[i:], '<')
		if next < 0 {
			return -1, ""
		}
		i += next
		for _, tag := range tags {
			end := i + 1 + len(tag)
			if end <= len(text) && strings.EqualFold(string(text[i+1:end]), tag) &&
				(end == len(text) || bytes.IndexByte([]byte("> \t\r\n/"), text[end]) >= 0) {
				return i, tag
			}
		}
	}
}

// element returns the content of the first element with the first of the tags that the text has. The content ends at the closing tag or, if
// there is none, at the next tag.
func element(text []byte, tags ...string) ([]byte, bool) {
	for _, tag := range tags {
		start, _ := find(text, tag)
		if start < 0 {
			continue
		}
		open := bytes.IndexByte(text[start:], '>')
		if open < 0 {
			continue
		}
		content := text[start+open+1:]
		end, _ := find(content, "/"+tag)
		if end < 0 {
			end = bytes.IndexByte(content, '<')
		}
		if end < 0 {
			end = len(content)
		}
		return content[:end], true
	}
	return nil, false
}

// attribute returns the value of the first of the attributes that the tag at the start of a text has, or nil.
func attribute(text []byte, names ...string) []byte {
	tag, _, _ := bytes.Cut(text, []byte{'>'})
	for _, name := range names {
		for _, quote := range []string{`"`, "'"} {
			if _, value, ok := bytes.Cut(tag, []byte(" "+name+"="+quote)); ok {
				value, _, _ = bytes.Cut(value, []byte(quote))
				return value
			}
		}
	}
	return nil
}

// textAfter returns the text after the tags. It ignores tags that the text lacks.
func textAfter(text []byte, tags ...string) []byte {
	for _, tag := range tags {
		if at, _ := find(text, tag); at >= 0 {
			text = text[at+1+len(tag):]
			_, text, _ = bytes.Cut(text, []byte{'>'})
		}
	}
	return text
}

// stripTags removes tags, scripts and styles from a text, and decodes entities.
func stripTags(text []byte) string {
	var out strings.Builder
	for {
		at := bytes.IndexByte(text, '<')
		if at < 0 || at+1 == len(text) {
			break
		}
		out.Write(text[:at])
		text = text[at:]
		if c := text[1] | 0x20; (c < 'a' || c > 'z') && text[1] != '/' && text[1] != '!' && text[1] != '?' {
			out.WriteByte('<')
			text = text[1:]
			continue
		}
		end := bytes.IndexByte(text, '>')
		if end < 0 {
			break
		}
		if start, tag := find(text[:end+1], "script", "style"); start == 0 {
			end, _ = find(text, "/"+tag)
			if end < 0 {
				return html.UnescapeString(out.String())
			}
			text = text[end:]
			continue
		}
		text = text[end+1:]
		out.WriteByte(' ')
	}
	out.Write(text)
	return html.UnescapeString(out.String())
}
