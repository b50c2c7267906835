package inputs

import (
	"cmp"
	"context"
	"strings"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/measure/retrieval"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/truth"
)

// Truth is the ground truth (qrels, labels) that runs are measured against.
type Truth struct {
	source
	Settings evaluator.Settings // how it is read, without measures
	version  int64              // of a dataset's; 0: it came along
	dataset  *record.DatasetItem
}

// Qrels reads the truth as relevance judgments; nil without a truth. One with errors is the caller's problem.
func (t *Truth) Qrels(ctx context.Context) (*retrieval.Qrels, error) {
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

// Truth gathers the truth of a reference, which stands in the input at the pointer.
func (resolver *Resolver) Truth(ctx context.Context, pointer string, ref TruthReference) (*Truth, error) {
	if err := problem.Check(checkReference(pointer, "datasetId", ref.DatasetID, ref.Files)); err != nil {
		return nil, err
	}
	if ref.DatasetID != "" {
		if ref.Kind != "" || ref.Format != nil {
			return nil, problem.InvalidMember(pointer, "kind and format go with files: the dataset says its own")
		}
		item, truth, roles, err := resolver.dataset(ctx, pointer, ref.DatasetID)
		if err != nil {
			return nil, err
		}
		if !mayUseTruth(item, truth, roles) {
			return nil, problem.Forbidden.New("Only its organizers may use the truth of this dataset. Leave %[1]s out for the values that runs of "+
				"the platform were evaluated with, where the tool can do without; or send one of your own in the files of %[1]s.", pointer[1:])
		}
		return resolver.truthOf(ctx, pointer, item, truth)
	}
	settings, err := Settings(pointer, ref.Kind, ref.Format)
	if err != nil {
		return nil, err
	}
	t := &Truth{source: source{pointer: pointer, inline: true}, Settings: settings}
	t.files, err = resolver.decodeInline(record.HolderTruths, pointer+"/files", ref.Files)
	return t, err
}

// Judgments gathers the truth of a reference, which stands in the input at /truth, or DatasetTruth without one.
func (resolver *Resolver) Judgments(ctx context.Context, ref *TruthReference, runs []*Run) (*Truth, error) {
	if ref == nil {
		return resolver.DatasetTruth(ctx, runs)
	}
	return resolver.Truth(ctx, "/truth", *ref)
}

// DatasetTruth is the truth of the dataset that all the runs are on, if the caller may read it; else nil.
func (resolver *Resolver) DatasetTruth(ctx context.Context, runs []*Run) (*Truth, error) {
	return resolver.datasetTruth(ctx, runs, 0)
}

// datasetTruth is DatasetTruth, which is hidden from one who may not read it, and not nil, if it has that version.
func (resolver *Resolver) datasetTruth(ctx context.Context, runs []*Run, version int64) (*Truth, error) {
	id := commonDataset(runs)
	if id == "" {
		return nil, nil
	}
	item, truth, roles, err := resolver.dataset(ctx, runs[0].pointer, id)
	if problem.NotFound.Is(err) || err == nil && (truth == nil || item.Evaluator.Kind == record.EvaluatorWorker ||
		truth.Number != version && !mayUseTruth(item, truth, roles)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := resolver.truthOf(ctx, runs[0].pointer, item, truth)
	if err == nil {
		t.hidden = !mayUseTruth(item, truth, roles)
	}
	return t, err
}

// mayUseTruth reports whether one who has the roles may use the truth of the dataset; nil: the one that it has yet to get.
func mayUseTruth(item *record.DatasetItem, truth *record.Truth, roles access.Role) bool {
	if truth == nil {
		return item.ManagesTruth(roles)
	}
	return item.ReadsTruth(roles, truth.Files)
}

// dataset reads a dataset with the truth in use, and what the caller is to it.
func (resolver *Resolver) dataset(ctx context.Context, pointer, id string) (*record.DatasetItem, *record.Truth, access.Role, error) {
	var item *record.DatasetItem
	var truth *record.Truth
	if err := records.Read(ctx, resolver.call.Store, resolver.call.Consistency, records.Into(&item, record.DatasetKey(id)),
		records.Into(&truth, record.TruthKey(id))); err != nil {
		return nil, nil, 0, err
	}
	if item != nil {
		if sees, err := resolver.call.Sees(ctx, item.Scope()); err != nil {
			return nil, nil, 0, err
		} else if sees {
			roles, _, err := resolver.call.InputRoles(ctx, item)
			if err != nil {
				return nil, nil, 0, err
			}
			resolver.addDependency("dataset %s %d", item.ID, item.Version)
			return item, truth, roles, nil
		}
	}
	return nil, nil, 0, notFound(problem.Field{Pointer: pointer + "/datasetId", Detail: "there is no such dataset, or none that you may see"})
}

// truthOf gathers the truth of a dataset, for one who may read it.
func (resolver *Resolver) truthOf(ctx context.Context, pointer string, item *record.DatasetItem, inUse *record.Truth) (*Truth, error) {
	switch {
	case item.Evaluator.Kind == record.EvaluatorWorker:
		return nil, problem.InvalidMember(pointer, "the dataset is evaluated by an image of its organizers, which tools cannot run")
	case inUse == nil:
		return nil, problem.InvalidMember(pointer, "the dataset has no truth yet")
	}
	settings := truth.Settings(inUse.RunFormat, inUse.Evaluator)
	settings.Measures, settings.PrimaryMeasure = nil, ""
	t := &Truth{source: source{pointer: pointer}, Settings: settings, version: inUse.Number, dataset: item}
	var err error
	t.files, err = resolver.heldFilesOf(ctx, record.HolderTruths, item.ID, inUse.Files)
	return t, err
}

// assumed says which member to give when the assumed kind of files is wrong: kind, under the pointer.
func assumed(pointer string) string {
	return "; files are taken for those of retrieval, unless " + pointer + "/kind says another"
}

// Settings says how files that come along are read, without measures. Kind and format stand in the input under the pointer;
// unless they are given, files are of retrieval.
func Settings(pointer, kind string, format *record.RunFormat) (evaluator.Settings, error) {
	s := evaluator.Settings{Kind: measure.Kind(cmp.Or(kind, string(measure.Retrieval))), Format: measure.Format{Kind: measure.TRECRun}}
	if format != nil {
		s.Format = measure.Format(*format)
	}
	fields := evaluator.CheckFormat(s.Kind, s.Format)
	for i, f := range fields {
		if kind == "" {
			fields[i].Detail += assumed(pointer)
		}
		if member, ok := strings.CutPrefix(f.Pointer, "/runFormat"); ok {
			fields[i].Pointer = pointer + "/format" + member
		} else {
			fields[i].Pointer = pointer + "/kind"
		}
	}
	return s, problem.Check(fields)
}

// SettingsOf says how the files of runs on a dataset are read, and returns those of its inputs whose ids runs are
// compared with. Its id stands in the input at /datasetId.
func (resolver *Resolver) SettingsOf(ctx context.Context, datasetID string) (s evaluator.Settings, inputs []evaluator.File, err error) {
	item, truth, roles, err := resolver.dataset(ctx, "", datasetID)
	if err != nil {
		return s, nil, err
	}
	if s, err = settingsOf("/datasetId", item, truth); err != nil {
		return s, nil, err
	}
	compared := item.ComparedInputs(s.Kind)
	if !item.ReadsInputs(roles) || resolver.storedBytes+record.SizeOf(compared) > MaxStoredBytes {
		return s, nil, nil // the run can be checked without
	}
	inputs, err = resolver.heldFilesOf(ctx, record.HolderInputs, item.ID, compared)
	return s, inputs, err
}

// SettingsOfRun is SettingsOf the dataset of a run that the platform holds.
func (resolver *Resolver) SettingsOfRun(ctx context.Context, r *Run) (evaluator.Settings, error) {
	item, truth, _, err := resolver.dataset(ctx, r.pointer, r.item.DatasetID)
	if problem.NotFound.Is(err) {
		return evaluator.Settings{},
			notFound(problem.Field{Pointer: r.pointer + "/runId", Detail: "is a run on a dataset that does not exist any more, or that you may " +
				"not see"})
	}
	if err != nil {
		return evaluator.Settings{}, err
	}
	return settingsOf(r.pointer+"/runId", item, truth)
}

// settingsOf has the truth in use decide, as it does when a run is evaluated; the dataset alone as long as there is none.
func settingsOf(pointer string, item *record.DatasetItem, inUse *record.Truth) (evaluator.Settings, error) {
	format, by := item.RunFormat, item.Evaluator
	if inUse != nil {
		format, by = inUse.RunFormat, inUse.Evaluator
	}
	if by.Kind == record.EvaluatorWorker {
		return evaluator.Settings{},
			problem.InvalidMember(pointer,
				"the dataset is evaluated by an image of its organizers, which alone can read its runs; submit the run to have it checked")
	}
	return truth.Settings(format, by), nil
}
