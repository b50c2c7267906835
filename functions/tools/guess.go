package tools

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/functions/tools/material"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/lines"
	"assay/shared/record"
)

// guessedFrom is how many bytes of a file are looked at for its format.
const guessedFrom = 64 << 10

// Names that the fields of files usually have, in the order in which they are looked for.
var (
	idNames    = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid"}
	valueNames = []string{"label", "prediction", "predicted", "class", "value", "score", "y", "output", "answer"}
)

// guess returns how the files of a run or truth are read that say nothing of it, by the first lines of the first, and a sentence
// that says so. The kind is one that was given, or empty; retrieval leaves nothing to guess. What is in the format of TREC is called trec.
func guess(kind string, files []evaluator.File, trec string) (evaluator.Settings, string, error) {
	r, err := files[0].Open()
	if err != nil {
		return evaluator.Settings{}, "", err
	}
	defer func() { _ = r.Close() }()
	var head []byte
	if text, err := lines.Unpack(r, lines.StandardExpansion); err == nil {
		head, _ = io.ReadAll(io.LimitReader(text, guessedFrom)) // what is wrong with it, checking it says
	}
	format, value, because := guessFormat(bytes.TrimSpace(head))
	switch {
	case kind == string(measure.Retrieval):
		s, err := material.Settings("", kind, nil)
		return s, "", err
	case format.Kind == evaluator.TRECRun:
		s, err := material.Settings("", kind, nil)
		return s, "Neither a dataset nor a format was given, and the file does not begin as JSON lines or CSV do, so it was read as " + trec + ". Give datasetId or format if it is something else.", err
	}
	if kind == "" {
		kind = string(measure.Classification)
		if _, err := strconv.ParseFloat(value, 64); err == nil && strings.ContainsAny(value, ".eE") {
			kind = string(measure.Regression)
		}
	}
	s, err := material.Settings("", kind, &format)
	return s, fmt.Sprintf("Neither a dataset nor a format was given. %s, so the file was read as %s for %s, with the id in %q and the value in %q. Give datasetId, or format and kind, if it is something else.",
		because, format.Kind, kind, format.IDField, format.ValueField), err
}

// comments are the lines at the start of a file of TREC that are none of its lines.
var comments = regexp.MustCompile(`^(#[^\n]*\n\s*)+`)

// guessFormat returns the format of a text that begins so, the first value in it, and why.
func guessFormat(head []byte) (record.RunFormat, string, string) {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var object map[string]any
	if json.Unmarshal(first, &object) == nil && len(object) > 1 {
		var names []string
		for d := json.NewDecoder(bytes.NewReader(first)); ; { // in the order of the line
			t, err := d.Token()
			if err != nil {
				break
			}
			if name, ok := t.(string); ok && !slices.Contains(names, name) && object[name] != nil {
				names = append(names, name)
			}
		}
		if id, value, ok := fieldsOf(names); ok {
			return record.RunFormat{Kind: "jsonl", IDField: id, ValueField: value}, fmt.Sprint(object[value]), "The first line is a JSON object"
		}
	}
	line, _, _ := bytes.Cut(comments.ReplaceAll(head, nil), []byte("\n"))
	columns := bytes.Fields(line)
	trec := len(columns) > 1 && bytes.EqualFold(columns[1], []byte("Q0")) // whose ids can have commas
	rows, by := csv.NewReader(bytes.NewReader(head)), "commas"
	if bytes.ContainsRune(first, '\t') && !bytes.ContainsRune(first, ',') {
		rows.Comma, by = '\t', "tabs"
		trec = trec || slices.ContainsFunc(bytes.Fields(first), func(name []byte) bool { // no header
			_, err := strconv.ParseFloat(string(name), 64)
			return err == nil
		})
	}
	if header, err := rows.Read(); err == nil && len(header) > 1 && !trec {
		if id, value, ok := fieldsOf(header); ok {
			example, _ := rows.Read()
			i := slices.Index(header, value)
			example = append(example, slices.Repeat([]string{""}, len(header))...)
			return record.RunFormat{Kind: "csv", IDField: id, ValueField: value}, example[i], "The first line has names separated by " + by
		}
	}
	return record.RunFormat{Kind: evaluator.TRECRun}, "", ""
}

// maxFieldName is how many characters the names of fields in a record.RunFormat have at most.
const maxFieldName = 100

// fieldsOf returns which of the names are of the id and of the value: usual ones, or else the first and the next that a
// format can have.
func fieldsOf(names []string) (id, value string, ok bool) {
	find := func(usual []string, but string) string {
		for _, u := range usual {
			if i := slices.IndexFunc(names, func(n string) bool { return n != but && strings.EqualFold(n, u) }); i >= 0 {
				return names[i]
			}
		}
		return ""
	}
	other := func(but string) string {
		i := slices.IndexFunc(names, func(n string) bool { return n != but && utf8.RuneCountInString(n) <= maxFieldName })
		if i < 0 {
			return ""
		}
		return names[i]
	}
	value = find(valueNames, "")
	id = cmp.Or(find(idNames, value), other(value))
	value = cmp.Or(value, other(id))
	return id, value, id != "" && value != ""
}
