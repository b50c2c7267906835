package corpus

import (
	"bytes"
	"encoding/json"

	"assay/shared/computation/measure/fields"
)

// role is the meaning of a member of a JSON object.
type role int

const (
	plainID role = iota // id of a document or of a query, depending on the file's name
	documentID
	queryID
	topic // id of a query, if there is no other id; otherwise possibly the subject of a document
	question
	title
	text
	roles // the number of roles
)

// names maps the names of members to their roles. If an object has several members of one role, the name that is first in its list counts.
// For example, the id of an MS MARCO passage is pid, and docid is the id of the document that contains it.
var names = func() map[string]member {
	out := map[string]member{}
	for role, list := range [roles][]string{
		plainID:    {"_id", "id"},
		documentID: {"pid", "docno", "doc_id", "docid", "document_id"},
		queryID:    {"qid", "query_id", "topic_id"},
		topic:      {"topic"},
		question:   {"query", "question"},
		title:      {"title", "headline"},
		text:       {"text", "contents", "content", "body", "passage"},
	} {
		for rank, name := range list {
			out[name] = member{role: role, rank: rank}
		}
	}
	return out
}()

type member struct{ role, rank int }

// object holds the raw values of a JSON object by role. A value is nil if the object has no usable value.
type object struct {
	values [roles][]byte
	ranks  [roles]int
}

// readJSON reads a line of JSON lines, which begins with a brace. It decodes only wanted texts. For all other strings it only finds their
// ends.
func (f *finder) readJSON(line []byte) {
	var o object
	for key, value := range fields.Members(line) {
		if key == nil { // the line is not a complete object
			return
		}
		o.setMember(key[1:len(key)-1], value)
	}
	document, query := o.ids(f.queryFile)
	words := o.values[question]
	if words == nil && document == nil {
		words = o.values[text]
		if words == nil {
			words = o.values[title]
		}
	}
	if query != nil && words != nil {
		addTexts(query, nil, words, f.wantsQuery, func(id, _, text string) { f.addQuery(id, text) })
	}
	if document != nil && (o.values[text] != nil || o.values[title] != nil) {
		addTexts(document, o.values[title], o.values[text], f.wantsDocument, f.addDocument)
	}
}

// addTexts adds the texts of a document or query, if it is wanted and its id and texts are valid JSON.
func addTexts(rawID, rawTitle, rawText []byte, wants func(id []byte) bool, add func(id, title, text string)) {
	id, ok := idText(rawID)
	if !ok || !wants(id) {
		return
	}
	title, sound := decoded(rawTitle)
	text, ok := decoded(rawText)
	if ok && sound {
		add(string(id), title, text)
	}
}

// ids returns the ids of the document and the query in an object. In a file for re-ranking, an object has both.
func (o *object) ids(queryFile bool) (document, query []byte) {
	document, query = o.values[documentID], o.values[queryID]
	plain := o.values[plainID]
	switch {
	case document != nil || query != nil:
		return document, query
	case plain == nil:
		return nil, o.values[topic]
	case queryFile || o.values[question] != nil && o.values[text] == nil:
		return nil, plain
	}
	return plain, nil
}

// setMember keeps a usable value: a string, or a number that is an id.
func (o *object) setMember(key, value []byte) {
	m, ok := names[string(key)]
	if !ok || o.values[m.role] != nil && o.ranks[m.role] <= m.rank {
		return
	}
	number := value[0] == '-' || value[0]-'0' <= 9
	if value[0] == '"' || number && role(m.role) <= topic {
		o.values[m.role], o.ranks[m.role] = value, m.rank
	}
}

// idText returns the text of an id. The text of a number is its source text. ok is false for an empty id.
func idText(raw []byte) ([]byte, bool) {
	id := raw
	switch {
	case raw[0] != '"':
	case bytes.IndexByte(raw, '\\') < 0:
		id = raw[1 : len(raw)-1]
	default:
		text, ok := decoded(raw)
		if !ok {
			return nil, false
		}
		id = []byte(text)
	}
	id = bytes.TrimSpace(id)
	return id, len(id) > 0
}

// decoded returns the text of a raw string. It returns "" for nil. ok is false if the string is not valid JSON.
func decoded(raw []byte) (string, bool) {
	if raw == nil {
		return "", true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
