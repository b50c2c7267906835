// Package runs is the read model of runs: it returns them as one caller may see them. It knows no protocol, so HTTP and gRPC
// show the same.
package runs

import (
	"context"
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
