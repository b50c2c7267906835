package conversion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/steps"

	"github.com/go-json-experiment/json/jsontext"
)

// perValue is the number of steps of a value in a JSON file.
const perValue = 100

// boundedText reads a JSON file, and counts a step for each byte. It refuses a single value of more than bounds.ValueLine bytes, which the
// decoder would keep in memory.
type boundedText struct {
	text    io.Reader
	counter *steps.Counter
	decoder *jsontext.Decoder
	read    int64
}

// Read implements io.Reader.
func (b *boundedText) Read(p []byte) (int, error) {
	if b.read-b.decoder.InputOffset() > bounds.ValueLine {
		return 0, lines.Refusal(fmt.Sprintf("a name or value of the file is longer than %d bytes", bounds.ValueLine))
	}
	n, err := b.text.Read(p[:min(len(p), 64<<10)])
	b.read += int64(n)
	if stopped := b.counter.Add(n); stopped != nil {
		return 0, stopped
	}
	return n, err
}

// readJSON reads a file that is one JSON value: an object with the documents of each topic, or a list of objects. It returns only errors of
// the reader and of the context.
func (r *reader) readJSON(ctx context.Context, packed io.Reader) error {
	counter := steps.Of(ctx)
	return r.readDocument(ctx, packed, func(d *jsontext.Decoder) error {
		if d.PeekKind() == '[' {
			return r.readObjects(counter, d)
		}
		return r.readTopics(counter, d)
	})
}

// readDocument reads a file that is one JSON object or array. read reads this value.
func (r *reader) readDocument(ctx context.Context, packed io.Reader, read func(*jsontext.Decoder) error) error {
	text, err := lines.Unpack(packed, lines.StandardExpansion)
	if err != nil {
		return r.unread(nil, err)
	}
	bounded := &boundedText{text: text, counter: steps.Of(ctx)}
	d := jsontext.NewDecoder(bounded, jsontext.AllowDuplicateNames(true))
	bounded.decoder = d
	switch d.PeekKind() {
	case '{', '[':
		err = read(d)
	default:
		if _, err = d.ReadToken(); err == nil {
			r.errorf(0, "the file is not one JSON object or array; expected an object with the documents of each topic, or an array of objects")
		}
	}
	r.where = ""
	if errors.Is(err, io.EOF) && d.InputOffset() == 0 {
		return nil // expectLines reports an empty file
	}
	return r.unread(d, err)
}

// unread reports the error of a file that cannot be read on, unless it is an error of the reader or the context, which it returns.
func (r *reader) unread(d *jsontext.Decoder, err error) error {
	refusal, refused := errors.AsType[lines.Refusal](err)
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil:
		return nil
	case refused:
		r.errorf(0, "%s", refusal)
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.errorf(0, "the file ends within its JSON text; it was probably cut short, so write it again")
	case invalid:
		r.errorf(0, "the file is not valid JSON at byte %d: %v%s", d.InputOffset(), syntax.Err, notationHint(syntax.Err))
	default:
		return err
	}
	return nil
}

// notationHints name the likely cause of an invalid character, in clauses that begin with a semicolon.
var notationHints = []struct{ characters, hint string }{
	{"N", "; JSON has no NaN and no Infinity, and null instead of None"},
	{"Ii", "; JSON has no NaN and no Infinity"},
	{"\u201c\u201d\u201e", "; JSON has straight double quotes, and not those of a word processor"},
	{"'", "; JSON has double quotes, so write it with json.dump and not with print or str"},
	{"TF", "; JSON has null, true and false: write it with json.dump"},
}

// invalidCharacter matches the character that a fault of JSON names.
var invalidCharacter = regexp.MustCompile(`invalid character '\\?(.)'`)

// notationHint names the likely cause of a fault of JSON, or returns "".
func notationHint(fault error) string {
	named := invalidCharacter.FindStringSubmatch(fault.Error())
	if named == nil || !strings.Contains(fault.Error(), "start of") {
		return ""
	}
	for _, n := range notationHints {
		if strings.Contains(n.characters, named[1]) {
			return n.hint
		}
	}
	return ""
}

// readTopics reads an object that has an object for each topic, with the score or grade of each document. In the place of the object, runs
// may have a list of the documents in the order of their ranks.
func (r *reader) readTopics(counter *steps.Counter, d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		topic := []byte(name.String())
		r.where = "topic " + fields.Quote(topic) + ": "
		switch kind := d.PeekKind(); {
		case kind == '{':
			err = r.readScores(counter, d, topic)
		case kind == '[' && r.kind == Runs:
			err = r.readRanks(counter, d, topic)
		default:
			err = d.SkipValue()
			if err == nil {
				r.errorf(0, "expected an object with the %s of each document, such as {\"doc1\": 1}", r.kind.columns[lastOfBoth].name)
			}
		}
		if err != nil || r.out.err != nil || r.report.Full() {
			return err
		}
	}
	return r.end(d)
}

// readScores reads an object with the score or grade of each document of a topic.
func (r *reader) readScores(counter *steps.Counter, d *jsontext.Decoder, topic []byte) error {
	document := docOfRun
	if r.kind == Qrels {
		document = docOfQrels
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		r.begin()
		r.values[0] = topic
		r.values[document] = []byte(name.String())
		number, err := readScalar(d) // A text may be a number, as in CSV.
		if err != nil {
			return err
		}
		r.values[lastOfBoth] = number
		if number == nil {
			r.errorf(0, "the %s of %s is not a number", r.kind.columns[lastOfBoth].name, fields.Quote(r.values[document]))
		} else if !r.accept(0) {
			return nil
		}
		if err := counter.Add(perValue); err != nil || r.report.Full() {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// readRanks reads a list of the documents of a topic, in the order of their ranks.
func (r *reader) readRanks(counter *steps.Counter, d *jsontext.Decoder, topic []byte) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for n := 1; d.PeekKind() != ']'; n++ {
		document, err := readScalar(d)
		if err != nil {
			return err
		}
		r.begin()
		r.values[0] = topic
		r.values[docOfRun] = document
		r.values[rankOfRun] = strconv.AppendInt(nil, int64(n), 10)
		if document == nil {
			r.errorf(0, "document %d of the list is no string and no number; expected the id of the document", n)
		} else if !r.accept(0) {
			return nil
		}
		if err := counter.Add(perValue); err != nil || r.report.Full() {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// readScalar returns the text of a string or a number. It skips any other value, and returns nil for it.
func readScalar(d *jsontext.Decoder) ([]byte, error) {
	if kind := d.PeekKind(); kind != '"' && kind != '0' {
		return nil, d.SkipValue()
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	return []byte(token.String()), nil
}

// end reads the end of the file's value, and expects nothing after it.
func (r *reader) end(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	r.where = ""
	if _, err := d.ReadToken(); err == nil {
		r.errorf(0, "text follows the JSON value of the file; if each line is an object, the format is jsonl")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// readObjects reads an array of objects with the members of jsonl.
func (r *reader) readObjects(counter *steps.Counter, d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for n := 1; d.PeekKind() != ']'; n++ {
		r.where = fmt.Sprintf("object %d of the array: ", n)
		fault, err := r.readObject(d)
		if err != nil {
			return err
		}
		if fault != "" {
			r.errorf(0, "%s", fault)
		} else if !r.accept(0) {
			return nil
		}
		if err := counter.Add(perValue); err != nil || r.report.Full() {
			return err
		}
	}
	return r.end(d)
}

// readObject reads an object, and returns the first fault. It skips other values.
func (r *reader) readObject(d *jsontext.Decoder) (fault string, err error) {
	if d.PeekKind() != '{' {
		return "it is no object; expected one with " + r.kind.names(", "), d.SkipValue()
	}
	r.begin()
	fault, err = r.readMembers(d)
	if fault == "" && err == nil {
		fault = r.incomplete()
	}
	return fault, err
}

// readMembers reads the members of an object, and returns the first fault.
func (r *reader) readMembers(d *jsontext.Decoder) (fault string, err error) {
	if _, err := d.ReadToken(); err != nil {
		return "", err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return "", err
		}
		key := name.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return "", err
		}
		if fault == "" {
			fault = r.member(0, key, value.Clone())
		}
	}
	_, err = d.ReadToken()
	return fault, err
}
