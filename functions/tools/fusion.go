package tools

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"assay/functions/tools/fusion"
	"assay/functions/tools/inputs"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// FusionInput holds the runs to fuse, and the settings.
type FusionInput struct {
	Runs          []inputs.RunReference `json:"runs" minItems:"2" maxItems:"10" doc:"the runs, in any order"`
	Method        string                `json:"method,omitempty" enum:"rrf,combsum,combmnz" doc:"rrf: reciprocal rank fusion, which looks only at ranks; combsum: the sum of normalized scores; combmnz: that sum times the number of runs that have the document; default rrf"`
	K             int                   `json:"k,omitempty" minimum:"1" maximum:"1000000" doc:"constant of rrf, which adds 1 / (k + rank) for each run; default 60"`
	Normalization string                `json:"normalization,omitempty" enum:"none,min-max,sum,z-score,rank" doc:"normalization of the scores of a run for a topic, for combsum and combmnz; default min-max. A run that lacks a document adds nothing, which by z-score is more than it adds for documents below its mean"`
	Depth         int                   `json:"depth,omitempty" minimum:"1" maximum:"1000000" doc:"number of documents to keep for each topic; default 1000"`
	Tag           string                `json:"tag,omitempty" maxLength:"100" doc:"the last field of each line, without white space; default fused"`
}

// FusionOutput is the fused run.
type FusionOutput struct {
	Method        string               `json:"method"`
	K             int                  `json:"k,omitempty" doc:"constant of rrf"`
	Normalization string               `json:"normalization,omitempty" doc:"normalization of combsum and combmnz"`
	Depth         int                  `json:"depth"`
	Tag           string               `json:"tag"`
	Runs          []FusedRun           `json:"runs" doc:"the fused runs"`
	File          *FileResult          `json:"file" doc:"the fused run, in the format trec-run"`
	Diagnostics   []measure.Diagnostic `json:"diagnostics" doc:"warnings about the runs; the name of a run precedes the name of a file that several runs have"`
}

// FusedRun is a run that was fused.
type FusedRun struct {
	Name  string `json:"name"`
	RunID string `json:"runId,omitempty"`
}

func (o FusionOutput) file() *FileResult { return o.File }

// settings returns the settings of the input with their defaults.
func (in *FusionInput) settings() fusion.Options {
	s := fusion.Options{
		Method: fusion.Method(cmp.Or(in.Method, string(fusion.ReciprocalRank))), K: in.K, Normalization: fusion.Normalization(in.Normalization),
		Depth: cmp.Or(in.Depth, 1000), Tag: cmp.Or(in.Tag, "fused"),
	}
	if s.Method == fusion.ReciprocalRank {
		s.K = cmp.Or(s.K, fusion.DefaultK)
	} else {
		s.Normalization = cmp.Or(s.Normalization, fusion.MinMax)
	}
	return s
}

var fusionTool = define(metadata{
	name: "fusion", kind: "transformation", problems: fileProblems, summary: "Fuse runs to one",
	description: "Scores each document of a topic by its ranks or scores in two to ten runs: by reciprocal rank fusion, which needs no " +
		"scores, or by CombSUM or CombMNZ over normalized scores. The order of the runs does not matter. Documents of equal score are ordered " +
		"by id, descending.\n\n" +
		"`file` has the fused run. `content` has up to 3 MiB. A larger run is behind the link in `url`, which works for half an hour; creating " +
		"it requires a login. With `Accept: text/plain` the answer is the run file itself or a redirect to it.",
}, FusionInput{
	Runs: []inputs.RunReference{
		{Name: "lexical", Files: []inputs.InlineFile{
			{Name: "lexical.txt", Text: "1 Q0 lake 1 10 lexical\n1 Q0 pond 2 6 lexical\n1 Q0 road 3 2 lexical\n"}}},
		{Name: "dense", Files: []inputs.InlineFile{
			{Name: "dense.txt", Text: "1 Q0 pond 1 0.8 dense\n1 Q0 mere 2 0.4 dense\n1 Q0 lake 3 0.3 dense\n"}}},
	},
	Method: string(fusion.CombSUM), Tag: "lexical+dense",
}, func(ctx context.Context, resolver *inputs.Resolver, in FusionInput) (compute[FusionOutput], error) {
	settings := in.settings()
	if err := problem.Check(settings.Check()); err != nil {
		return nil, err
	}
	runs, err := resolver.Runs(ctx, "/runs", in.Runs)
	if err == nil {
		err = resolver.CheckRankings(ctx, runs...)
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (out FusionOutput, err error) {
		out = FusionOutput{
			Method: string(settings.Method), K: settings.K, Normalization: string(settings.Normalization), Depth: settings.Depth, Tag: settings.Tag,
			Runs: lists.Map(runs, func(r *inputs.Run) FusedRun { return FusedRun{r.Name, r.ID} }),
		}
		out.File, err = writeFile(resolver, "fused.txt", mediaText+charset, func(w io.Writer) error {
			files, pointers := uniqueFileNames(runs)
			contents := make([]fusion.Run, len(files))
			for i := range files {
				var done func()
				contents[i], done = scoring.Contents(files[i])
				defer done()
			}
			found, err := fusion.Fuse(ctx, w, settings, contents)
			if err != nil {
				return err
			}
			out.Diagnostics = record.Disclosed(found)
			return problem.Check(record.Faults(found, func(name string) string { return cmp.Or(pointers[name], "/runs") }))
		})
		return out, err
	}, nil
})

// uniqueFileNames returns the files of the runs under unique names. The name of the run precedes a file name that several runs
// have. pointers maps these names to the JSON pointers of the files in the input.
func uniqueFileNames(runs []*inputs.Run) (files [][]scoring.File, pointers map[string]string) {
	having := map[string]int{}
	for _, r := range runs {
		for _, f := range r.Files() {
			having[f.Name]++
		}
	}
	pointers = map[string]string{}
	for _, r := range runs {
		var own []scoring.File
		for _, f := range r.Files() {
			name := f.Name
			if having[name] > 1 {
				name = r.Name + "/" + name
			}
			for n, base := 2, name; pointers[name] != ""; n++ {
				name = fmt.Sprintf("%s (%d)", base, n)
			}
			pointers[name] = r.FilePointer(f.Name)
			own = append(own, scoring.File{Name: name, Open: f.Open})
		}
		files = append(files, own)
	}
	return files, pointers
}
