package tools

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/functions/tools/material"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/record"
)

// guessedFrom is how many bytes of a file are looked at for its format.
const guessedFrom = 64 << 10

// Names that the fields of files usually have, in the order in which they are looked for.
var (
	idNames    = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid"}
	valueNames = []string{"label", "prediction", "predicted", "class", "value", "score", "y", "output", "answer"}
)

// guess returns how the files of a run are read that say nothing of it, by the first lines of the first, and a sentence that
// says so. The kind is one that was given, or empty.
func guess(kind string, files []evaluator.File) (evaluator.Settings, string, error) {
	r, err := files[0].Open()
	if err != nil {
		return evaluator.Settings{}, "", err
	}
	defer func() { _ = r.Close() }()
	head, err := io.ReadAll(io.LimitReader(r, guessedFrom))
	if err != nil {
		return evaluator.Settings{}, "", err
	}
	format, value, because := guessFormat(bytes.TrimPrefix(bytes.TrimSpace(head), []byte("\ufeff")))
	if format.Kind == evaluator.TRECRun || kind == string(measure.Retrieval) {
		s, err := material.Settings("", kind, nil)
		return s, "Neither a dataset nor a format was given, and the file does not begin as JSON lines or CSV do, so it was read as a TREC run. Give datasetId or format if it is something else.", err
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
	columns := bytes.Fields(first)
	trec := len(columns) > 1 && bytes.EqualFold(columns[1], []byte("Q0")) // whose ids can have commas
	rows := csv.NewReader(bytes.NewReader(head))
	if header, err := rows.Read(); err == nil && len(header) > 1 && !trec {
		if id, value, ok := fieldsOf(header); ok {
			example, _ := rows.Read()
			if i := slices.Index(header, value); i < len(example) {
				return record.RunFormat{Kind: "csv", IDField: id, ValueField: value}, example[i], "The first line has names separated by commas"
			}
			return record.RunFormat{Kind: "csv", IDField: id, ValueField: value}, "", "The first line has names separated by commas"
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
