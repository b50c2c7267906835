package main

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/record"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
)

// scrape returns the values of the metrics by series, like Prometheus.
func (s *testServer) scrape(t testing.TB) map[string]float64 {
	t.Helper()
	resp, err := http.Get("http://" + s.program.opsAddr.String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	values := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			values[series+"}"] = v
		}
	}
	return values
}

func TestMetrics_HaveWhatHappened(t *testing.T) {
	c := settingsOf(t, t.TempDir(), "-demo=false", "-ops-addr", "127.0.0.1:0", "-quotas", `{"user":{"perDay":{"tasks":1}}}`)
	const firstLease = 10 * time.Minute
	var ahead atomic.Int64 // nanoseconds that the server's clock is ahead
	c.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	c.lease = time.Second // The server looks for expired leases at this interval.
	c.firstLease = firstLease
	s := serve(t, c, io.Discard)
	owner, user := s.token(t, "owner"), s.token(t, "user")
	task := s.task(t, owner, "Lakes")
	s.post(t, user, task+"/registrations", map[string]any{"team": "Team"})
	dataset := s.dataset(t, owner, task, "1 0 a 1\n", nil)
	if a := s.send(t, owner, http.MethodPost, "/v1/tasks", map[string]any{"organizerId": id(s.post(t, owner, "/v1/organizers",
		map[string]any{"name": "Lab"})), "name": "Second"}); a.status != http.StatusTooManyRequests {
		t.Fatalf("a second task: %d %s", a.status, a.body)
	}
	submit := func(body map[string]any) (run string) {
		var made record.Submission
		s.call(t, user, http.MethodPost, task+"/submissions", body, &made)
		return made.RunIDs[0]
	}
	file := inline("run", "1 Q0 a 1 2.5 x\n")
	file["datasetId"] = dataset
	submit(map[string]any{"type": "upload", "files": []any{file}})
	ofImage := map[string]any{"type": "image", "image": "ranker", "command": "true", "datasetIds": []string{dataset}, "again": true}
	submit(ofImage)
	submit(ofImage)
	waittest.Until(t, "a run is evaluated and two wait", func() bool {
		m := s.scrape(t)
		return m[`assay_runs_ended_total{outcome="completed",queue="builtin"}`] == 1 &&
			m[`assay_runs_waiting{pool="default",work="image"}`] == 2 && m[`assay_oldest_run_waiting_seconds{pool="default",work="image"}`] > 0
	})

	conn, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	worker := assayv1.NewWorkerServiceClient(conn)
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+s.token(t, "robot", "workers"))
	lease := &assayv1.LeaseRequest{Worker: "hand", Wait: durationpb.New(time.Minute)}
	if got, err := worker.Lease(ctx, lease); err != nil || got.GetWork() == nil {
		t.Fatalf("%v, %v", got, err)
	}
	waittest.Until(t, "a worker is alive", func() bool { return s.scrape(t)[`assay_workers_alive{pool="default",work="image"}`] == 1 })
	ahead.Store(int64(firstLease + time.Second))
	waittest.Until(t, "the lease has expired", func() bool { return s.scrape(t)[`assay_leases_expired_total{queue="workers"}`] == 1 })
	got, err := worker.Lease(ctx, lease)
	if err != nil || got.GetWork() == nil {
		t.Fatalf("%v, %v", got, err)
	}
	_, err = worker.FailRun(ctx, &assayv1.FailRunRequest{RunId: got.GetWork().GetRunId(), LeaseId: got.GetWork().GetLeaseId(),
		Fault: assayv1.FailRunRequest_FAULT_RUN, Diagnostics: []*assayv1.Diagnostic{{
			Severity: assayv1.Diagnostic_SEVERITY_ERROR, Message: "It exited with 1."}}})
	if err != nil {
		t.Fatal(err)
	}
	m := s.scrape(t)
	for series, want := range map[string]float64{
		`assay_runs_ended_total{outcome="failed",queue="workers"}`:                       1,
		`assay_runs_ended_total{outcome="completed",queue="builtin"}`:                    1,
		`assay_leases_expired_total{queue="workers"}`:                                    1,
		`assay_quota_refusals_total{kind="quota-today"}`:                                 1,
		`assay_runs_waiting{pool="(builtin)",work="evaluation"}`:                         0,
		`assay_runs_waiting{pool="default",work="image"}`:                                1,
		`assay_http_request_duration_seconds_count{operation="createTask",status="4xx"}`: 1,
	} {
		if m[series] != want {
			t.Errorf("%s is %v, want %v", series, m[series], want)
		}
	}
	if a := s.send(t, "", http.MethodGet, "/debug/pprof/", nil); a.status != http.StatusNotFound {
		t.Errorf("the public address has profiles: %d", a.status)
	}
	if a := s.send(t, "", http.MethodGet, "/metrics", nil); a.status != http.StatusNotFound {
		t.Errorf("the public address has metrics: %d", a.status)
	}
}
