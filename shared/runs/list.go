package runs

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

// Filter says which runs are asked for: those that have one of the values of every member that is not empty.
type Filter struct {
	TaskIDs, DatasetIDs, UserIDs, SubmissionIDs []string
	States                                      []record.RunState
}

// List calls add with up to limit runs that the viewer sees and the filter keeps, as the viewer sees them, the newest first,
// until it reports that there is no more room. It returns the id of the one after them. The cursor is such an id, or empty.
func (r *Reader) List(ctx context.Context, f Filter, cursor string, limit int,
	add func(record.Run) (full bool, err error)) (next string, err error) {
	v := r.Viewer
	sources, err := f.sources(ctx, v)
	if err != nil {
		return "", err
	}
	g, err := v.Grants(ctx)
	if err != nil {
		return "", err
	}
	var keep func(*record.RunItem) bool
	if !f.empty() {
		keep = func(r *record.RunItem) bool { return f.keeps(r, access.Roles(v.Caller, g.Grants, r.Scope())) }
	}
	return records.List(ctx, v.Store, records.Selection{Sources: sources, Cursor: cursor, Limit: limit}, keep,
		func(run *record.RunItem) (bool, error) {
			shown, err := r.Show(ctx, run, access.Roles(v.Caller, g.Grants, run.Scope()))
			if err != nil {
				return false, err
			}
			return add(shown)
		})
}

func (f *Filter) empty() bool {
	return len(f.TaskIDs)+len(f.DatasetIDs)+len(f.UserIDs)+len(f.SubmissionIDs)+len(f.States) == 0
}

// keeps applies the filter to a run as one who has the roles sees it: nobody finds an anonymous team by its user.
func (f *Filter) keeps(r *record.RunItem, roles access.Role) bool {
	shown := r.For(roles)
	return access.Sees(roles, r.Scope().Audience) &&
		among(f.TaskIDs, shown.TaskID) && among(f.DatasetIDs, shown.DatasetID) && among(f.UserIDs, shown.UserID) &&
		among(f.SubmissionIDs, shown.SubmissionID) && among(f.States, shown.State)
}

func among[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// sources names what the list is read from: the runs of submissions by their keys, or else the narrowest partitions.
func (f *Filter) sources(ctx context.Context, v *visibility.Viewer) ([]records.Source, error) {
	if len(f.SubmissionIDs) == 0 {
		return v.PartitionsFor(ctx, record.KindRun, visibility.Filter{DatasetIDs: f.DatasetIDs, TaskIDs: f.TaskIDs, UserIDs: f.UserIDs})
	}
	submissions, err := records.GetAll[record.SubmissionItem](ctx, v.Store, v.Consistency,
		records.Keys(f.SubmissionIDs, record.SubmissionKey)...)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, s := range submissions {
		if s == nil {
			continue
		}
		sees, err := v.Sees(ctx, s.Scope())
		if err != nil {
			return nil, err
		}
		if sees {
			runs = append(runs, s.RunIDs...)
		}
	}
	return []records.Source{records.Named(runs, record.RunKey)}, nil
}
