package server_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/record"
)

func TestUnserved_RunsAndDatasetsSayThatNoWorkerServes(t *testing.T) {
	s := newFixture(t)
	var ahead atomic.Int64
	s.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	d := s.dataset(inPool)
	worked, waits, owner := s.image("ada", d)[0], s.image("bob", d)[0], "bob"
	check := func(when string, want bool) {
		t.Helper()
		says := func(body string) bool {
			return strings.Contains(body, `No worker of the pool \"gpu\" that executes images has been seen for a minute`)
		}
		for _, c := range []struct{ user, path string }{
			{owner, "/v1/runs/" + waits}, {"olga", "/v1/runs/" + waits}, {owner, "/v1/runs?filter[datasetId]=" + d},
			{"olga", "/v1/runs?filter[datasetId]=" + d}, {"olga", "/v1/datasets/" + d},
		} {
			body := string(s.Want(http.StatusOK, nil, c.user, http.MethodGet, c.path, nil).Body)
			if got := says(body); got != want || strings.Contains(body, "safeWhileBlinded") {
				t.Errorf("%s, %s as %s says that no worker was seen: %v", when, c.path, c.user, got)
			}
		}
		for _, path := range []string{"/v1/runs/" + waits, "/v1/datasets/" + d} {
			if says(string(s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil).Body)) {
				t.Errorf("%s, %s says to everyone that no worker was seen", when, path)
			}
		}
	}
	check("without workers", true)
	lease := func(pool string, kind assayv1.WorkKind) *assayv1.Work {
		t.Helper()
		got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: pool, Pools: []string{pool}, Kinds: []assayv1.WorkKind{kind}})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetWork()
	}
	lease("default", assayv1.WorkKind_WORK_KIND_IMAGE)
	lease("gpu", assayv1.WorkKind_WORK_KIND_EVALUATION)
	check("with workers of another pool and for other work", true)
	if w := lease("gpu", assayv1.WorkKind_WORK_KIND_IMAGE); w.GetRunId() == waits {
		worked, waits, owner = waits, worked, "ada"
	}
	check("with a worker that has another run", false)
	got, err := s.runs.GetRun(s.as(owner), &assayv1.GetRunRequest{RunId: waits})
	if err != nil || len(got.GetRun().GetDiagnostics()) != 0 {
		t.Errorf("over gRPC: %v, %v", got, err)
	}
	ahead.Store(int64(2 * time.Minute))
	check("two minutes later", true)
	if r := s.run("olga", worked); r.State != record.Running || len(r.Diagnostics) != 0 {
		t.Errorf("a run that is worked on: %s, %v", r.State, r.Diagnostics)
	}
}
