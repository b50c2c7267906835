package runs

import (
	"context"
	"time"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// shower shows runs as one caller sees them, with a diagnostic when no worker serves what a run waits for. It reads which
// workers were seen once, and only for runs that wait for one.
type shower struct {
	records store.Store
	now     time.Time
	read    bool
	serving *record.Serving
}

func (s *shower) show(ctx context.Context, r *record.RunItem, roles access.Role) (record.Run, error) {
	shown := r.For(roles)
	waits := r.Queue == record.QueueWorkers && r.Waits() && r.Later == nil
	if !waits || roles&(access.Owner|access.Organizer|access.Admin) == 0 {
		return shown, nil
	}
	if !s.read {
		var err error
		if s.serving, err = table.Get[record.Serving](ctx, s.records, store.Eventual, record.ServingKey()); err != nil {
			return shown, err
		}
		s.read = true
	}
	if !s.serving.Serves(r.Subqueue(), s.now) {
		shown.Diagnostics = append(shown.Diagnostics, record.Unserved(r.Pool, r.Work()))
	}
	return shown, nil
}
