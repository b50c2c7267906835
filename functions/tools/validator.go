package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/functions/tools/inputs"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
	"assay/shared/problem"
	"assay/shared/record"
)

// ValidatorInput has the files to check, and the format to check them for.
type ValidatorInput struct {
	Run       *inputs.RunReference   `json:"run,omitempty" doc:"a run to check"`
	Truth     *inputs.TruthReference `json:"truth,omitempty" doc:"instead of run: a truth to check"`
	DatasetID string                 `json:"datasetId,omitempty" maxLength:"26" doc:"with the files of a run: the dataset that it is for, whose kind and format it must have"`
	Kind      string                 `json:"kind,omitempty" enum:"retrieval,classification,regression" doc:"with the files of a run, instead of datasetId: what kind of evaluator is to read them; retrieval unless given, or guessed where no format is given either"`
	Format    *record.RunFormat      `json:"format,omitempty" doc:"with the files of a run, instead of datasetId: how they are written; guessed by the first lines unless given"`
}

// ValidatorOutput has the diagnostics of files.
type ValidatorOutput struct {
	Valid       bool                 `json:"valid" doc:"whether no diagnostic is an error, so that the files can be evaluated; what depends on other files, such as topics without judgments, is not checked"`
	Of          string               `json:"of" enum:"run,truth"`
	Kind        measure.Kind         `json:"kind" enum:"retrieval,classification,regression" doc:"of the evaluator that read them"`
	Format      record.RunFormat     `json:"format" doc:"how runs, and the labels or values of a truth, are written; relevance judgments are always TREC qrels"`
	Guess       string               `json:"guess,omitempty" doc:"when kind and format were guessed: why, and what to give if they are wrong"`
	Files       []string             `json:"files" doc:"names of what was read"`
	Diagnostics []measure.Diagnostic `json:"diagnostics" doc:"what was noticed, by file and line; up to 100, errors before warnings; where there are 100, the files may have more"`
}

var validatorTool = define(metadata{
	name: "validator", kind: "inspection", problems: truthProblems, summary: "Check a run or a truth",
	description: "Reads the files of a run as they would be read for evaluation, or those of a truth, and says what is wrong with them, " +
		"line by line. Without `datasetId` and `format`, the format is guessed by the first lines, and `guess` says so. A run is never " +
		"compared with a truth: all who see a dataset can check a run for it, by `datasetId`, before submitting it. It is then compared with " +
		"the ids of topics, documents or items in the inputs of the dataset. A valid run can still fail: when it has no prediction for an " +
		"item of the truth, or nothing in it occurs there.\n\n" +
		"Files with errors are an answer with `valid` false, and no problem.",
}, ValidatorInput{
	Run: &inputs.RunReference{
		Files: []inputs.InlineFile{{Name: "run.txt", Text: "1 Q0 lake 1 3.0 mine\n1 Q0 pond 2 high mine\n1 Q0 lake 3 1.0 mine\n2 Q0 lake\n"}}},
}, func(ctx context.Context, resolver *inputs.Resolver, in ValidatorInput) (compute[ValidatorOutput], error) {
	var settings evaluator.Settings
	var guessed string
	var files, published []evaluator.File
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Truth != nil {
		ref := *in.Truth
		guesses := ref.DatasetID == "" && ref.Format == nil
		if guesses {
			ref.Kind = "" // which the format that is guessed has to go with
		}
		truth, err := resolver.Truth(ctx, "/truth", ref)
		if err != nil {
			return nil, err
		}
		if settings, files = truth.Settings, truth.Files(); guesses {
			if settings, guessed, err = detectSettings(in.Truth.Kind, files, "TREC qrels"); err != nil {
				return nil, err
			}
		}
		settings.Measures = defaultMeasures[settings.Kind] // which they are makes no difference to what is an error
	} else {
		run, err := resolver.Run(ctx, "/run", *in.Run)
		if err != nil {
			return nil, err
		}
		files = run.Files()
		switch {
		case run.ID != "":
			settings, err = resolver.SettingsOfRun(ctx, run)
		case in.DatasetID != "":
			settings, published, err = resolver.SettingsOf(ctx, in.DatasetID)
		case in.Format != nil:
			settings, err = inputs.Settings("", in.Kind, in.Format)
		default:
			settings, guessed, err = detectSettings(in.Kind, files, "a TREC run")
		}
		if err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (ValidatorOutput, error) {
		out := ValidatorOutput{
			Of: "run", Kind: settings.Kind, Format: record.RunFormat(settings.Format), Guess: guessed,
			Files: lists.Map(files, func(f evaluator.File) string { return f.Name }),
		}
		var found []measure.Diagnostic
		var err error
		if in.Truth != nil {
			out.Of = "truth"
			_, found, err = evaluator.ReadTruth(ctx, settings, files)
		} else {
			var known *evaluator.Known
			if known, err = evaluator.ReadInputs(ctx, settings.Kind, settings.Format, published); err == nil {
				found, err = evaluator.ValidateRun(ctx, settings.Kind, settings.Format, files, known)
			}
		}
		out.Valid, out.Diagnostics = !measure.HasErrors(found), record.Disclosed(found)
		return out, err
	}, nil
})

// check reports members of the input that contradict each other.
func (in *ValidatorInput) check() error {
	var fields problem.Fields
	fields.AddIf((in.Run == nil) == (in.Truth == nil), "", "give either run or truth: one of them is checked")
	stored := in.Run != nil && in.Run.RunID != ""
	for _, m := range []struct {
		pointer string
		given   bool
	}{{"/datasetId", in.DatasetID != ""}, {"/kind", in.Kind != ""}, {"/format", in.Format != nil}} {
		switch {
		case m.given && in.Truth != nil:
			fields.Add(m.pointer, "goes with a run: what is to be said of a truth stands in /truth")
		case m.given && stored:
			fields.Add(m.pointer, "goes with files: the run has the kind and the format of its dataset")
		case m.given && in.DatasetID != "" && m.pointer != "/datasetId":
			fields.Add(m.pointer, "is what the dataset says: leave it or datasetId out")
		}
	}
	return problem.Check(fields)
}

// detectionBytes is how many bytes of a file are looked at for its format.
const detectionBytes = 64 << 10

// Names that the fields of files usually have, in the order in which they are looked for.
var (
	idNames    = []string{"id", "_id", "uid", "example", "item", "docid", "doc_id", "qid"}
	valueNames = []string{"label", "prediction", "predicted", "class", "value", "score", "y", "output", "answer"}
)

// detectSettings returns how the files of a run or truth are read that say nothing of it, by the first lines of the first, and a sentence
// that says so. The kind is one that was given, or empty; retrieval leaves nothing to guess. What is in the format of TREC is called trec.
func detectSettings(kind string, files []evaluator.File, trec string) (evaluator.Settings, string, error) {
	r, err := files[0].Open()
	if err != nil {
		return evaluator.Settings{}, "", err
	}
	defer func() { _ = r.Close() }()
	var head []byte
	if text, err := lines.Unpack(r, lines.StandardExpansion); err == nil {
		head, _ = io.ReadAll(io.LimitReader(text, detectionBytes)) // what is wrong with it, checking it says
	}
	format, value, because := detectFormat(kind, bytes.TrimSpace(head))
	switch {
	case kind == string(measure.Retrieval):
		s, err := inputs.Settings("", kind, nil)
		return s, "", err
	case format.Kind == measure.TRECRun:
		s, err := inputs.Settings("", kind, nil)
		because = cmp.Or(because, "The file does not begin as JSON lines or CSV do")
		return s, "Neither a dataset nor a format was given. " + because + ", so it was read as " + trec +
			". Give datasetId or format if it is something else.", err
	}
	if kind == "" {
		kind = string(measure.Classification)
		if _, err := strconv.ParseFloat(value, 64); err == nil && strings.ContainsAny(value, ".eE") {
			kind = string(measure.Regression)
		}
	}
	s, err := inputs.Settings("", kind, &format)
	return s, fmt.Sprintf("Neither a dataset nor a format was given. %s, so the file was read as %s for %s, with the id in %q and the value "+
		"in %q. Give datasetId, or format and kind, if it is something else.",
		because, format.Kind, kind, format.IDField, format.ValueField), err
}

// commentLines are the lines at the start of a file of TREC that are none of its lines.
var commentLines = regexp.MustCompile(`^(#[^\n]*\n\s*)+`)

// detectFormat returns the format of a text of the kind, if one was given, that begins so, the first value in it, and why.
func detectFormat(kind string, head []byte) (record.RunFormat, string, string) {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var object map[string]any // the first values by the names of their fields
	var names []string
	format, because := "jsonl", "The first line is a JSON object"
	if isArray(head) {
		return record.RunFormat{Kind: format, IDField: "id", ValueField: "value"}, "",
			"The file begins with a JSON array, where JSON lines have one object in each line"
	}
	if json.Unmarshal(first, &object) == nil && len(object) > 1 {
		for key := range fields.Members(first) { // in the order of the line
			var name string
			if json.Unmarshal(key, &name) == nil && !slices.Contains(names, name) && object[name] != nil {
				names = append(names, name)
			}
		}
	} else {
		format, object = "csv", map[string]any{}
		names, because = readHeader(head, first, object)
	}
	id, value, ok := chooseFields(names)
	switch {
	case kind == "" && areRankingFields(names):
		because = "Its fields look like those of retrieval, of which only the formats of TREC are evaluated (the tool converter writes them)"
	case ok:
		return record.RunFormat{Kind: format, IDField: id, ValueField: value}, fmt.Sprint(object[value]), because
	default:
		because = ""
	}
	return record.RunFormat{Kind: measure.TRECRun}, "", because
}

// readHeader returns the names in the first line of what may be CSV, and what separates them, and puts the first values into object.
func readHeader(head, first []byte, object map[string]any) (names []string, because string) {
	line, _, _ := bytes.Cut(commentLines.ReplaceAll(head, nil), []byte("\n"))
	columns := bytes.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	trec := len(columns) > 1 && bytes.EqualFold(columns[1], []byte("Q0")) // whose ids can have commas
	rows, by := csv.NewReader(bytes.NewReader(head)), "commas"
	if bytes.ContainsRune(first, '\t') && !bytes.ContainsRune(first, ',') {
		rows.Comma, by = '\t', "tabs"
		trec = trec || slices.ContainsFunc(bytes.Fields(first), func(name []byte) bool { // no header
			_, err := strconv.ParseFloat(string(name), 64)
			return err == nil
		})
	}
	header, err := rows.Read()
	if err != nil || len(header) < 2 || trec {
		return nil, ""
	}
	values, _ := rows.Read()
	for i := range min(len(header), len(values)) {
		object[header[i]] = values[i]
	}
	return header, "The first line has names separated by " + by
}

// isArray reports whether a text begins with a JSON array: alone, on a line of its own, or cut short.
func isArray(head []byte) bool {
	var array []json.RawMessage
	d := json.NewDecoder(bytes.NewReader(head))
	err := d.Decode(&array)
	after, _, _ := bytes.Cut(head[d.InputOffset():], []byte("\n"))
	return bytes.HasPrefix(head, []byte("[")) && (err == nil && len(bytes.TrimSpace(after)) == 0 || errors.Is(err, io.ErrUnexpectedEOF))
}

// rankingFieldNames are what the fields of a ranking or of relevance judgments usually are: its topics, documents, and ranks, scores or
// grades.
var rankingFieldNames = [][]string{
	{"topic", "topic_id", "qid", "query", "query_id", "query-id"}, {"docid", "doc_id", "docno", "document", "corpus-id"},
	{"rank", "score", "grade", "relevance"},
}

// areRankingFields reports whether the names of fields are those of a ranking or of relevance judgments.
func areRankingFields(names []string) bool {
	return !slices.ContainsFunc(rankingFieldNames, func(usual []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(usual, strings.ToLower(n)) })
	})
}

// maxFieldName is how many characters the names of fields in a record.RunFormat have at most.
const maxFieldName = 100

// chooseFields returns which of the names are of the id and of the value: usual ones, or else the first and the next that a
// format can have.
func chooseFields(names []string) (id, value string, ok bool) {
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
