package inputs

import (
	"cmp"
	"context"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/truth"
	"assay/shared/storage/store"
)

// TruthInput is the ground truth (qrels, labels) that runs are measured against.
type TruthInput struct {
	source
	Settings scoring.Settings    // how to read the files, without measures
	version  int64               // truth version of the dataset; 0: the request contains the truth
	dataset  *record.DatasetItem // nil: the request contains the truth
}

// Qrels reads the truth as relevance judgments. A nil Truth has nil judgments. Errors in the files are problems of the caller's input.
func (t *TruthInput) Qrels(ctx context.Context) (*retrieval.Qrels, error) {
	if t == nil {
		return nil, nil
	}
	read := retrieval.ReadQrels
	switch t.Settings.Kind {
	case measure.Retrieval:
	case measure.Diversity:
		read = retrieval.ReadDiversityQrels
	default:
		return nil, problem.InvalidMember(t.pointer, "is a truth of %s, which has no judgments of documents", t.Settings.Kind)
	}
	return readSource(ctx, &t.source, read)
}

// Truth gathers the truth that the reference names or contains. The reference stands in the input at the pointer.
func (resolver *Resolver) Truth(ctx context.Context, pointer string, ref TruthReference) (*TruthInput, error) {
	if err := problem.Check(checkReference(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
		return nil, err
	}
	if ref.DatasetID != "" {
		if ref.Kind != "" || ref.Format != nil {
			return nil, problem.InvalidMember(pointer, "{kind} and {format} go with {files}: a dataset has its own")
		}
		d, err := resolver.dataset(ctx, pointer, ref.DatasetID)
		if err != nil {
			return nil, err
		}
		if !d.mayUseTruth() {
			return nil, problem.Forbidden.New("Only its organizers may use the truth of this dataset. Leave %[1]s out to use the values of the "+
				"runs' evaluations, if the tool allows it, or send your own truth in the {files} of %[1]s.", problem.Member(pointer[1:]))
		}
		return resolver.truthOf(ctx, pointer, d)
	}
	settings, err := Settings(pointer, ref.Kind, ref.Format)
	if err != nil {
		return nil, err
	}
	t := &TruthInput{source: source{pointer: pointer, inline: true}, Settings: settings}
	t.files, err = resolver.decodeInline(record.HolderTruths, pointer+"/files", ref.Files)
	return t, err
}

// Judgments gathers the truth of a reference, which stands in the input at /truth. Without a reference it returns DatasetTruth.
func (resolver *Resolver) Judgments(ctx context.Context, ref *TruthReference, runs []*Run) (*TruthInput, error) {
	if ref == nil {
		return resolver.DatasetTruth(ctx, runs)
	}
	return resolver.Truth(ctx, "/truth", *ref)
}

// DatasetTruth returns the truth in use of the dataset that all the runs are on. It returns nil if the caller may not read that truth.
// It also returns nil if the runs have no common dataset that the caller sees, or if tools cannot read the dataset's truth.
func (resolver *Resolver) DatasetTruth(ctx context.Context, runs []*Run) (*TruthInput, error) {
	return resolver.datasetTruth(ctx, runs, 0)
}

// datasetTruth returns the same as DatasetTruth, except for one case. If the caller may not read the truth in use, and it has the given
// version, datasetTruth returns it and marks it as hidden.
func (resolver *Resolver) datasetTruth(ctx context.Context, runs []*Run, version int64) (*TruthInput, error) {
	id := commonDataset(runs)
	if id == "" {
		return nil, nil
	}
	d, err := resolver.dataset(ctx, runs[0].pointer, id)
	switch {
	case problem.NotFound.Is(err):
		return nil, nil
	case err != nil:
		return nil, err
	case d.inUse == nil || d.item.Evaluator.Kind == record.EvaluatorWorker:
		return nil, nil
	}
	hidden := !d.mayUseTruth()
	if hidden && d.inUse.Number != version {
		return nil, nil
	}
	t, err := resolver.truthOf(ctx, runs[0].pointer, d)
	if err != nil {
		return nil, err
	}
	t.hidden = hidden
	return t, nil
}

// dataset is a dataset that the caller sees.
type dataset struct {
	item  *record.DatasetItem
	inUse *record.TruthVersion // the truth in use; nil before the first one
	roles access.Role          // the caller's roles
}

// mayUseTruth reports whether the caller may use the truth of the dataset. Before the first truth it reports whether the caller will be
// able to manage the truth.
func (d *dataset) mayUseTruth() bool {
	if d.inUse == nil {
		return d.item.ManagesTruth(d.roles)
	}
	return d.item.ReadsTruth(d.roles, d.inUse.Files)
}

// dataset reads a dataset with its truth in use and the caller's roles. A dataset that the caller may not see is not found.
func (resolver *Resolver) dataset(ctx context.Context, pointer, id string) (*dataset, error) {
	var d dataset
	if err := records.Read(ctx, resolver.call.Store, store.Strong, records.Into(&d.item, record.DatasetKey(id)),
		records.Into(&d.inUse, record.TruthKey(id))); err != nil {
		return nil, err
	}
	missing := notFound(problem.NewField(pointer+"/datasetId", "there is no such dataset, or none that you may see"))
	if d.item == nil {
		return nil, missing
	}
	sees, err := resolver.call.Sees(ctx, d.item.Scope())
	if err != nil {
		return nil, err
	}
	if !sees {
		return nil, missing
	}
	if d.roles, _, err = resolver.call.InputRoles(ctx, d.item); err != nil {
		return nil, err
	}
	resolver.addDependency("dataset %s %d", d.item.ID, d.item.Version)
	return &d, nil
}

// truthOf gathers the truth in use of a dataset. It does not check whether the caller may read the truth.
func (resolver *Resolver) truthOf(ctx context.Context, pointer string, d *dataset) (*TruthInput, error) {
	switch {
	case d.item.Evaluator.Kind == record.EvaluatorWorker:
		return nil, problem.InvalidMember(pointer, "the dataset is evaluated by an image of its organizers, which tools cannot run")
	case d.inUse == nil:
		return nil, problem.InvalidMember(pointer, "the dataset has no truth yet")
	}
	settings := truth.Settings(d.inUse.RunFormat, d.inUse.Evaluator)
	settings.Measures = nil
	t := &TruthInput{source: source{pointer: pointer}, Settings: settings, version: d.inUse.Number, dataset: d.item}
	var err error
	t.files, err = resolver.heldFilesOf(ctx, record.HolderTruths, d.item.ID, d.inUse.Files)
	return t, err
}

// assumed completes a problem text for files of an assumed kind: it names the member kind, under the pointer, that sets another kind.
func assumed(pointer string) problem.Text {
	return problem.Sentence("; files are read as files of retrieval, unless %s names another kind", problem.Member(pointer+"/kind"))
}

// Settings returns how to read the files that the request contains, without measures. Kind and format stand in the input under the
// pointer. The default kind is retrieval.
func Settings(pointer, kind string, format *record.RunFormat) (scoring.Settings, error) {
	s := scoring.Settings{Kind: measure.Kind(cmp.Or(kind, string(measure.Retrieval))), Format: measure.Format{Kind: measure.TRECRun}}
	if format != nil {
		s.Format = measure.Format(*format)
	}
	fields := scoring.CheckFormat(s.Kind, s.Format)
	for i, f := range fields {
		if kind == "" {
			fields[i].Append(assumed(pointer))
		}
		if member, ok := strings.CutPrefix(f.Pointer, "/runFormat"); ok {
			fields[i].Pointer = pointer + "/format" + member
		} else {
			fields[i].Pointer = pointer + "/kind"
		}
	}
	return s, problem.Check(fields)
}

// SettingsOf returns how to read the files of runs on a dataset, and the inputs of the dataset whose ids the runs are compared with.
// It returns no inputs if the caller may not read them or if they are too large. The id of the dataset stands in the input at /datasetId.
func (resolver *Resolver) SettingsOf(ctx context.Context, datasetID string) (s scoring.Settings, inputs []scoring.File, err error) {
	d, err := resolver.dataset(ctx, "", datasetID)
	if err != nil {
		return s, nil, err
	}
	if s, err = d.settings("/datasetId"); err != nil {
		return s, nil, err
	}
	compared := d.item.ComparedInputs(s.Kind)
	if !d.item.ReadsInputs(d.roles) || resolver.storedBytes+record.SizeOf(compared) > MaxStoredBytes {
		return s, nil, nil // the check of the run does not need the inputs
	}
	inputs, err = resolver.heldFilesOf(ctx, record.HolderInputs, d.item.ID, compared)
	return s, inputs, err
}

// SettingsOfRun returns how to read the files of a stored run, as SettingsOf does for its dataset.
func (resolver *Resolver) SettingsOfRun(ctx context.Context, r *Run) (scoring.Settings, error) {
	d, err := resolver.dataset(ctx, r.pointer, r.item.DatasetID)
	if problem.NotFound.Is(err) {
		return scoring.Settings{},
			notFound(problem.NewField(r.pointer+"/runId", "is a run on a dataset that does not exist any more, or that you may not see"))
	}
	if err != nil {
		return scoring.Settings{}, err
	}
	return d.settings(r.pointer + "/runId")
}

// settings returns how to read the files of runs on the dataset. The truth in use decides, as when a run is evaluated. Before the first
// truth the dataset decides.
func (d *dataset) settings(pointer string) (scoring.Settings, error) {
	format, by := d.item.RunFormat, d.item.Evaluator
	if d.inUse != nil {
		format, by = d.inUse.RunFormat, d.inUse.Evaluator
	}
	if by.Kind == record.EvaluatorWorker {
		return scoring.Settings{},
			problem.InvalidMember(pointer,
				"the dataset is evaluated by an image of its organizers, which alone can read its runs; submit the run to have it checked")
	}
	return truth.Settings(format, by), nil
}
