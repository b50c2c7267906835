package server

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store/embedded"
)

func TestServing_HeartbeatCountsForAllDemandsOfTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := Env{Store: recordtest.OpenStore(t, embedded.Options{}), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
		lease := record.Lease{Holder: "worker", UserID: recordtest.UserID("robot")}
		run := &record.RunItem{Pool: "gpu", Type: record.ImageType, Lease: &lease}
		serves := func(w record.Work) bool {
			return recordtest.Get[record.Serving](t, env.Store, record.ServingKey()).Serves(record.WorkerSubqueue("gpu", w), time.Now())
		}
		var s serving
		s.track(t.Context(), env, lease, []demand{{"gpu", record.ExecuteImage}, {"gpu", record.Evaluate}}, false, 0)
		time.Sleep(time.Hour)
		s.noteHeartbeat(t.Context(), env, run)
		if !serves(record.ExecuteImage) || !serves(record.Evaluate) || serves(record.ExecuteRepository) {
			t.Error("a heartbeat is not recorded for the demands of its worker")
		}
		time.Sleep(time.Hour)
		var restarted serving
		restarted.noteHeartbeat(t.Context(), env, run)
		if !serves(record.ExecuteImage) || serves(record.Evaluate) {
			t.Error("a server that does not know the demands of a worker does not record the work of its run")
		}
	})
}
