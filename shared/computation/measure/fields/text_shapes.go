package fields

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/lines"
)

// wordsOfText is the number of words from which on a line is a running text.
const wordsOfText = 4

// onlyTexts recognizes files with a running text in each line and no ids. At least half of the lines are such texts, and the first line
// names no field.
func onlyTexts(h head, e Expected) string {
	isName := func(word []byte) bool {
		return slices.ContainsFunc(e.Names, func(name string) bool { return strings.EqualFold(name, string(word)) })
	}
	names := bytes.FieldsFunc(h.lines[0], func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' })
	if e.Kind == measure.CoNLL || !isText(h.lines[0]) || slices.ContainsFunc(names, isName) {
		return ""
	}
	texts := 0
	for _, line := range h.lines {
		if isText(line) {
			texts++
		}
	}
	if 2*texts < len(h.lines) {
		return ""
	}
	return "one text a line without ids"
}

// isText reports whether a line is a running text and no record: it has words, and does not begin with a single word or number before a
// separator.
func isText(line []byte) bool {
	words := 0
	for word := range bytes.FieldsSeq(line) {
		if !bytes.ContainsFunc(word, unicode.IsDigit) && bytes.ContainsFunc(word, unicode.IsLetter) {
			words++
		}
	}
	first := line
	if at := bytes.IndexAny(line, ",;\t"); at >= 0 {
		first = line[:at]
	}
	return words >= wordsOfText && bytes.IndexByte(line, '\t') < 0 && !bytes.ContainsAny(line[:1], "{[\"'") && len(bytes.Fields(first)) > 1
}

// taggedLine matches a line with a token and its tag.
var taggedLine = regexp.MustCompile(`^\S+(\s.*)?\s(O|[BIESLU]-\S+)\s*$`)

// tagged recognizes tokens with tags of spans. The first line may be another one, such as names of fields. Two columns between tabs could
// be ids and labels, unless a blank line ends a sentence.
func tagged(h head, e Expected) string {
	all := h.lines
	if len(all) > 2 && !taggedLine.Match(all[0]) {
		all = all[1:]
	}
	spans := false
	for _, line := range all {
		tag := taggedLine.FindSubmatch(line)
		if e.Kind == measure.CoNLL || tag == nil {
			return ""
		}
		spans = spans || len(tag[2]) > 1
	}
	isSentences := bytes.Contains(h.text, []byte("\n\n")) || bytes.Contains(h.text, []byte("\n\r\n"))
	if !spans || !isSentences && bytes.IndexByte(all[0], '\t') >= 0 {
		return ""
	}
	return "CoNLL, with a token and its tag in each line and no ids"
}

// trecRun and trecQrels match lines of files in the format of TREC. The iteration of nearly all relevance judgments is 0.
var (
	trecRun   = all(`^\S+\s+[Qq]0\s+\S+\s+\S+\s+[-+.\dEe]+\s+\S+\s*$`, "a ranking in the format of TREC")
	trecQrels = all(`^\S+\s+(0|[Qq]0)\s+\S+\s+-?\d+\s*$`, "relevance judgments in the format of TREC")
)

// rankings recognizes rankings and relevance judgments in the format of TREC, where values of items are expected.
func rankings(h head, e Expected) string { return cmp.Or(trecRun(h, e), trecQrels(h, e)) }

// OfRankings says what a file of rankings or of relevance judgments in the format of TREC is, by its first lines. It returns "" for other
// files.
func OfRankings(text []byte) string {
	h := headOf(lines.FirstLines(text))
	if len(h.lines) == 0 {
		return ""
	}
	return rankings(h, Expected{})
}
