// Package corpus finds the texts of documents and of queries in the input files of a retrieval dataset, and cuts and
// marks them for people. Runs name documents and queries by ids alone; a reader of a run wants to see the words.
// Nothing is evaluated with these texts, so files are read leniently: what cannot be read is left out and counted.
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
)

// File is an input file of a dataset by its name and the way to its content, which may be packed with gzip. Where a
// format does not distinguish documents from queries, those in a file with "quer" or "topic" in its name are queries.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// Wanted are the ids of documents and queries whose texts are asked for.
type Wanted struct {
	Documents, Queries []string
}

// Document is the text of a document: without markup of TREC, on one line, without control characters, and cut to
// MaxTitle and MaxText characters; Clipped says that something was cut off.
type Document struct {
	Title, Text string
	Clipped     bool
}

// Texts are the documents and queries that were found, by id. Of several with the same id, they have the first.
type Texts struct {
	Documents map[string]Document
	Queries   map[string]string // cut to MaxQuery characters, with an ellipsis where something was cut off
	// Files report on every file that was read, in the order of reading. A file is not read, and absent, when all that is
	// wanted was found before it.
	Files []FileReport
}

// FileReport counts the documents and queries of one file, as far as it was read.
type FileReport struct {
	Name               string
	Documents, Queries int // wanted or not
	// Fault says why the file was not read to its end, or has nothing to show; empty when there is no reason.
	Fault string
}

// Bounds of one Read. Lengths of texts are in characters.
const (
	MaxRead  = 512 << 20 // bytes of all files, once they are unpacked
	MaxLine  = 1 << 20   // bytes of a line; longer ones are skipped
	MaxTitle = 300
	MaxText  = 2000
	MaxQuery = 1000
)

// Read looks for what is wanted in the files, each of which is read at most once, and stops when all of it is found or
// MaxRead bytes are read. What is wrong with a file stands in Texts.Files; the error is about opening or reading a file
// or about the context, and what was found before it is returned with it.
//
// Read knows JSON lines as BEIR, Anserini, MS MARCO, ir_datasets and TIRA have them, the tab-separated files of MS MARCO
// (id and text; id, address, title and body), and documents and topics of TREC with their tags.
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

// queriesFirst orders files so that a large file of documents is left as soon as the last wanted document is found.
func queriesFirst(files []File) []File {
	queries := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return !namesQueries(f.Name) })
	others := slices.DeleteFunc(slices.Clone(files), func(f File) bool { return namesQueries(f.Name) })
	return slices.Concat(queries, others)
}

func namesQueries(file string) bool {
	name := strings.ToLower(path.Base(file))
	return strings.Contains(name, "quer") || strings.Contains(name, "topic")
}

// maxUnrecognized is how many lines a file may begin with that say nothing to us, before it is taken for something else, such
// as a run or a table.
const maxUnrecognized = 1000

var unknownFormat = fault(fmt.Sprintf("nothing in its first %d lines is a document or a query of a known format", maxUnrecognized))

// finder holds the ids that are still missing, the texts found, and where in the current file it stands.
type finder struct {
	documents, queries map[string]bool
	texts              Texts
	report             FileReport
	queryFile          bool
	block              block
	ids                *IDs // where all ids are wanted, and no texts
	cut                bool // not all ids of the current file are known
}

func (f *finder) done() bool { return f.ids == nil && len(f.documents) == 0 && len(f.queries) == 0 }

func (f *finder) read(ctx context.Context, l *limits, file File) error {
	opened, err := file.Open()
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read from
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
			f.report.Fault = "nothing in it is a document or a query of a known format"
		}
	default:
		return err
	}
	return nil
}

func (f *finder) empty() bool { return f.report.Documents == 0 && f.report.Queries == 0 }

// line takes one line for what it looks like, so that a file may have a few other lines anywhere.
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

// wantsDocument counts a document and says whether its text is asked for and not yet found.
func (f *finder) wantsDocument(id []byte) bool {
	f.report.Documents++
	if f.ids != nil {
		f.ids.addDocument(id)
	}
	return f.documents[string(id)]
}

// wantsQuery does the same for a query.
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

// readTSV reads a line of a tab-separated file: id and text, or id, address, title and body, unless it names them. Other numbers of fields,
// and four without an address, are those of qrels and runs.
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

// Bounds of one ReadIDs.
const (
	MaxIDRead   = 128 << 20 // bytes of all files, once they are unpacked
	MaxIDs      = 2_000_000 // documents, and topics
	bytesOfHash = 16        // about, with what the table takes
)

// IDs are the ids of documents and of queries that files have.
type IDs struct {
	Queries []string // as often as they occur; nil when not all are known

	documents map[uint64]struct{} // hashes of their ids; nil when not all are known
	seed      maphash.Seed
	size      int64
}

// ReadIDs reads all ids of documents and queries from the files that Read knows. What has too many bytes or ids, or cannot be read
// to its end, is left out wholly. The error is about opening or reading a file or about the context.
func ReadIDs(ctx context.Context, files ...File) (*IDs, error) {
	ids := &IDs{documents: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	f := finder{ids: ids}
	l := standard
	l.left, l.read = MaxIDRead, MaxIDRead
	queries, documents := true, true // whether all are known
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

// Documents reports whether a document is among those of the files; nil when they have none, or when not all are known.
func (i *IDs) Documents() func(id []byte) bool {
	if i.documents == nil {
		return nil
	}
	return func(id []byte) bool {
		_, ok := i.documents[maphash.Bytes(i.seed, id)]
		return ok
	}
}

// Bytes is about how much memory the ids take.
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
