package tools

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"assay/functions/tools/conversion"
	"assay/functions/tools/detection"
	"assay/functions/tools/inputs"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// ConverterInput holds the files to convert, and the target format.
type ConverterInput struct {
	Run   *inputs.RunReference `json:"run,omitempty" doc:"a run to convert, or with kind, any files of values"`
	Qrels *QrelsReference      `json:"qrels,omitempty" doc:"instead of run: relevance judgments to convert"`
	ConversionSettings
}

// ConversionSettings says how to convert files.
type ConversionSettings struct {
	Kind       string            `json:"kind,omitempty" enum:"$evaluators" doc:"with the files of a run: the kind of evaluator that reads them; default retrieval. Spans are not converted"`
	From       string            `json:"from,omitempty" enum:"trec-run,trec-qrels,jsonl,csv,beir,msmarco,json" doc:"the format of the files: trec-run, jsonl, csv, msmarco or json of runs, trec-qrels, jsonl, csv, beir, msmarco or json of judgments, csv, jsonl or json of values; by default recognized by the first lines, or the format of the stored files"`
	FromFields *ConversionFields `json:"fromFields,omitempty" doc:"of values: the fields of the files; by default recognized"`
	To         string            `json:"to" enum:"trec-run,trec-qrels,jsonl,csv,beir" doc:"the format to write"`
	ToFields   *ConversionFields `json:"toFields,omitempty" doc:"of values: the fields to write; by default id, and the usual name of the value for the kind"`
}

// ConversionFields names the fields of files of values.
type ConversionFields struct {
	IDField    string `json:"idField,omitempty" maxLength:"200" doc:"name of the field with the id" example:"id"`
	ValueField string `json:"valueField,omitempty" maxLength:"200" doc:"name of the field with the value" example:"label"`
	Separator  string `json:"separator,omitempty" maxLength:"8" doc:"for multilabel in csv: the text between labels; default |"`
}

// QrelsReference names the dataset of relevance judgments, or contains the files of judgments.
type QrelsReference struct {
	DatasetID string              `json:"datasetId,omitempty" maxLength:"26" doc:"a dataset of retrieval whose truth you may read, for example as an organizer"`
	Files     []inputs.InlineFile `json:"files,omitempty" maxItems:"20" doc:"instead of datasetId: the files of the judgments"`
}

// ConverterOutput holds the file that was written.
type ConverterOutput struct {
	From        string               `json:"from"`
	To          string               `json:"to"`
	FromFields  *ConversionFields    `json:"fromFields,omitempty" doc:"of values: the fields that were read"`
	ToFields    *ConversionFields    `json:"toFields,omitempty" doc:"of values: the fields that were written"`
	File        *FileResult          `json:"file" doc:"the files in the format of to"`
	Diagnostics []measure.Diagnostic `json:"diagnostics" doc:"warnings, for example about fields that the target format lacks"`
}

func (o ConverterOutput) file() *FileResult { return o.File }

// fileTypes holds the ending of file names and the media type of each format. JSON Lines has no registered media type.
var fileTypes = map[conversion.Format]struct{ ending, mediaType string }{
	conversion.TRECRun:   {".txt", mediaText},
	conversion.TRECQrels: {".txt", mediaText},
	conversion.JSONL:     {".jsonl", mediaText},
	conversion.CSV:       {".csv", mediaCSV},
	conversion.BEIR:      {".tsv", mediaTSV},
}

// convertible is a run or a ground truth whose files are converted.
type convertible interface {
	Files() []scoring.File
	CheckDiagnostics([]measure.Diagnostic) error
}

// conversionSource is the input of a conversion.
type conversionSource struct {
	member           string // name of the input, and of the file
	source           convertible
	sources, formats []conversion.Format
	from, to         conversion.Format
	values           *conversion.Values // nil for rankings and judgments
	ranking          *conversion.Kind   // nil for values
}

var converterTool = define(metadata{
	name: "converter", kind: "transformation", problems: append(truthProblems, fileProblems...),
	summary: "Convert a run, relevance judgments, labels, numbers or texts into another format",
	description: "Runs are written as `trec-run`, `jsonl` or `csv`, with the fields topic, docid, rank, score and tag; relevance judgments " +
		"as `trec-qrels`, `jsonl` or `csv`, with the fields topic, iteration, docid and grade, or as `beir`. The names of fields that other " +
		"programs use, such as qid, docno and relevance, are read too, and so are the columns of `msmarco` and, as `json`, the dictionaries of " +
		"pytrec_eval and ranx. With `kind`, files of values such as labels, numbers, scores or texts are read from `csv`, `jsonl` or `json`, " +
		"which is one array of objects or one object with the value of each id, and written as `csv` or `jsonl` with the fields of `toFields`. " +
		"Lines keep their order, and scores their digits. Fields do not change, so a spreadsheet may read an id as a formula. Several files " +
		"become one.\n\n" +
		"`file` has the converted file. `content` has up to 3 MiB. A larger file is behind the link in `url`, which works for half an hour; " +
		"creating it requires a login. With its media type in `Accept`, or with `text/plain`, the answer is the file itself or a redirect to it.",
}, ConverterInput{
	Qrels: &QrelsReference{Files: []inputs.InlineFile{
		{Name: "qrels.txt", Text: "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"},
	}},
	ConversionSettings: ConversionSettings{To: string(conversion.BEIR)},
}, func(ctx context.Context, resolver *inputs.Resolver, in ConverterInput) (compute[ConverterOutput], error) {
	of, err := in.resolve(ctx, resolver)
	if err != nil {
		return nil, err
	}
	of.to = conversion.Format(in.To)
	var fields problem.Fields
	for _, f := range []struct {
		pointer string
		format  conversion.Format
		all     []conversion.Format
	}{{"/from", of.from, of.sources}, {"/to", of.to, of.formats}} {
		fields.AddIf(!slices.Contains(f.all, f.format), f.pointer, "%s is no format of a %s: give %s", f.format, of.member, lists.Or(f.all))
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out ConverterOutput, err error) {
		out = of.output()
		out.File, err = writeFile(resolver, of.member+fileTypes[of.to].ending, fileTypes[of.to].mediaType+charset,
			func(w io.Writer) error {
				contents, done := scoring.Contents(of.source.Files())
				defer done()
				found, err := of.convert(ctx, w, contents...)
				if err != nil {
					return err
				}
				out.Diagnostics = record.Disclosed(found)
				refused, ok := errors.AsType[*problem.Error](of.source.CheckDiagnostics(found))
				if !ok {
					return nil
				}
				if in.From == "" {
					refused.Append(problem.Sentence(" The files were read as %s, for {from} does not say what they are: it can be %s.", of.from,
						lists.Or(of.sources)))
				}
				return refused
			})
		return out, err
	}, nil
})

// convert writes the files to w in the target format.
func (of *conversionSource) convert(ctx context.Context, w io.Writer, files ...measure.File) ([]measure.Diagnostic, error) {
	if of.values == nil {
		return of.ranking.Convert(ctx, w, of.from, of.to, files...)
	}
	v := *of.values
	v.From.Kind, v.To.Kind = string(of.from), string(of.to)
	return v.Convert(ctx, w, files...)
}

// output returns the answer without the file.
func (of *conversionSource) output() ConverterOutput {
	out := ConverterOutput{From: string(of.from), To: string(of.to)}
	if v := of.values; v != nil {
		out.FromFields, out.ToFields = fieldsOf(v.From), fieldsOf(v.To)
	}
	return out
}

func fieldsOf(f measure.Format) *ConversionFields {
	return &ConversionFields{f.IDField, f.ValueField, f.Separator}
}

// resolve gathers the input of the conversion. The request must have either a run or qrels.
func (in *ConverterInput) resolve(ctx context.Context, resolver *inputs.Resolver) (*conversionSource, error) {
	if (in.Run == nil) == (in.Qrels == nil) {
		return nil, problem.InvalidMember("", "give either {run} or {qrels}: one of them is converted")
	}
	var fields problem.Fields
	stored := in.Run == nil || in.Run.RunID != ""
	fields.AddIf(stored && in.Kind != "", "/kind", "goes with the {files} of a run: others have the kind of their dataset")
	fields.AddIf(measure.Kind(in.Kind) == measure.Spans, "/kind", "spans are not converted: write them as jsonl or conll")
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	if in.Qrels != nil {
		return in.judgments(ctx, resolver)
	}
	run, err := resolver.Run(ctx, "/run", *in.Run)
	if err != nil {
		return nil, err
	}
	switch kind := measure.Kind(in.Kind); {
	case run.ID != "":
		return in.storedRun(ctx, resolver, run)
	case kind == "" || kind.Ranks():
		return in.ranking(ctx, resolver, "run", conversion.Runs, run)
	default:
		return in.valuesOf(ctx, resolver, kind, measure.Format{}, run)
	}
}

// judgments gathers relevance judgments.
func (in *ConverterInput) judgments(ctx context.Context, resolver *inputs.Resolver) (*conversionSource, error) {
	truth, err := resolver.Truth(ctx, "/qrels", inputs.TruthReference{DatasetID: in.Qrels.DatasetID, Files: in.Qrels.Files})
	if err == nil && truth.Settings.Kind != measure.Retrieval {
		err = problem.InvalidMember("/qrels/datasetId", "the dataset is one of %s, which has no relevance judgments", truth.Settings.Kind)
	}
	if err != nil {
		return nil, err
	}
	if in.Qrels.DatasetID != "" {
		in.From = cmp.Or(in.From, string(conversion.TRECQrels))
	}
	return in.ranking(ctx, resolver, "qrels", conversion.Qrels, truth)
}

// storedRun gathers a stored run, which has the format of its dataset.
func (in *ConverterInput) storedRun(ctx context.Context, resolver *inputs.Resolver, run *inputs.Run) (*conversionSource, error) {
	ranks := resolver.CheckRankings(ctx, run)
	if ranks == nil {
		in.From = cmp.Or(in.From, string(conversion.TRECRun))
		return in.ranking(ctx, resolver, "run", conversion.Runs, run)
	}
	settings, err := resolver.SettingsOfRun(ctx, run)
	if err != nil || !measure.HasFields(settings.Format.Kind) || settings.Kind == measure.Spans {
		return nil, cmp.Or(err, ranks)
	}
	return in.valuesOf(ctx, resolver, settings.Kind, settings.Format, run)
}

// ranking returns the conversion of a ranking or of judgments, whose format is recognized unless the input says it.
func (in *ConverterInput) ranking(ctx context.Context, resolver *inputs.Resolver, member string, kind *conversion.Kind,
	source convertible) (of *conversionSource, err error) {
	of = &conversionSource{member: member, source: source, ranking: kind, sources: kind.Sources, formats: kind.Formats,
		from: conversion.Format(in.From)}
	if of.from == "" {
		file := source.Files()[0]
		err = resolver.Guess(ctx, file, func() (err error) {
			_, of.from, err = detection.Ranking(kind, file)
			return err
		})
	}
	return of, err
}

// valuesOf returns the conversion of files of values in a format, which is recognized as far as neither it nor the input says it.
func (in *ConverterInput) valuesOf(ctx context.Context, resolver *inputs.Resolver, kind measure.Kind, format measure.Format,
	source convertible) (*conversionSource, error) {
	given := cmp.Or(in.FromFields, new(ConversionFields))
	to := cmp.Or(in.ToFields, new(ConversionFields))
	from := measure.Format{Kind: cmp.Or(in.From, format.Kind), IDField: cmp.Or(given.IDField, format.IDField),
		ValueField: cmp.Or(given.ValueField, format.ValueField), Separator: cmp.Or(given.Separator, format.Separator)}
	if from.Kind == "" || from.IDField == "" || from.ValueField == "" {
		var found detection.Values
		var ok bool
		file := source.Files()[0]
		err := resolver.Guess(ctx, file, func() (err error) {
			found, ok, err = detection.ValuesOf(kind, file)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, problem.InvalidMember("/from", "is needed with {fromFields}: the first lines of the file have no recognized format")
		}
		from.Kind = cmp.Or(from.Kind, found.Format.Kind)
		from.IDField = cmp.Or(from.IDField, found.Format.IDField)
		from.ValueField = cmp.Or(from.ValueField, found.Format.ValueField)
	}
	return &conversionSource{
		member: "run", source: source, sources: conversion.ValueSources, formats: conversion.ValueFormats, from: conversion.Format(from.Kind),
		values: &conversion.Values{Kind: kind, From: from, To: measure.Format{IDField: cmp.Or(to.IDField, "id"),
			ValueField: cmp.Or(to.ValueField, measure.EvaluatorOf(kind).ValueField), Separator: to.Separator}},
	}, nil
}
