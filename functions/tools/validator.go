package tools

import (
	"cmp"
	"context"
	"fmt"

	"assay/functions/tools/conversion"
	"assay/functions/tools/detection"
	"assay/functions/tools/inputs"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// ValidatorInput holds the files to check, and the format to check them for.
type ValidatorInput struct {
	Run       *inputs.RunReference   `json:"run,omitempty" doc:"a run to check"`
	Truth     *inputs.TruthReference `json:"truth,omitempty" doc:"instead of run: a truth to check"`
	DatasetID string                 `json:"datasetId,omitempty" maxLength:"26" doc:"with the files of a run: the dataset whose kind and format the run must have"`
	Kind      string                 `json:"kind,omitempty" enum:"$evaluators" doc:"with the files of a run, instead of datasetId: the kind of evaluator that reads them; default retrieval, or guessed if format is absent too"`
	Format    *record.RunFormat      `json:"format,omitempty" doc:"with the files of a run, instead of datasetId: their format; by default guessed from the first lines"`
}

// ValidatorOutput holds the diagnostics of the files.
type ValidatorOutput struct {
	Valid       bool                 `json:"valid" doc:"whether the files can be evaluated: no diagnostic is an error. Errors that depend on other files, such as topics without judgments, are not checked"`
	Of          string               `json:"of" enum:"run,truth"`
	Kind        measure.Kind         `json:"kind" enum:"$evaluators" doc:"kind of the evaluator that read the files"`
	Format      record.RunFormat     `json:"format" doc:"format of runs, and of the labels or values of a truth; relevance judgments are always TREC qrels"`
	Guess       string               `json:"guess,omitempty" doc:"if kind and format were guessed: the reason, and the members to give if they are wrong"`
	Files       []string             `json:"files" doc:"names of the files"`
	Conversion  *ConversionSettings  `json:"conversion,omitempty" doc:"if the tool converter turns an invalid file into the expected format: its members. Send them with the file in qrels for relevance judgments, and in run for others"`
	Diagnostics []measure.Diagnostic `json:"diagnostics" doc:"errors and warnings, by file and line; up to 100, errors before warnings. Each stands for all lines with its fault"`
}

var validatorTool = define(metadata{
	name: "validator", kind: "inspection", problems: truthProblems, summary: "Check a run or a truth",
	description: "Reads the files of a run like the evaluation, or the files of a truth, and reports their errors line by line. Without " +
		"`datasetId` and `format`, the tool guesses the format from the first lines, and `guess` says so. It never compares a run with a " +
		"truth. Everybody who sees a dataset can therefore check a run for it, by `datasetId`, before submitting the run. The run is then " +
		"compared with the ids of topics, documents or items in the inputs of the dataset. A valid run can still fail in the evaluation: if " +
		"it has no prediction for an item of the truth, or if none of its ids occurs in the truth.\n\n" +
		"For files with errors the answer has `valid` false. It is not a problem document.",
}, ValidatorInput{
	Run: &inputs.RunReference{
		Files: []inputs.InlineFile{{Name: "run.txt", Text: "1 Q0 lake 1 3.0 mine\n1 Q0 pond 2 high mine\n1 Q0 lake 3 1.0 mine\n2 Q0 lake\n"}}},
}, func(ctx context.Context, resolver *inputs.Resolver, in ValidatorInput) (compute[ValidatorOutput], error) {
	var settings scoring.Settings
	var guessed string
	var files, published []scoring.File
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Truth != nil {
		ref := *in.Truth
		guesses := ref.DatasetID == "" && ref.Format == nil
		if guesses {
			ref.Kind = "" // detectSettings checks the kind against the guessed format
		}
		truth, err := resolver.Truth(ctx, "/truth", ref)
		if err != nil {
			return nil, err
		}
		settings, files = truth.Settings, truth.Files()
		if guesses {
			if settings, guessed, err = detectSettings(ctx, resolver, in.Truth.Kind, files, "TREC qrels"); err != nil {
				return nil, err
			}
		}
		settings.Measures = measure.EvaluatorOf(settings.Kind).Defaults // any measures do: errors in the files do not depend on them
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
			settings, guessed, err = detectSettings(ctx, resolver, in.Kind, files, "a TREC run")
		}
		if err != nil {
			return nil, err
		}
	}
	resolver.ReadAs(settings)
	return func(ctx context.Context) (ValidatorOutput, error) {
		out := ValidatorOutput{
			Of: "run", Kind: settings.Kind, Format: record.RunFormat(settings.Format), Guess: guessed,
			Files: lists.Map(files, func(f scoring.File) string { return f.Name }),
		}
		var found []measure.Diagnostic
		var err error
		if in.Truth != nil {
			out.Of = "truth"
			_, found, err = scoring.ReadTruth(ctx, settings, files)
		} else {
			var known *scoring.KnownIDs
			if known, err = scoring.ReadInputs(ctx, settings, published); err == nil {
				found, err = scoring.ValidateRun(ctx, settings, files, known)
			}
		}
		if err != nil {
			return out, err
		}
		out.Valid, out.Diagnostics = !measure.HasErrors(found), record.Disclosed(found)
		if !out.Valid && len(files) == 1 {
			out.Conversion, err = conversionOf(ctx, in.Truth != nil, settings, files[0])
		}
		return out, err
	}, nil
})

// conversionOf returns how to convert a file of another format or with other fields. It is nil if that does not help.
func conversionOf(ctx context.Context, ofTruth bool, s scoring.Settings, file scoring.File) (*ConversionSettings, error) {
	if !s.Kind.Ranks() {
		v, found, err := detection.ForeignValues(ctx, s.Kind, s.Format, false, file)
		if err != nil || v == nil || measure.HasErrors(found) {
			return nil, err
		}
		return &ConversionSettings{
			Kind:       string(s.Kind),
			From:       v.From.Kind,
			FromFields: fieldsOf(v.From),
			To:         v.To.Kind,
			ToFields:   fieldsOf(v.To),
		}, nil
	}
	kind := conversion.Runs
	if ofTruth {
		kind = conversion.Qrels
	}
	if ofTruth && s.Kind != measure.Retrieval { // The judgments of other rankings have subtopics, which are not converted.
		return nil, nil
	}
	_, from, ok, err := detection.ForeignRanking(kind, file)
	if err != nil || !ok {
		return nil, err
	}
	return &ConversionSettings{From: string(from), To: string(kind.Formats[0])}, nil
}

// check reports members of the input that contradict each other.
func (in *ValidatorInput) check() error {
	var fields problem.Fields
	fields.AddIf((in.Run == nil) == (in.Truth == nil), "", "give either {run} or {truth}: one of them is checked")
	stored := in.Run != nil && in.Run.RunID != ""
	for _, m := range []struct {
		pointer string
		given   bool
	}{{"/datasetId", in.DatasetID != ""}, {"/kind", in.Kind != ""}, {"/format", in.Format != nil}} {
		switch {
		case m.given && in.Truth != nil:
			fields.Add(m.pointer, "goes with a {run}: the members of {truth} describe a truth")
		case m.given && stored:
			fields.Add(m.pointer, "goes with {files}: the run has the kind and the format of its dataset")
		case m.given && in.DatasetID != "" && m.pointer != "/datasetId":
			fields.Add(m.pointer, "is set by the dataset: leave out this member or {datasetId}")
		}
	}
	return problem.Check(fields)
}

// detectSettings guesses how to read the files of a run or truth from the first lines of the first file. It also returns a
// sentence that says so. kind is the kind that the input gives, or empty. A kind of rankings leaves nothing to guess, so the
// sentence is empty. trec is the name of a file in the format of TREC in the sentence.
func detectSettings(ctx context.Context, resolver *inputs.Resolver, kind string, files []scoring.File, trec string) (scoring.Settings,
	string, error) {
	var guess detection.Guess
	err := resolver.Guess(ctx, files[0], func() (err error) {
		guess, err = detection.Of(measure.Kind(kind), files[0])
		return err
	})
	if err != nil {
		return scoring.Settings{}, "", err
	}
	if guess.Format.Kind == measure.TRECRun {
		s, err := inputs.Settings("", kind, nil)
		if measure.Kind(kind).Ranks() {
			return s, "", err
		}
		return s, "Neither a dataset nor a format was given. " + cmp.Or(guess.Because, "The file does not begin as JSON lines or CSV do") +
			", so it was read as " + trec + ". Give datasetId or format if it is something else.", err
	}
	format := record.RunFormat(guess.Format)
	s, err := inputs.Settings("", string(guess.Kind), &format)
	if !measure.HasFields(format.Kind) {
		return s, fmt.Sprintf("Neither a dataset nor a format was given. %s, so the file was read as %s for %s. Give datasetId, or format and "+
			"kind, if it is something else.", guess.Because, format.Kind, guess.Kind), err
	}
	return s, fmt.Sprintf("Neither a dataset nor a format was given. %s, so the file was read as %s for %s, with the id in %q and the value "+
		"in %q. Give datasetId, or format and kind, if it is something else.",
		guess.Because, format.Kind, guess.Kind, format.IDField, format.ValueField), err
}
