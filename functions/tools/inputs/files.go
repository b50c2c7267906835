package inputs

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"

	"assay/shared/computation/corpus"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// RunReference names a run that the platform holds, or contains the files of a run.
type RunReference struct {
	RunID string       `json:"runId,omitempty" maxLength:"26" doc:"a run that the platform holds and whose results you may see" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	Name  string       `json:"name,omitempty" maxLength:"100" doc:"name of the run in the answer; default: its team and label, or the name of its file"`
	Files []InlineFile `json:"files,omitempty" maxItems:"20" doc:"instead of runId: the files of the run"`
}

// TruthReference names the dataset of a truth, or contains the files of a truth.
type TruthReference struct {
	DatasetID string            `json:"datasetId,omitempty" maxLength:"26" doc:"a dataset whose truth you may read, for example as an organizer"`
	Files     []InlineFile      `json:"files,omitempty" maxItems:"20" doc:"instead of datasetId: the files of the truth, such as qrels"`
	Kind      string            `json:"kind,omitempty" enum:"$evaluators" doc:"with files: the kind of evaluator that reads them; default retrieval"`
	Format    *record.RunFormat `json:"format,omitempty" doc:"with files: the format of the runs, and of the labels or values of the truth; default trec-run"`
}

// TextsReference names a dataset whose inputs have the texts of documents and queries, or contains files with these texts.
type TextsReference struct {
	DatasetID string       `json:"datasetId,omitempty" maxLength:"26" doc:"a dataset whose inputs have texts"`
	Files     []InlineFile `json:"files,omitempty" maxItems:"20" doc:"instead of datasetId: files with texts, as JSON lines with an id and a text, TSV or TREC"`
}

// InlineFile is a file that the request contains.
type InlineFile struct {
	Name    string `json:"name" minLength:"1" maxLength:"200" doc:"file name, which diagnostics repeat" example:"run.txt"`
	Text    string `json:"text,omitempty" maxLength:"3145728" doc:"content of the file as text; all files of a request together have up to 3 MiB" example:"1 Q0 lake 1 2.5 mine\n"`
	Content string `json:"content,omitempty" maxLength:"5242880" doc:"instead of text: the bytes in base64; they may be packed with gzip and unpack to up to 64 MiB" example:"MSBRMCBkMSAxIDIgbWluZQo="`
}

// checkReference reports a reference that has both an id and files, or neither.
func checkReference(pointer, member, id string, files []InlineFile) (fields problem.Fields) {
	fields.AddIf(id != "" && len(files) > 0, pointer, "has both %s and {files}: give one of them", problem.Member(member))
	fields.AddIf(id == "" && len(files) == 0, pointer, "needs %s or {files}", problem.Member(member))
	return fields
}

// bytes returns the content of the file and adds its errors to fields. The pointer leads to the file in the input.
func (f *InlineFile) bytes(pointer string, fields *problem.Fields) []byte {
	fields.AddIf(f.Text != "" && f.Content != "", pointer, "has both {text} and {content}: give one of them")
	fields.AddIf(f.Text == "" && f.Content == "", pointer, "is empty: give the file as {text}, or its bytes in base64 as {content}")
	if f.Text != "" {
		return []byte(f.Text)
	}
	content, err := base64.StdEncoding.DecodeString(f.Content)
	if err != nil {
		fields.Add(pointer+"/content", "must be base64 (RFC 4648 section 4, with padding): %v", err)
		return nil
	}
	return content
}

// decodeInline returns the files that the request contains in the form of stored files. They count against the bounds of the
// request.
func (resolver *Resolver) decodeInline(h record.Holder, pointer string, files []InlineFile) ([]scoring.File, error) {
	list := make([]scoring.File, len(files))
	var fields problem.Fields
	for i, f := range files {
		at := fmt.Sprintf("%s/%d", pointer, i)
		fields = append(fields, record.CheckLine(at+"/name", f.Name)...)
		taken := slices.ContainsFunc(files[:i], func(other InlineFile) bool { return other.Name == f.Name })
		fields.AddIf(taken, at+"/name", "is the name of a file before it: give it another, so that diagnostics can name either")
		content := f.bytes(at, &fields)
		resolver.inlineBytes += int64(len(content))
		list[i] = scoring.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
	}
	switch {
	case len(fields) > 0:
		return nil, problem.Check(fields)
	case resolver.inlineBytes > record.MaxInlineBytes:
		return nil, problem.TooLarge.New("The files in the request have more than %s together. Submit larger runs to a task and name "+
			"them by {runId}, or pack them with gzip.", problem.Size(record.MaxInlineBytes))
	}
	resolver.inline.add(h, list)
	return list, nil
}

// source holds files and their place in the input, so that problems can point to it.
type source struct {
	pointer string // to the reference
	inline  bool
	hidden  bool // the caller must not learn the content of the files
	files   []scoring.File
}

// Files returns the files to read.
func (s *source) Files() []scoring.File { return s.files }

// FilePointer returns the JSON pointer to the file of this name in the input. For stored files it returns the pointer to the
// reference.
func (s *source) FilePointer(name string) string {
	i := slices.IndexFunc(s.files, func(f scoring.File) bool { return f.Name == name })
	if !s.inline || i < 0 {
		return s.pointer
	}
	return fmt.Sprintf("%s/files/%d", s.pointer, i)
}

// CheckDiagnostics returns the problem of files that have errors. It returns nil if the diagnostics have no errors.
func (s *source) CheckDiagnostics(diagnostics []measure.Diagnostic) error {
	if s.hidden && measure.HasErrors(diagnostics) {
		return problem.InvalidMember(s.pointer, "cannot be read any more in the way it was evaluated: ask the organizers")
	}
	return problem.Check(record.Faults(diagnostics, s.FilePointer))
}

// readSource reads the files of a source. It reports their errors as problems of the caller's input.
func readSource[R any](ctx context.Context, s *source,
	read func(context.Context, ...measure.File) (R, []measure.Diagnostic, error)) (R, error) {
	files, done := scoring.Contents(s.files)
	defer done()
	result, diagnostics, err := read(ctx, files...)
	if err == nil {
		err = s.CheckDiagnostics(diagnostics)
	}
	return result, err
}

// Texts holds the files with the texts of documents and queries.
type Texts struct {
	source
	unseen string // why the caller gets no texts although the dataset could have some
}

// inputsForRegistrants says why a caller gets no texts from the inputs of a dataset.
const inputsForRegistrants = "Only accepted registrants of the task who have accepted its present terms read the inputs of the dataset, " +
	"so texts are not looked for"

// TextFault says why texts are missing from an answer.
type TextFault struct {
	File   string `json:"file,omitempty" doc:"the file that was searched; absent if the fault concerns all files"`
	Detail string `json:"detail" doc:"what is wrong, or what to do"`
}

// maxTextFaults bounds the faults of an answer.
const maxTextFaults = 5

// Find searches the files for texts. Nil Texts find nothing. A file of the request without usable texts is an error of the
// caller's input. Stored files belong to others: their faults are returned with the texts, and only if some wanted texts are
// missing.
func (t *Texts) Find(ctx context.Context, wanted corpus.Wanted) (corpus.Texts, []TextFault, error) {
	if t == nil {
		return corpus.Texts{}, nil, nil
	}
	if t.unseen != "" {
		return corpus.Texts{}, []TextFault{{Detail: t.unseen}}, nil
	}
	found, err := corpus.Read(ctx, wanted, t.files...)
	if err != nil {
		return found, nil, err
	}
	if !t.inline {
		return found, faults(wanted, found), nil
	}
	var fields problem.Fields
	for _, report := range found.Files {
		fields.AddIf(report.Fault != "", t.FilePointer(report.Name), "has no texts that can be shown: %s", report.Fault)
	}
	return found, nil, problem.Check(fields)
}

// faults returns the faults of stored files. It returns none if all wanted texts were found.
func faults(wanted corpus.Wanted, found corpus.Texts) (list []TextFault) {
	if len(found.Documents) >= len(wanted.Documents) && len(found.Queries) >= len(wanted.Queries) {
		return nil
	}
	for _, report := range found.Files {
		if report.Fault != "" && len(list) < maxTextFaults {
			list = append(list, TextFault{File: report.Name, Detail: report.Fault})
		}
	}
	return list
}

// Texts gathers the files with the texts of documents and queries. With a reference, which stands in the input at the pointer,
// these are the files that it names. Without a reference, they are the inputs of the dataset that all the runs are on, if the
// caller sees that dataset. Texts returns nil if there are no such files.
func (resolver *Resolver) Texts(ctx context.Context, pointer string, ref *TextsReference, runs []*Run) (*Texts, error) {
	t := &Texts{source: source{pointer: pointer}}
	id := commonDataset(runs)
	if ref != nil {
		if err := problem.Check(checkReference(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
			return nil, err
		}
		if len(ref.Files) > 0 {
			t.inline = true
			var err error
			t.files, err = resolver.decodeInline(record.HolderInputs, pointer+"/files", ref.Files)
			return t, err
		}
		id = ref.DatasetID
	}
	if id == "" {
		return nil, nil
	}
	d, err := resolver.dataset(ctx, pointer, id)
	if ref == nil && problem.NotFound.Is(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !d.item.ReadsInputs(d.roles) {
		resolver.addDependency("inputs for registrants")
		t.unseen = inputsForRegistrants
		return t, nil // the answer does not need the texts
	}
	var stored []record.File
	for _, f := range d.item.Inputs {
		if f.State == record.FileStored {
			stored = append(stored, f)
		}
	}
	if ref == nil && resolver.storedBytes+record.SizeOf(stored) > MaxStoredBytes {
		resolver.addDependency("inputs too large")
		t.unseen = fmt.Sprintf("The inputs of the dataset and the other files have more than %s together, so texts are not looked for",
			problem.Size(MaxStoredBytes))
		return t, nil // the answer does not need the texts
	}
	t.files, err = resolver.storedFiles(ctx, record.HolderInputs, id, stored)
	return t, err
}
