package runs

import (
	"context"
	"time"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Shower shows runs as one caller sees them, with a diagnostic when no worker serves what a run waits for. It reads which
// workers were seen once, and only for runs that wait for one.
type Shower struct {
	Records store.Store
	Now     time.Time

	read    bool
	serving *record.Serving
}

// Show is the run as one who has the roles sees it, without links.
func (s *Shower) Show(ctx context.Context, r *record.RunItem, roles access.Role) (record.Run, error) {
	shown := r.For(roles)
	unserved, err := s.Unserved(ctx, r, roles)
	if unserved {
		shown.Diagnostics = append(shown.Diagnostics, record.Unserved(r.Pool, r.Work()))
	}
	return shown, err
}

// Unserved reports whether the run waits for workers of which none was seen for a minute, and one who has the roles learns it.
func (s *Shower) Unserved(ctx context.Context, r *record.RunItem, roles access.Role) (_ bool, err error) {
	if !r.AwaitsWorker() || roles&(access.Owner|access.Organizer|access.Admin) == 0 {
		return false, nil
	}
	if !s.read {
		s.serving, err = records.Get[record.Serving](ctx, s.Records, store.Eventual, record.ServingKey())
		s.read = err == nil
	}
	return err == nil && !s.serving.Serves(r.Subqueue(), s.Now), err
}
