package runs

import (
	"context"
	"time"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/blob"
	"assay/shared/link"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/visibility"
)

// Get returns a run with what the viewer is to it; visibility.Missing also when the viewer may not see it, after the same
// work.
func Get(ctx context.Context, v *visibility.Viewer, id string) (*record.RunItem, access.Role, error) {
	return visibility.Get[record.RunItem](ctx, v, id, record.RunKey)
}

// Show is a run as one who has the roles sees it, with links to the files and logs that such a one may have.
func Show(ctx context.Context, records store.Store, files blob.Store, now time.Time, r *record.RunItem, roles access.Role) (shown record.Run, err error) {
	shows := Shower{Records: records, Now: now}
	if shown, err = shows.Show(ctx, r, roles); err != nil {
		return shown, err
	}
	shown.Files, err = link.Files(ctx, files, now, record.HolderRuns, r.ID, shown.Files, r.ReadsFiles(roles), roles&access.Owner != 0 && r.State == record.AwaitingUpload)
	for _, log := range []**record.File{&shown.ExecutionLog, &shown.EvaluationLog} {
		if *log == nil || err != nil {
			continue
		}
		var linked []record.File
		if linked, err = link.Files(ctx, files, now, record.HolderLogs, r.ID, []record.File{**log}, true, false); err == nil {
			*log = &linked[0]
		}
	}
	return shown, err
}

func run(ctx context.Context, c *api.Call) (*record.RunItem, error) {
	r, _, err := Get(ctx, &c.Viewer, c.Param("runId"))
	return r, err
}

func show(ctx context.Context, c *api.Call, r *record.RunItem) (record.Run, error) {
	roles, err := c.Roles(ctx, r.Scope())
	if err != nil {
		return record.Run{}, err
	}
	return Show(ctx, c.Store, c.Files, c.Now(), r, roles)
}
