// Package runview is the read model of runs: it returns the runs that one caller may see, with the members that the caller may see. It is
// independent of protocols, so that HTTP and gRPC show the same.
package runview

import (
	"context"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/files"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Reader returns the runs that the viewer sees at one instant. It reads which workers are connected at most once, and only if a run
// waits for one.
type Reader struct {
	Viewer *visibility.Viewer
	Now    time.Time

	servingRead bool
	serving     *record.Serving
}

// Show returns the run that a caller with the roles sees, without links. It adds a diagnostic if no worker serves the run.
func (r *Reader) Show(ctx context.Context, run *record.RunItem, roles access.Role) (record.Run, error) {
	sight, err := r.Sight(ctx, run, roles)
	if err != nil {
		return record.Run{}, err
	}
	return r.show(ctx, run, sight)
}

func (r *Reader) show(ctx context.Context, run *record.RunItem, sight record.Sight) (record.Run, error) {
	shown := run.For(sight)
	unserved, err := r.Unserved(ctx, run, sight.Roles())
	if unserved {
		shown.Diagnostics = append(shown.Diagnostics, record.Unserved(run.Pool, run.Work()))
	}
	return shown, err
}

// ShowWithLinks is like Show, with links to the files and logs that a caller with the roles may read or upload.
func (r *Reader) ShowWithLinks(ctx context.Context, objects blob.Store, run *record.RunItem,
	roles access.Role) (shown record.Run, err error) {
	sight, err := r.Sight(ctx, run, roles)
	if err != nil {
		return shown, err
	}
	if shown, err = r.show(ctx, run, sight); err != nil {
		return shown, err
	}
	links := files.Links{Objects: objects, Now: r.Now, Download: sight.ReadsFiles(), Upload: roles&access.Owner != 0 &&
		run.State == record.AwaitingUpload}
	shown.Files, err = links.Sign(ctx, record.HolderRuns, run.ID, shown.Files)
	links.Download = true
	for _, log := range []**record.File{&shown.ExecutionLog, &shown.EvaluationLog} {
		if *log == nil || err != nil {
			continue
		}
		var linked []record.File
		if linked, err = links.Sign(ctx, record.HolderLogs, run.ID, []record.File{**log}); err == nil {
			*log = &linked[0]
		}
	}
	return shown, err
}

// Sight returns what a caller with the roles sees of the values of the run. It reads no rules for organizers, who see all values.
func (r *Reader) Sight(ctx context.Context, run *record.RunItem, roles access.Role) (record.Sight, error) {
	of, attributes := run.Rated()
	if roles&(access.Organizer|access.Admin) != 0 {
		return new(record.ValueRules).For(attributes, roles, r.Now), nil
	}
	rules, err := r.Viewer.Rules(ctx, of)
	return rules.For(attributes, roles, r.Now), err
}

// Unserved reports whether the run waits for a worker and none that serves its queue has been seen for a minute. It returns false for
// callers whose roles do not allow them to know this.
func (r *Reader) Unserved(ctx context.Context, run *record.RunItem, roles access.Role) (_ bool, err error) {
	if !run.AwaitsWorker() || roles&(access.Owner|access.Organizer|access.Admin) == 0 {
		return false, nil
	}
	if !r.servingRead {
		r.serving, err = records.Get[record.Serving](ctx, r.Viewer.Store, store.Eventual, record.ServingKey())
		r.servingRead = err == nil
	}
	return err == nil && !r.serving.Serves(run.Subqueue(), r.Now), err
}

// Filter selects runs. For every member that is not empty, a run must have one of its values.
type Filter struct {
	TaskIDs, DatasetIDs, UserIDs, SubmissionIDs []string
	States                                      []record.RunState
}

// List calls add with up to limit runs that the viewer sees and the filter accepts, newest first, until add returns true. It returns
// the ID of the following run. cursor is such an ID, or "". The rules of all datasets take one call of the store.
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
	var runs []*record.RunItem
	var ruled []record.DatasetRef
	next, err = records.List(ctx, v.Store, records.Selection{Sources: sources, Cursor: cursor, Limit: limit}, keep,
		func(run *record.RunItem) (bool, error) {
			runs = append(runs, run)
			if access.Roles(v.Caller, g.Grants, run.Scope())&(access.Organizer|access.Admin) == 0 {
				of, _ := run.Rated()
				ruled = append(ruled, of)
			}
			return false, nil
		})
	if err == nil {
		err = v.ReadRules(ctx, ruled...)
	}
	if err != nil {
		return "", err
	}
	for i, run := range runs {
		shown, err := r.Show(ctx, run, access.Roles(v.Caller, g.Grants, run.Scope()))
		if err != nil {
			return "", err
		}
		full, err := add(shown)
		if err != nil {
			return "", err
		}
		if full && i+1 < len(runs) {
			return runs[i+1].ID, nil
		}
	}
	return next, nil
}

func (f *Filter) empty() bool {
	return len(f.TaskIDs)+len(f.DatasetIDs)+len(f.UserIDs)+len(f.SubmissionIDs)+len(f.States) == 0
}

// keeps reports whether a caller with the roles sees the run and the visible members pass the filter. So nobody finds an anonymous team
// by its user.
func (f *Filter) keeps(r *record.RunItem, roles access.Role) bool {
	return access.Sees(roles, r.Scope().Audience) &&
		among(f.TaskIDs, r.TaskID) && among(f.DatasetIDs, r.DatasetID) && among(f.UserIDs, r.ShownUserID(roles)) &&
		among(f.SubmissionIDs, r.SubmissionID) && among(f.States, r.State)
}

func among[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// sources returns the sources of the list: the runs of the submissions by their keys, or the narrowest partitions.
func (f *Filter) sources(ctx context.Context, v *visibility.Viewer) ([]records.Source, error) {
	if len(f.SubmissionIDs) == 0 {
		return v.PartitionsFor(ctx, record.KindRun, visibility.Filter{DatasetIDs: f.DatasetIDs, TaskIDs: f.TaskIDs, UserIDs: f.UserIDs})
	}
	submissions, err := records.GetExisting[record.SubmissionItem](ctx, v.Store, v.Consistency, f.SubmissionIDs, record.SubmissionKey)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, s := range submissions {
		sees, err := v.Sees(ctx, s.Scope())
		if err != nil {
			return nil, err
		}
		if sees {
			runs = append(runs, s.RunIDs...)
		}
	}
	return []records.Source{records.ByIDs(runs, record.RunKey)}, nil
}
