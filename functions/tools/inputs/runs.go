package inputs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/retrieval"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
)

// Run is a run that a tool works on.
type Run struct {
	Name string // name in the answer, unique within one invocation
	ID   string // empty: the request contains the run
	// EvaluationID identifies the evaluation that stores the values of the run. It is empty if the values are computed.
	EvaluationID string
	source
	item       *record.RunItem
	sight      record.Sight
	evaluation *record.EvaluationItem
}

// Rankings reads the rankings of the run. It reports errors in its files as problems of the caller's input.
func (r *Run) Rankings(ctx context.Context) (*retrieval.Rankings, error) {
	return readSource(ctx, &r.source, retrieval.ReadRankings)
}

// Runs gathers runs whose files the tool reads. The references stand in the input at the pointer.
func (resolver *Resolver) Runs(ctx context.Context, pointer string, refs []RunReference) ([]*Run, error) {
	return resolver.runsWithFiles(ctx, elementPointers(pointer, len(refs)), refs)
}

// Run gathers one run whose files the tool reads. The reference stands in the input at the pointer.
func (resolver *Resolver) Run(ctx context.Context, pointer string, ref RunReference) (*Run, error) {
	runs, err := resolver.runsWithFiles(ctx, []string{pointer}, []RunReference{ref})
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

// CheckRankings refuses stored runs that are not rankings of documents. Otherwise reading them would report each of their lines.
func (resolver *Resolver) CheckRankings(ctx context.Context, runs ...*Run) error {
	held := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return r.item == nil })
	ids := lists.Map(held, func(r *Run) string { return r.item.DatasetID })
	distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := records.GetAll[record.DatasetItem](ctx, resolver.call.Store, resolver.call.Consistency,
		records.Keys(distinct, record.DatasetKey)...)
	if err != nil {
		return err
	}
	var fields problem.Fields
	for i, r := range held {
		if item := found[slices.Index(distinct, ids[i])]; item != nil && item.RunFormat.Kind != measure.TRECRun {
			fields.Add(r.pointer+"/runId", "is a run of %s in the format %s; this tool takes rankings of documents in the format %s",
				item.Evaluator.Kind, item.RunFormat.Kind, measure.TRECRun)
		}
	}
	return problem.Check(fields)
}

// elementPointers returns the pointers to the n elements of a list.
func elementPointers(pointer string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s/%d", pointer, i)
	}
	return all
}

func (resolver *Resolver) runsWithFiles(ctx context.Context, pointers []string, refs []RunReference) ([]*Run, error) {
	runs, err := resolver.runs(ctx, pointers, refs, "files", readsFiles)
	if err != nil {
		return nil, err
	}
	return runs, resolver.openFiles(ctx, runs)
}

// openFiles gathers the files of the stored runs.
func (resolver *Resolver) openFiles(ctx context.Context, runs []*Run) (err error) {
	for _, r := range runs {
		switch {
		case r.item == nil:
			continue
		case len(r.item.Files) == 0:
			return problem.InvalidMember(r.pointer, "the run has no files yet: it is %s", r.item.State)
		case !record.AllStored(r.item.Files):
			return problem.InvalidMember(r.pointer, "files of the run have not arrived yet")
		}
		if r.files, err = resolver.heldFilesOf(ctx, record.HolderRuns, r.ID, r.item.Files); err != nil {
			return err
		}
	}
	return nil
}

func readsFiles(r *record.RunItem, sight record.Sight) bool {
	return access.Sees(sight.Roles(), r.Scope().Audience) && sight.ReadsFiles()
}

// runs gathers runs. sees decides for a stored run whether the caller may have the wanted part of it. what names that part in
// problems.
func (resolver *Resolver) runs(ctx context.Context, pointers []string, refs []RunReference, what string,
	sees func(*record.RunItem, record.Sight) bool) ([]*Run, error) {
	runs := make([]*Run, len(refs))
	var fields problem.Fields
	for i, ref := range refs {
		at := pointers[i]
		runs[i] = &Run{Name: ref.Name, ID: ref.RunID, source: source{pointer: at, inline: ref.RunID == ""}}
		fields = append(fields, checkReference(at, "runId", ref.RunID, ref.Files)...)
		for j, other := range refs[:i] {
			fields.AddIf(ref.RunID != "" && ref.RunID == other.RunID, at+"/runId", "is the run of %s: name it once", problem.Member(pointers[j]))
		}
	}
	if err := problem.Check(fields); err != nil {
		return nil, err
	}
	if err := resolver.findRuns(ctx, runs, what, sees); err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if ref.RunID != "" {
			continue
		}
		var err error
		if runs[i].files, err = resolver.decodeInline(record.HolderRuns, runs[i].pointer+"/files", ref.Files); err != nil {
			return nil, err
		}
		runs[i].Name = cmp.Or(runs[i].Name, ref.Files[0].Name)
	}
	for i, name := range DistinctNames(withIDs(runs)) {
		runs[i].Name = name
		resolver.addDependency("run %s %s", runs[i].ID, name)
	}
	return runs, nil
}

// findRuns reads the stored runs, and what the caller sees of each. It makes three calls to the store for any number of runs, also if
// none exists.
func (resolver *Resolver) findRuns(ctx context.Context, runs []*Run, what string, sees func(*record.RunItem, record.Sight) bool) error {
	held := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return r.ID == "" })
	if len(held) == 0 {
		return nil
	}
	ids := lists.Map(held, func(r *Run) string { return r.ID })
	found, err := records.GetAll[record.RunItem](ctx, resolver.call.Store, resolver.call.Consistency, records.Keys(ids, record.RunKey)...)
	if err != nil {
		return err
	}
	if err := resolver.readRules(ctx, found, ids); err != nil {
		return err
	}
	var missing problem.Fields
	for i, r := range held {
		r.item = found[i]
		if r.item != nil {
			if r.sight, err = resolver.call.Sight(ctx, r.item, resolver.call.Now()); err != nil {
				return err
			}
		}
		if r.item == nil || !sees(r.item, r.sight) {
			missing.Add(r.pointer+"/runId", "there is no such run, or none whose %s you may see", what)
			continue
		}
		shown := r.item.For(r.sight)
		r.Name = cmp.Or(r.Name, RunLabel(record.TeamName(shown.Team, shown.Alias), cmp.Or(shown.Label, shown.Title, shown.RunTag)))
	}
	if len(missing) > 0 {
		return notFound(missing...)
	}
	return nil
}

// readRules reads the rules of the runs' datasets. Runs are nil if they do not exist.
func (resolver *Resolver) readRules(ctx context.Context, runs []*record.RunItem, ids []string) error {
	of := make([]record.DatasetRef, len(runs))
	for i, r := range runs {
		var err error
		if of[i], err = visibility.RulesRef(ctx, &resolver.call.Viewer, r, ids[i]); err != nil {
			return err
		}
	}
	return resolver.call.ReadRules(ctx, of...)
}

// RunLabel joins the name of a team and the team's label of a run to one name.
func RunLabel(team, label string) string {
	switch {
	case label == "":
		return team
	case strings.Contains(label, team):
		return label
	default:
		return team + ": " + label
	}
}

// withIDs returns the names of the runs. If several have the same name, each is followed by the name that the console gives runs without
// a title: the end of the id. Runs in the request have no id.
func withIDs(runs []*Run) []string {
	named := map[string]int{}
	for _, r := range runs {
		named[r.Name]++
	}
	return lists.Map(runs, func(r *Run) string {
		if named[r.Name] > 1 && r.ID != "" {
			return fmt.Sprintf("%s (Run %s)", r.Name, r.ID[max(0, len(r.ID)-shownID):])
		}
		return r.Name
	})
}

// shownID is the number of characters of an id that tell runs apart in the names that people read.
const shownID = 6

// DistinctNames appends numbers to names that occurred before, so that no two are equal. It changes names in place.
func DistinctNames(names []string) []string {
	taken := map[string]bool{}
	for i, name := range names {
		for n := 2; taken[names[i]]; n++ {
			names[i] = fmt.Sprintf("%s (%d)", name, n)
		}
		taken[names[i]] = true
	}
	return names
}

// commonDataset returns the dataset that all the runs are on. It returns an empty id if the request contains one of the runs, or
// if they are on several datasets.
func commonDataset(runs []*Run) string {
	id := ""
	for i, r := range runs {
		if r.item == nil || i > 0 && r.item.DatasetID != id {
			return ""
		}
		id = r.item.DatasetID
	}
	return id
}
