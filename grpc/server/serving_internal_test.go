package server

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/embedded"
)

// A worker that is at work still serves all that it asked for.
func TestServing_HeartbeatsCount(t *testing.T) {
	st, err := embedded.Open(filepath.Join(t.TempDir(), "table"), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	now := time.Now()
	env := Env{Store: st, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
	var s serving
	holder := record.Lease{Holder: "worker", UserID: record.NewID(now)}
	s.track(t.Context(), env, holder, []demand{{"gpu", record.ExecuteImage}, {"gpu", record.Evaluate}}, false, 0)
	now = now.Add(time.Hour)
	run := &record.RunItem{Pool: "gpu", Type: record.ImageType, Lease: &holder}
	s.noteHeartbeat(t.Context(), env, run)
	serves := func(pool string, w record.Work) bool {
		t.Helper()
		all, err := records.Get[record.Serving](t.Context(), st, store.Strong, record.ServingKey())
		if err != nil {
			t.Fatal(err)
		}
		return all.Serves(record.WorkerSubqueue(pool, w), now)
	}
	if !serves("gpu", record.ExecuteImage) || !serves("gpu", record.Evaluate) || serves("gpu", record.ExecuteRepository) {
		t.Error("a heartbeat is not noted for what its worker asked for")
	}
	now = now.Add(time.Hour)
	var restarted serving
	restarted.noteHeartbeat(t.Context(), env, run)
	if !serves("gpu", record.ExecuteImage) || serves("gpu", record.Evaluate) {
		t.Error("a server that did not hear what a worker asked for does not note the work of its run")
	}
}
