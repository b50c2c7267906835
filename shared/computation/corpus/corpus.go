// Package corpus finds the texts of documents and queries in the input files of a retrieval dataset, and cuts passages from them. Runs name
// documents and queries only by ids, but readers of a run want to see their texts. Evaluators do not use these texts, so files are read
// leniently: lines that cannot be read are ignored.
package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"assay/shared/computation/measure/bounds"
)

// File is an input file of a dataset. Its content may be packed with gzip. If a format does not distinguish documents from queries, a file
// with "quer" or "topic" in its name has queries, and any other file has documents.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Wanted lists the ids of documents and queries whose texts are wanted.
type Wanted struct {
	Documents, Queries []string
}

// Document is the text of a document: without markup of TREC, on one line, without control characters, and cut to MaxTitle and MaxText
// characters. Clipped says that characters were cut off.
type Document struct {
	Title, Text string
	Clipped     bool
}

// Texts holds the documents and queries that were found, by id. If several have the same id, the first one counts.
type Texts struct {
	Documents map[string]Document
	Queries   map[string]string // cut to MaxQuery characters, with an ellipsis after a text that was cut
	// Files reports on every file that was read, in the order of reading. Files after the last wanted text are not read and have no report.
	Files []FileReport
}

// FileReport counts the documents and queries in the part of a file that was read.
type FileReport struct {
	Name               string
	Documents, Queries int // wanted or not
	// Fault says why the file was not read to its end, or that it has no texts. It is empty otherwise.
	Fault string
}

// Limits of one Read. Lengths of texts are in characters.
const (
	MaxRead  = bounds.Inputs    // bytes of all files after unpacking
	MaxLine  = bounds.InputLine // bytes of a line; longer lines are skipped
	MaxTitle = bounds.Title
	MaxText  = bounds.Passage
	MaxQuery = bounds.Query
)

// Read looks for the wanted texts in the files. It reads each file at most once, and stops when it has found all texts or has read MaxRead
// bytes. Texts.Files reports the faults of files. The error is about opening or reading a file or about the context. The texts that were
// found before an error are returned with it.
//
// Read knows the JSON lines of BEIR, Anserini, MS MARCO, ir_datasets and TIRA, the tab-separated files of MS MARCO (id and text; id,
// address, title and body), and TREC's documents and topics with tags.
func Read(ctx context.Context, wanted Wanted, files ...File) (Texts, error) {
	return read(ctx, standard, wanted, files)
}

func read(ctx context.Context, l limits, wanted Wanted, files []File) (Texts, error) {
	f := finder{
		documents: set(wanted.Documents),
		queries:   set(wanted.Queries),
		texts:     Texts{Documents: map[string]Document{}, Queries: map[string]string{}},
	}
	for _, file := range queriesFirst(files) {
		if f.done() {
			break
		}
		f.report = FileReport{Name: file.Name}
		f.queryFile = namesQueries(file.Name)
		err := f.read(ctx, &l, file)
		f.texts.Files = append(f.texts.Files, f.report)
		if err != nil {
			return f.texts, fmt.Errorf("read texts of %s: %w", file.Name, err)
		}
	}
	return f.texts, nil
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// queriesFirst moves files of queries to the front. Then reading can stop at the last wanted document of a large file.
func queriesFirst(files []File) []File {
	queries := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !namesQueries(f.Name) })
	others := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return namesQueries(f.Name) })
	return slices.Concat(queries, others)
}

func namesQueries(file string) bool {
	name := strings.ToLower(path.Base(file))
	return strings.Contains(name, "quer") || strings.Contains(name, "topic")
}

// maxUnrecognized is the number of unrecognized lines at the start of a file after which reading stops. The file is probably something
// else, such as a run or a table.
const maxUnrecognized = 1000

var unknownFormat = fault(fmt.Sprintf("the first %d lines have no document and no query of a known format", maxUnrecognized))

// finder reads files one after another, and looks for texts or for all ids.
type finder struct {
	documents, queries map[string]bool // ids whose texts are still missing
	texts              Texts
	report             FileReport // of the current file
	queryFile          bool       // the name of the current file says that it has queries
	block              block
	ids                *IDs // collects all ids; nil if texts are wanted
	cut                bool // some ids of the current file are unknown
}

func (f *finder) done() bool { return f.ids == nil && len(f.documents) == 0 && len(f.queries) == 0 }

func (f *finder) read(ctx context.Context, l *limits, file File) error {
	opened, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // closing after reading cannot lose data
	in, err := unpack(ctx, opened, l)
	f.block = block{kept: f.block.kept[:0]}
	for idle := 0; err == nil && !f.done(); {
		var line []byte
		if line, err = in.line(); err != nil {
			break
		}
		f.line(line)
		if f.empty() && f.block.tag == "" {
			idle++
		}
		if idle == maxUnrecognized {
			err = unknownFormat
		}
	}
	f.cut = f.cut || in.overlong
	reason, faulty := errors.AsType[fault](err)
	switch {
	case faulty:
		f.report.Fault = string(reason)
		f.cut = f.cut || reason != unknownFormat
	case errors.Is(err, io.EOF):
		f.closeBlock()
		if f.empty() {
			f.report.Fault = "the file has no document and no query of a known format"
		}
	default:
		return err
	}
	return nil
}

func (f *finder) empty() bool { return f.report.Documents == 0 && f.report.Queries == 0 }

// line recognizes the format of one line by its first character, so a file may have some lines of other formats anywhere.
func (f *finder) line(line []byte) {
	if f.block.tag != "" {
		f.readTREC(line)
		return
	}
	start := bytes.TrimLeft(line, " \t\r")
	switch {
	case len(start) == 0:
	case start[0] == '{':
		f.readJSON(start)
	case start[0] == '<':
		f.readTREC(start)
	default:
		f.readTSV(line)
	}
}

// wantsDocument counts a document, and reports whether its text is wanted and not found yet.
func (f *finder) wantsDocument(id []byte) bool {
	f.report.Documents++
	if f.ids != nil {
		f.ids.addDocument(id)
	}
	return f.documents[string(id)]
}

// wantsQuery counts a query, and reports whether its text is wanted and not found yet.
func (f *finder) wantsQuery(id []byte) bool {
	f.report.Queries++
	if f.ids != nil {
		f.ids.addQuery(id)
	}
	return f.queries[string(id)]
}

func (f *finder) addDocument(id, title, text string) {
	var d Document
	var cutTitle, cutText bool
	d.Title, cutTitle = plain(title, MaxTitle)
	d.Text, cutText = plain(text, MaxText)
	d.Clipped = cutTitle || cutText
	f.texts.Documents[id] = d
	delete(f.documents, id)
}

func (f *finder) addQuery(id, text string) {
	text, clipped := plain(text, MaxQuery)
	if clipped {
		text += "…"
	}
	f.texts.Queries[id] = text
	delete(f.queries, id)
}

var (
	tab    = []byte{'\t'}
	scheme = []byte("://")
)

// readTSV reads a line of a tab-separated file: id and text, or id, address, title and body. It ignores a header. It also ignores lines
// with another number of fields, or with four fields but no address, because they belong to qrels and runs.
func (f *finder) readTSV(line []byte) {
	id, rest, _ := bytes.Cut(line, tab)
	id = bytes.TrimSpace(id)
	fields := bytes.Count(rest, tab) + 1
	_, header := names[string(bytes.ToLower(id))]
	switch {
	case len(id) == 0 || len(rest) == 0 || header:
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
	}
}

// Limits of one ReadIDs.
const (
	MaxIDRead   = bounds.InputIDText // bytes of all files after unpacking
	MaxIDs      = bounds.InputIDs    // documents, and queries
	bytesOfHash = 16                 // estimated memory of a hash in the table
)

// IDs holds the ids of the documents and queries in files.
type IDs struct {
	Queries []string // may have duplicates; nil if some are unknown

	documents map[uint64]struct{} // hashes of the ids; nil if some are unknown
	seed      maphash.Seed
	size      int64
}

// ReadIDs reads all ids of documents and queries from files in the formats of Read. If files have too many bytes or ids, or cannot be read
// to their ends, it returns no ids of documents, no ids of queries, or neither. The error is about opening or reading a file or about the
// context.
func ReadIDs(ctx context.Context, files ...File) (*IDs, error) {
	ids := &IDs{documents: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	f := finder{ids: ids}
	l := standard
	l.left, l.read = MaxIDRead, MaxIDRead
	queries, documents := true, true // whether all ids are known
	for _, file := range queriesFirst(files) {
		f.report = FileReport{Name: file.Name}
		f.queryFile = namesQueries(file.Name)
		f.cut = false
		if err := f.read(ctx, &l, file); err != nil {
			return nil, fmt.Errorf("read ids of %s: %w", file.Name, err)
		}
		queries = queries && !(f.cut && (f.queryFile || f.report.Queries > 0))
		documents = documents && (!f.cut || f.queryFile)
	}
	if !queries || len(ids.Queries) > MaxIDs {
		ids.Queries = nil
	}
	if !documents || len(ids.documents) == 0 || len(ids.documents) > MaxIDs {
		ids.documents = nil
	}
	return ids, nil
}

// Documents returns a function that reports whether a document is in the files. It returns nil if the files have no documents, or if some
// are unknown.
func (i *IDs) Documents() func(id []byte) bool {
	if i.documents == nil {
		return nil
	}
	return func(id []byte) bool {
		_, ok := i.documents[maphash.Bytes(i.seed, id)]
		return ok
	}
}

// Bytes estimates the memory of the ids.
func (i *IDs) Bytes() int64 { return i.size + int64(len(i.documents))*bytesOfHash }

func (i *IDs) addDocument(id []byte) {
	if len(i.documents) <= MaxIDs {
		i.documents[maphash.Bytes(i.seed, id)] = struct{}{}
	}
}

func (i *IDs) addQuery(id []byte) {
	if len(i.Queries) <= MaxIDs {
		i.Queries = append(i.Queries, string(id))
		i.size += int64(len(id)) + bytesOfHash
	}
}
