package spans

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/lines"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
	"assay/shared/language/plural"
)

// sentences reads the sentences of a truth, of a run, or of inputs. Inputs have no tags, only tokens or other columns too. A run is
// compared with the tokens of a truth or of inputs while it is read.
type sentences struct {
	types  *types
	tags   []tag // by code
	codes  map[string]uint16
	checks []*scheme // the schemes that all tags must belong to
	report *measure.Report
	limits tokenLimits

	text      []byte     // if truth is nil: each token with a line feed, and another line feed after each sentence
	list      []uint16   // the codes of the tags
	ends      []uint32   // 0, and the end of each sentence in list
	truth     *sentences // for a run: the truth or inputs to compare with; may be nil
	at        int        // for a run: the compared length of truth.text
	areInputs bool
	columns   int  // for inputs: the columns of the last line
	parted    bool // for a run: it has other tokens than the truth
	lost      bool // for a run: a token cannot be read, so no later token is compared
}

type tokenLimits struct{ tokens, text int }

func newSentences(types *types, report *measure.Report) *sentences {
	return &sentences{types: types, tags: []tag{outside: {written: 'O', kind: -1}}, codes: map[string]uint16{"O": outside}, report: report,
		limits: tokenLimits{bounds.Tokens, bounds.TokenText}, ends: []uint32{0}}
}

// read reads files of sentences, one after another. It stops where a run has other tokens than the truth.
func (s *sentences) read(ctx context.Context, files []measure.File) error {
	if len(files) == 0 {
		s.report.Errorf("", 0, "there is no file; expected at least one")
	}
	for _, f := range files {
		if err := s.readFile(ctx, f); err != nil || s.parted || s.report.Failed() && s.truth != nil {
			return err
		}
	}
	if s.truth != nil && !s.report.Failed() && s.at < len(s.truth.text) {
		s.differs(files[len(files)-1].Name, 0, "the run ends after %d of the %s of %s; the next one is %s, %s", len(s.list),
			plural.Count(len(s.truth.list), "token"), s.truth.called(), fields.Quote(s.truth.next(s.at)), s.place())
	}
	return nil
}

func (s *sentences) readFile(ctx context.Context, f measure.File) error {
	before, found := len(s.list), len(s.report.Diagnostics())
	faults := s.report.Errors()
	in := lines.NewReader(ctx, f.Name, f.Content, s.report)
	var parts [bounds.Columns][]byte
	last := 0
	known := faults
	for ; in.Scan(); known = s.report.Errors() { // Scan reports faulty lines and skips them.
		s.lost = s.lost || s.report.Errors() > known
		last = in.Number()
		n := fields.Split(in.Text(), parts[:])
		if n > 0 && s.isComment(parts[:], n) {
			continue
		}
		if n == 0 || bytes.Equal(parts[0], docStart) {
			if !s.endSentence(f.Name, last) {
				return nil
			}
			continue
		}
		isFirst := len(s.list) == before && s.report.Errors() == faults
		if isFirst && !s.isTagged(parts[:], n) && s.refuseShape(in.Head(), f.Name) || !s.addLine(f.Name, last, in.Text(), parts[:], n) {
			return nil
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	if len(s.list) == before && len(s.report.Diagnostics()) == found {
		s.report.Errorf(f.Name, 0, "the file is empty or has no tokens; expected one for each line, with its tag")
	}
	s.endSentence(f.Name, last)
	return nil
}

// isTagged reports whether a line with n columns has a token and its tag. Lines of inputs need no tag.
func (s *sentences) isTagged(parts [][]byte, n int) bool {
	if n < 2 || n > len(parts) {
		return s.areInputs
	}
	_, _, isTag := parseTag(parts[n-1])
	return s.areInputs || isTag
}

// refuseShape reports that a file has a known shape that has no tokens. It returns false for other files.
func (s *sentences) refuseShape(head []byte, file string) bool {
	found := fields.ShapeOf(head, fields.Expected{Kind: measure.CoNLL})
	if found.Fault != "" {
		s.report.Errorf(file, 0, "%s", found.Fault)
	}
	return found.Fault != ""
}

// isComment reports whether a line with n columns is a comment: it begins with #, no token of the sentence is before it, and its last
// column is no tag. In inputs, which have no tags, it has another number of columns than the lines of tokens.
func (s *sentences) isComment(parts [][]byte, n int) bool {
	if parts[0][0] != '#' || uint32(len(s.list)) != s.ends[s.count()] {
		return false
	}
	if s.areInputs {
		return n > 1 && n != s.columns
	}
	_, _, isTag := parseTag(parts[min(n, len(parts))-1])
	return n > len(parts) || !isTag
}

// docStart is the token of lines that begin documents. These lines do not belong to a sentence.
var docStart = []byte("-DOCSTART-")

// addLine adds a line with a text of n columns. It returns false if reading on would report nothing new.
func (s *sentences) addLine(file string, line int, text []byte, parts [][]byte, n int) bool {
	token, fault := parts[0], ""
	switch {
	case n == 1 && !s.areInputs:
		fault = fmt.Sprintf("the line has one column, %s; expected a token in the first and its tag in the last, separated by spaces or tabs%s",
			fields.Quote(token), cmp.Or(lateComment(token), s.missingToken(token, text)))
	case n > len(parts):
		fault = fmt.Sprintf("the line has more than %d columns", len(parts))
	case s.areInputs && len(s.list) > 0 && n != s.columns:
		fault = fmt.Sprintf("the line has not %s, as those before it", plural.Count(s.columns, "column"))
	case len(token) > bounds.Name:
		fault = fmt.Sprintf("the token %s has %d bytes; expected at most %d", fields.Quote(token), len(token), bounds.Name)
	case len(s.list) >= s.limits.tokens:
		s.report.Errorf(file, line, "this is one token too many; expected at most %d", s.limits.tokens)
		return false
	case len(s.text)+len(token) > s.limits.text:
		s.report.Errorf(file, line, "the tokens up to here have more than %d bytes together", s.limits.text)
		return false
	}
	if fault != "" {
		s.report.Errorf(file, line, "%s", fault)
		s.lost = true
		return true
	}
	s.columns = n
	if s.areInputs {
		parts[n-1] = []byte{'O'}
	}
	code, known := s.codes[string(parts[n-1])]
	if !known {
		code, fault = s.addTag(file, line, parts[n-1])
		if fault != "" {
			s.report.Errorf(file, line, "%s%s", fault, lateComment(token))
		}
	}
	switch {
	case s.truth == nil:
		s.text = append(append(s.text, token...), '\n')
	case !s.lost:
		if expected := s.truth.next(s.at); !bytes.Equal(token, expected) {
			return s.part(file, line, "the token "+fields.Quote(token), expected, s.causeOf(token, expected))
		}
		s.at += len(token) + 1
	}
	s.list = append(s.list, code)
	return true
}

// missingToken returns a clause about a line that has only a tag, after a separator, which begins with a semicolon, or "". A run then goes
// on with the next token of the truth.
func (s *sentences) missingToken(tag, text []byte) string {
	_, _, isTag := parseTag(tag)
	if !isTag || text[0] != '\t' && text[0] != ' ' {
		return ""
	}
	if s.truth != nil {
		s.at += len(s.truth.next(s.at)) + 1
	}
	return "; the token before the tag is missing: pandas reads tokens such as NA and null as missing, unless read_csv has " +
		"keep_default_na=False"
}

// lateComment returns a clause for a fault of a line that may be a comment within a sentence, which begins with a semicolon, or "".
func lateComment(token []byte) string {
	if token[0] != '#' {
		return ""
	}
	return "; if the line is a comment, write it before the first token of the sentence"
}

// causeOf returns a clause about the likely cause of another token than the truth has, which begins with a semicolon, or "".
func (s *sentences) causeOf(token, expected []byte) string {
	if token[0] == '#' && len(expected) > 0 && uint32(len(s.list)) == s.ends[s.count()] {
		return "; if the line is a comment, it must not end with a tag such as O or B"
	}
	if s.truth.areNumbered() {
		return "; the likely cause: the first column of " + s.truth.called() + " has the numbers of the tokens, as in CoNLL-U, and not the tokens"
	}
	return mismatch.Explain(s.types.counter, []string{string(token)}, slices.Values([]string{string(expected)}))
}

// addTag adds a new tag and returns its code, or returns its fault.
func (s *sentences) addTag(file string, line int, text []byte) (code uint16, fault string) {
	written, kind, ok := parseTag(text)
	if !ok {
		quotes := ""
		if fields.IsQuoted(text) {
			quotes = fields.InQuotes
		}
		return 0, fmt.Sprintf("the last column is %s; expected the tag O, or B, I, E, S, L or U with a hyphen and a type, such as B-PER%s",
			fields.Quote(text), quotes)
	}
	t := tag{prefix: prefixOf[written], written: written}
	for _, of := range s.checks {
		if fault = of.fault(t); fault != "" {
			return 0, fault
		}
	}
	if t.kind, fault = s.types.code(kind, s.report, file, line); fault != "" {
		return 0, fault
	}
	code = uint16(len(s.tags))
	s.tags = append(s.tags, t)
	s.codes[string(text)] = code
	return code, ""
}

// endSentence ends the current sentence, if it has tokens. It returns false if the sentence of the truth goes on.
func (s *sentences) endSentence(file string, line int) bool {
	if uint32(len(s.list)) == s.ends[s.count()] {
		return true
	}
	switch {
	case s.truth == nil:
		s.text = append(s.text, '\n')
	case !s.lost:
		if expected := s.truth.next(s.at); len(expected) > 0 {
			return s.part(file, line, "the sentence ends", expected, "")
		}
		s.at++
	}
	s.ends = append(s.ends, uint32(len(s.list)))
	return true
}

// next returns the token of a truth at a place in its text. It is empty at the end of a sentence and of the text.
func (s *sentences) next(at int) []byte {
	end := bytes.IndexByte(s.text[at:], '\n')
	return s.text[at : at+max(end, 0)]
}

// part reports the first difference between the tokens of a run and the truth, and returns false. cause is a clause about its likely
// cause, which begins with a semicolon, or "".
func (s *sentences) part(file string, line int, found string, expected []byte, cause string) bool {
	wanted := "has the token " + fields.Quote(expected)
	switch {
	case s.at >= len(s.truth.text):
		wanted = "has no more tokens"
	case len(expected) == 0:
		wanted = "ends the sentence"
	}
	s.differs(file, line, "%s where %s %s, %s; expected the same tokens and empty lines, line for line%s", found, s.truth.called(), wanted,
		s.place(), cause)
	return false
}

// differs reports that a run has other tokens. For inputs it is a warning, because they may be other texts than the truth's. If even the
// first token differs, the file of inputs probably has no tokens, and nothing is reported.
func (s *sentences) differs(file string, line int, format string, args ...any) {
	s.parted = true
	if !s.truth.areInputs {
		s.report.Errorf(file, line, format, args...)
	} else if len(s.list) > 0 {
		s.report.Warnf(file, line, format, args...)
	}
}

// called names the truth or the inputs in messages.
func (s *sentences) called() string {
	if s.areInputs {
		return "the input of the dataset"
	}
	return "the truth"
}

// place names the next token in messages.
func (s *sentences) place() string {
	return fmt.Sprintf("at token %d of sentence %d", len(s.list)-int(s.ends[s.count()])+1, s.count()+1)
}

// count returns the number of sentences.
func (s *sentences) count() int { return len(s.ends) - 1 }

// sentence returns the codes of the tags of a sentence.
func (s *sentences) sentence(i int) []uint16 { return s.list[s.ends[i]:s.ends[i+1]] }

// documents returns the spans of the sentences of a truth and of a run.
func (s *sentences) documents(run *sentences) documents {
	var a, b []span
	return documents{
		count: s.count(), kinds: run.types.names,
		name: func(i int) string { return strconv.Itoa(i + 1) },
		at: func(counter *steps.Counter, scheme string, i int) (truth, predicted []span) {
			of := schemes[scheme]
			if counter.Add(len(s.sentence(i))+len(run.sentence(i))) != nil {
				return nil, nil
			}
			a = of.appendSpans(a[:0], s.sentence(i), s.tags)
			b = of.appendSpans(b[:0], run.sentence(i), run.tags)
			steps.SortFunc(counter, a, span.compare)
			steps.SortFunc(counter, b, span.compare)
			return a, b
		},
	}
}

func (s *sentences) bytes() int64 {
	return int64(cap(s.text) + 2*cap(s.list) + 4*cap(s.ends) + 8*len(s.tags) + s.types.bytes())
}

// readSentences reads a truth of tokens.
func readSentences(ctx context.Context, asked []measure.Measure, files []measure.File,
	report *measure.Report) (*measure.Reference, []string, error) {
	truth := newSentences(newTypes(ctx), report)
	for _, m := range asked {
		if of := schemes[m.Param("scheme")]; of.name != "" && !slices.Contains(truth.checks, of) {
			truth.checks = append(truth.checks, of)
		}
	}
	if err := truth.read(ctx, files); err != nil {
		return nil, nil, err
	}
	return newTruth(asked, truth.count(), len(truth.list), truth.bytes(), truth.contents, func(ctx context.Context, tokens, types bool,
		files []measure.File, report *measure.Report) (documents, error) {
		run := newSentences(truth.types.ofRun(ctx, types), report)
		run.checks = truth.checks
		if tokens {
			run.truth = truth
		}
		err := run.read(ctx, files)
		return truth.documents(run), cmp.Or(err, run.types.counter.Err())
	}), truth.types.names, nil
}

// KnownInput returns the tokens in a file of inputs, to compare runs with. It returns nil if the file is not a file of tokens.
func KnownInput(ctx context.Context, file measure.File) (*measure.Known, error) {
	var report measure.Report
	input := newSentences(newTypes(ctx), &report)
	input.areInputs = true
	if err := input.read(ctx, []measure.File{file}); err != nil || report.Failed() {
		return nil, err
	}
	return &measure.Known{Bytes: input.bytes(), Compare: func(ctx context.Context, files ...measure.File) ([]measure.Diagnostic, error) {
		var report measure.Report
		run := newSentences(newTypes(ctx), &report)
		run.truth = input
		err := run.read(ctx, files)
		return report.Diagnostics(), err
	}}, nil
}
