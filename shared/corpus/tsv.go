package corpus

import "bytes"

var (
	tab    = []byte{'\t'}
	scheme = []byte("://")
)

// readTSV reads a line of a tab-separated file: id and text, or id, address, title and body, unless it names them. Other numbers of fields,
// and four without an address, are those of qrels and runs.
func (f *finder) readTSV(line []byte) {
	id, rest, _ := bytes.Cut(line, tab)
	id = bytes.TrimSpace(id)
	fields := bytes.Count(rest, tab) + 1
	_, header := names[string(bytes.ToLower(id))]
	switch {
	case len(id) == 0 || len(rest) == 0 || header:
		f.report.Unread++
	case fields == 1 && f.queryFile:
		if f.wantsQuery(id) {
			f.addQuery(string(id), string(rest))
		}
	case fields == 1:
		if f.wantsDocument(id) {
			f.addDocument(string(id), "", string(rest))
		}
	case fields == 3 && bytes.Contains(rest[:bytes.IndexByte(rest, '\t')], scheme):
		if f.wantsDocument(id) {
			_, rest, _ = bytes.Cut(rest, tab)
			title, body, _ := bytes.Cut(rest, tab)
			f.addDocument(string(id), string(title), string(body))
		}
	default:
		f.report.Unread++
	}
}
