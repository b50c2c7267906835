package conversion

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"assay/shared/computation/measure/fields"

	"github.com/go-json-experiment/json/jsontext"
)

// Recognize recognizes runs and relevance judgments in another format than TREC's by the first bytes of a file. kind is the known kind, or
// nil. ok is false for other files.
func Recognize(kind *Kind, head []byte) (found *Kind, format Format, ok bool) {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	kinds := []*Kind{Runs, Qrels}
	if kind != nil {
		kinds = []*Kind{kind}
	}
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		return recognizeJSON(kinds, head)
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	if string(line) == beirHeader && slices.Contains(kinds, Qrels) {
		return Qrels, BEIR, true
	}
	var parts [6][]byte
	n := fields.Split(line, parts[:])
	for _, k := range kinds {
		for _, separator := range []string{",", "\t", ";"} {
			names := strings.Split(string(line), separator)
			for i, name := range names {
				names[i] = strings.Trim(strings.TrimSpace(name), `"`)
			}
			if len(names) > 1 && (k.hasUsualNames(kind, names) || separator != "\t" && k.order(texts(names)) != nil && kind != nil) {
				return k, CSV, true
			}
		}
		if n > 0 && n <= len(parts) && n != len(k.trec) && kind != nil && k.order(parts[:n]) != nil {
			return k, MSMARCO, true
		}
	}
	return nil, "", false
}

// textNames are names of fields that have texts in files of labels, such as pairs of a query and a document with a label.
var textNames = []string{"query", "document", "doc"}

// hasUsualNames reports whether fields with the names are a file of the kind. If the kind is not known, a pair of texts with a label is
// none.
func (k *Kind) hasUsualNames(known *Kind, names []string) bool {
	if known == nil && slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, "label") }) {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(textNames, strings.ToLower(name)) })
	}
	return k.hasNames(names)
}

// AreQrels reports whether a text begins with relevance judgments in the format of TREC.
func AreQrels(head []byte) bool {
	for line := range bytes.Lines(head) {
		var parts [4][]byte
		if n := fields.Split(bytes.TrimRight(line, "\n"), parts[:]); n > 0 && !fields.IsComment(parts[0]) {
			return n == len(parts) && Qrels.matches(parts[:])
		}
	}
	return false
}

// recognizeJSON recognizes JSON lines, and a file that is one object or array.
func recognizeJSON(kinds []*Kind, head []byte) (found *Kind, format Format, ok bool) {
	if dictionary, whole := isDictionary(head, len(kinds) == 1, kinds[0] == Runs); dictionary {
		if len(kinds) > 1 && whole { // grades are whole numbers
			return Qrels, JSON, true
		}
		return kinds[0], JSON, true
	}
	format = JSONL
	if head[0] == '[' {
		format = JSON
	}
	names := firstNames(head)
	for _, k := range kinds {
		if len(names) > 0 && k.hasUsualNames(map[bool]*Kind{true: k}[len(kinds) == 1], names) {
			return k, format, true
		}
	}
	return nil, "", false
}

// isDictionary reports whether a text begins like an object of objects of numbers, and whether all these numbers are whole. The text may
// be cut. If the file is known to have rankings or judgments, the numbers may be texts. If they are rankings, lists may stand in
// the place of objects.
func isDictionary(head []byte, known, ranks bool) (dictionary, whole bool) {
	d := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowDuplicateNames(true))
	whole = true
	for {
		token, err := d.ReadToken()
		if err != nil {
			return dictionary, whole
		}
		depth := d.StackDepth()
		kind, length := d.StackIndex(depth)
		switch {
		case depth == 0:
			return dictionary && len(bytes.TrimSpace(head[d.InputOffset():])) == 0, whole
		case known && isLoose(token.Kind(), depth, kind, length, ranks):
			dictionary = dictionary || depth == 2
		case kind != '{' || depth > 2:
			return false, false
		case token.Kind() == '0' && depth == 2:
			dictionary = true
			whole = whole && !strings.ContainsAny(token.String(), ".eE")
		case token.Kind() == '{', token.Kind() == '}', token.Kind() == '"' && length%2 == 1: // an odd length ends with a name
		default:
			return false, false
		}
	}
}

// isLoose reports whether a token is a text in the place of a number or, with lists, belongs to a list in the place of an object. depth,
// kind and length describe the value around it.
func isLoose(token jsontext.Kind, depth int, kind jsontext.Kind, length int64, lists bool) bool {
	inList := depth == 2 && kind == '[' || depth == 1 && token == ']'
	return lists && inList || depth == 2 && kind == '{' && token == '"' && length%2 == 0
}

// FormOfJSON returns the format of a text that begins like JSON, even if it has neither a ranking nor judgments: JSONL if the first line is
// a whole object and another line follows, JSON otherwise. ok is false for other texts.
func FormOfJSON(head []byte) (format Format, ok bool) {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	inner := bytes.TrimLeft(head, "[{ \t\r\n")
	line, _, more := bytes.Cut(head, []byte("\n"))
	switch {
	case len(inner) == len(head), len(inner) > 0 && strings.IndexByte(`"]}`, inner[0]) < 0:
		return "", false
	case more && head[0] == '{' && json.Valid(line):
		return JSONL, true
	}
	return JSON, true
}

// firstNames returns the names of the members of the first object in a JSON text.
func firstNames(head []byte) (names []string) {
	start := bytes.IndexByte(head, '{')
	if start < 0 || len(bytes.Trim(head[:start], "[ \t\r\n")) > 0 {
		return nil
	}
	for key := range fields.Members(bytes.ReplaceAll(head[start:], []byte{'\n'}, []byte{' '})) {
		var name string
		if key != nil && json.Unmarshal(key, &name) == nil {
			names = append(names, name)
		}
	}
	return names
}
