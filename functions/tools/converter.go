package tools

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"assay/functions/tools/conversion"
	"assay/functions/tools/inputs"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// ConverterInput holds the files to convert, and the target format.
type ConverterInput struct {
	Run   *inputs.RunReference `json:"run,omitempty" doc:"a run to convert"`
	Qrels *QrelsReference      `json:"qrels,omitempty" doc:"instead of run: relevance judgments to convert"`
	From  string               `json:"from,omitempty" enum:"trec-run,trec-qrels,jsonl,csv,beir,msmarco,json" doc:"the format of the files: trec-run, jsonl, csv, msmarco or json of runs, trec-qrels, jsonl, csv, beir, msmarco or json of judgments; default trec-run or trec-qrels, the formats of stored files of retrieval"`
	To    string               `json:"to" enum:"trec-run,trec-qrels,jsonl,csv,beir" doc:"the format to write"`
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
	File        *FileResult          `json:"file" doc:"the run or qrels in the format of to"`
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

// conversionSource is the input of a conversion.
type conversionSource struct {
	member string
	*conversion.Kind
	source interface {
		Files() []scoring.File
		CheckDiagnostics([]measure.Diagnostic) error
	}
}

var converterTool = define(metadata{
	name: "converter", kind: "transformation", problems: append(truthProblems, fileProblems...),
	summary: "Convert a run or relevance judgments into another format",
	description: "Runs are written as `trec-run`, `jsonl` or `csv`, with the fields topic, docid, rank, score and tag; relevance judgments " +
		"as `trec-qrels`, `jsonl` or `csv`, with the fields topic, iteration, docid and grade, or as `beir`. The names of fields that other " +
		"programs use, such as qid, docno and relevance, are read too, and so are the columns of `msmarco` and, as `json`, the dictionaries of " +
		"pytrec_eval and ranx. Lines keep their order, and " +
		"scores their digits. Fields do not change, so a spreadsheet may read an id as a formula. Several files become one.\n\n" +
		"`file` has the converted file. `content` has up to 3 MiB. A larger file is behind the link in `url`, which works for half an hour; " +
		"creating it requires a login. With its media type in `Accept`, or with `text/plain`, the answer is the file itself or a redirect to it.",
}, ConverterInput{
	Qrels: &QrelsReference{Files: []inputs.InlineFile{{Name: "qrels.txt", Text: "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"}}},
	To:    string(conversion.BEIR),
}, func(ctx context.Context, resolver *inputs.Resolver, in ConverterInput) (compute[ConverterOutput], error) {
	of, err := in.resolve(ctx, resolver)
	if err != nil {
		return nil, err
	}
	from := conversion.Format(cmp.Or(in.From, string(of.Formats[0])))
	to := conversion.Format(in.To)
	var fields problem.Fields
	for _, f := range []struct {
		pointer string
		format  conversion.Format
		all     []conversion.Format
	}{{"/from", from, of.Sources}, {"/to", to, of.Formats}} {
		fields.AddIf(!slices.Contains(f.all, f.format), f.pointer, "%s is no format of a %s: give %s", f.format, of.member, lists.Or(f.all))
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out ConverterOutput, err error) {
		out = ConverterOutput{From: string(from), To: string(to)}
		out.File, err = writeFile(resolver, of.member+fileTypes[to].ending, fileTypes[to].mediaType+charset,
			func(w io.Writer) error {
				contents, done := scoring.Contents(of.source.Files())
				defer done()
				found, err := of.Convert(ctx, w, from, to, contents...)
				if err != nil {
					return err
				}
				out.Diagnostics = record.Disclosed(found)
				refused, ok := errors.AsType[*problem.Error](of.source.CheckDiagnostics(found))
				if !ok {
					return nil
				}
				if in.From == "" {
					refused.Append(problem.Sentence(" The files were read as %s, for {from} does not say what they are: it can be %s.", from,
						lists.Or(of.Sources)))
				}
				return refused
			})
		return out, err
	}, nil
})

// resolve gathers the input of the conversion. The request must have either a run or qrels.
func (in *ConverterInput) resolve(ctx context.Context, resolver *inputs.Resolver) (conversionSource, error) {
	switch {
	case (in.Run == nil) == (in.Qrels == nil):
		return conversionSource{}, problem.InvalidMember("", "give either {run} or {qrels}: one of them is converted")
	case in.Run != nil:
		run, err := resolver.Run(ctx, "/run", *in.Run)
		if err == nil {
			err = resolver.CheckRankings(ctx, run)
		}
		return conversionSource{"run", conversion.Runs, run}, err
	}
	truth, err := resolver.Truth(ctx, "/qrels", inputs.TruthReference{DatasetID: in.Qrels.DatasetID, Files: in.Qrels.Files})
	if err == nil && truth.Settings.Kind != measure.Retrieval {
		err = problem.InvalidMember("/qrels/datasetId", "the dataset is one of %s, which has no relevance judgments", truth.Settings.Kind)
	}
	return conversionSource{"qrels", conversion.Qrels, truth}, err
}
