// Package runs is the read model of runs: it returns them as one caller may see them. It knows no protocol, so HTTP and gRPC
// show the same.
package runs

import (
	"context"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/blob"
	"assay/shared/files"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// Reader returns runs as the viewer sees them at one instant. It reads which workers are connected at most once, and only when
// a run waits for one.
type Reader struct {
	Viewer *visibility.Viewer
	Now    time.Time

	servingRead bool
	serving     *record.Serving
}

// Show returns the run as a caller with the roles sees it, without links, and with a diagnostic when no worker serves it.
func (r *Reader) Show(ctx context.Context, run *record.RunItem, roles access.Role) (record.Run, error) {
	run, err := r.current(ctx, run)
	if err != nil {
		return record.Run{}, err
	}
	shown := run.For(roles)
	unserved, err := r.Unserved(ctx, run, roles)
	if unserved {
		shown.Diagnostics = append(shown.Diagnostics, record.Unserved(run.Pool, run.Work()))
	}
	return shown, err
}

// ShowWithLinks is Show with links to the files and logs that a caller with the roles may read or upload.
func (r *Reader) ShowWithLinks(ctx context.Context, objects blob.Store, run *record.RunItem,
	roles access.Role) (shown record.Run, err error) {
	if run, err = r.current(ctx, run); err != nil {
		return shown, err
	}
	if shown, err = r.Show(ctx, run, roles); err != nil {
		return shown, err
	}
	links := files.Links{Objects: objects, Now: r.Now, Download: run.ReadsFiles(roles), Upload: roles&access.Owner != 0 &&
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

// current is the run with its embargo as it is now.
func (r *Reader) current(ctx context.Context, run *record.RunItem) (*record.RunItem, error) {
	current := *run
	return &current, r.Viewer.ApplyEmbargo(ctx, &current.Access, run.TaskID, run.DatasetID, r.Now)
}

// Unserved reports whether no worker that serves the run's queue has called within a minute, and the roles allow to know that.
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

// Filter selects runs: those that have one of the values of every member that is not empty.
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
