package server

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/auth"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/metrics"
	"assay/shared/language/problem"
	"assay/shared/service/queue"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// failingStore is a store that can stop answering.
type failingStore struct {
	store.Store
	down bool
}

func (s *failingStore) Ping(ctx context.Context) error {
	if s.down {
		return errors.New("no answer")
	}
	return s.Store.Ping(ctx)
}

func TestHealth_TellsLivenessFromReadiness(t *testing.T) {
	table := &failingStore{Store: recordtest.OpenStore(t, embedded.Options{}), down: true}
	s := New(Env{Store: table, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, Options{QueuePollInterval: time.Hour})
	const (
		serving = grpc_health_v1.HealthCheckResponse_SERVING
		not     = grpc_health_v1.HealthCheckResponse_NOT_SERVING
	)
	want := func(when string, live, ready grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for name, want := range map[string]grpc_health_v1.HealthCheckResponse_ServingStatus{
			"": live, "assay.v1.WorkerService": ready, "assay.v1.RunService": ready} {
			if got, err := s.health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name}); err != nil || got.GetStatus() != want {
				t.Errorf("%s %q is %s, %v; want %s", when, name, got.GetStatus(), err, want)
			}
		}
	}
	s.ping(t.Context())
	want("without a store", not, not)
	table.down = false
	s.ping(t.Context())
	want("over the store", serving, serving)
	table.down = true
	s.ping(t.Context())
	want("in an outage", serving, not)
	table.down = false
	s.ping(t.Context())
	want("after the outage", serving, serving)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	s.watchHealth(stopped)
	want("while it stops", not, not)
}

func TestStatuses_CoverAllKindsOfProblems(t *testing.T) {
	for _, k := range problem.Kinds {
		code, ok := statuses[k]
		if !ok || code == codes.OK || code == codes.Unknown || (code == codes.Internal) != (k == problem.Internal) {
			t.Errorf("%s has the code %v", k.Slug, code)
		}
	}
	if len(statuses) != len(problem.Kinds) {
		t.Errorf("%d codes for %d kinds", len(statuses), len(problem.Kinds))
	}
}

func TestStatusOf_ProblemHasDetails(t *testing.T) {
	err := problem.Invalid.New("secret of the body").With(problem.NewField("/files/0/mediaType", "is none")).After(2 * time.Second)
	s := statusOf(t.Context(), err, "id-1")
	if s.Code() != codes.InvalidArgument || strings.Contains(s.Message(), "body") {
		t.Errorf("%v", s)
	}
	var found []string
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			found = append(found, d.GetFieldViolations()[0].GetField()+" "+d.GetFieldViolations()[0].GetDescription())
		case *errdetails.ErrorInfo:
			found = append(found, d.GetDomain()+" "+d.GetReason()+" "+d.GetMetadata()["slug"]+" "+d.GetMetadata()["type"])
		case *errdetails.RequestInfo:
			found = append(found, d.GetRequestId())
		case *errdetails.RetryInfo:
			found = append(found, d.GetRetryDelay().AsDuration().String())
		}
	}
	if got := strings.Join(found, "|"); got != "files[0].media_type is none|assay INVALID invalid urn:assay:problem:invalid|id-1|2s" {
		t.Errorf("%s", got)
	}
}

func TestStatusOf_OtherErrorsRevealNothing(t *testing.T) {
	if s := statusOf(t.Context(), errors.New("a secret"), "id"); s.Code() != codes.Internal || strings.Contains(s.Message(), "secret") {
		t.Errorf("%v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := statusOf(ctx, problem.Unavailable.Wrap(ctx.Err(), "x"), "id"); s.Code() != codes.Canceled {
		t.Errorf("%v", s)
	}
	late, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	if s := statusOf(late, late.Err(), "id"); s.Code() != codes.DeadlineExceeded {
		t.Errorf("%v", s)
	}
}

func TestAuthorize_EveryMethodHasOneRole(t *testing.T) {
	s := New(Env{Log: slog.New(slog.DiscardHandler), Now: time.Now}, Options{
		Lease: time.Minute, FirstLease: time.Minute, QueuePollInterval: time.Minute, Reflection: true})
	served := map[string]bool{}
	for name, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			method := "/" + name + "/" + m.Name
			served[method] = true
			if methodRights[method].role == 0 || methodRights[method].token == 0 {
				t.Errorf("nobody may call %s", method)
			}
			if workers := strings.HasPrefix(name, "assay.v1.Worker"); workers && methodRights[method].role != access.Worker {
				t.Errorf("%s may be called with %v", method, methodRights[method])
			}
		}
	}
	for method := range methodRights {
		if !served[method] {
			t.Errorf("the rule for %s is for nothing", method)
		}
	}
	if err := authorize(access.Caller{ID: "x", Admin: true, Worker: true}, "/assay.v1.RunService/Other"); err == nil {
		t.Error("a method without a rule may be called")
	}
}

// TestContract_NamesLimits checks that the comments of the protocol, which authors of workers read, and the README name the limits of
// the server.
func TestContract_NamesLimits(t *testing.T) {
	content, err := os.ReadFile("../proto/assay/v1/worker.proto")
	must(t, err)
	readme, err := os.ReadFile("../README.md")
	must(t, err)
	contract := strings.Join(strings.Fields(strings.ReplaceAll(string(content)+string(readme), "//", "")), " ")
	for _, want := range []string{
		fmt.Sprintf("A request has at most %d MiB, after decompression too", maxMessage>>20),
		fmt.Sprintf("must arrive within %.0f seconds", firstMessageTimeout.Seconds()),
		fmt.Sprintf("at most %d calls at a time", maxStreams),
		fmt.Sprintf("pings a silent client after %.0f minute", keepAliveTime.Minutes()),
		fmt.Sprintf("a client may ping every %.0f seconds", minKeepAliveTime.Seconds()),
		fmt.Sprintf("An idle connection is closed after %.0f minutes", idleTime.Minutes()),
		fmt.Sprintf("After %.0f hour the server asks the client to connect again (GOAWAY) and gives calls %.0f minutes", connectionAge.Hours(),
			connectionGrace.Minutes()),
		fmt.Sprintf("at most %d, each a name", maxPools),
		fmt.Sprintf("at most %d,%03d and %d KiB in one call", maxHeartbeatLines/1000, maxHeartbeatLines%1000, maxHeartbeatBytes>>10),
		fmt.Sprintf("keeps %d MiB of a log", record.MaxLogBytes>>20),
		fmt.Sprintf("beyond %d KiB is cut off", record.MaxLineBytes>>10),
		fmt.Sprintf("1 to %d, each of 1 byte to %d GiB", record.MaxFiles, record.MaxFileBytes>>30),
		fmt.Sprintf("names of one line and at most %d bytes", maxNameBytes),
		fmt.Sprintf("sends a heartbeat every %.0f seconds", (DefaultLease / heartbeatsPerLease).Seconds()),
		fmt.Sprintf("No worker gets it for %.0f seconds", queue.RetryDelay.Seconds()),
		fmt.Sprintf("one of %d attempts is left, %.0f seconds later after the first and %.0f after the second", record.MaxAttempts,
			queue.RetryDelay.Seconds(), 2*queue.RetryDelay.Seconds()),
	} {
		if !strings.Contains(contract, want) {
			t.Errorf("neither the protocol nor the README says %q", want)
		}
	}
}

var update = flag.Bool("update", false, "write the cost of calls")

// capacityTable lists the capacity units of calls. infra/cost.md computes the cost of the server from it.
const capacityTable = "testdata/capacity.golden"

// TestCapacity compares the capacity units that calls consume in DynamoDB with the table. `go test ./grpc/server -run TestCapacity
// -update` writes the table.
func TestCapacity(t *testing.T) {
	db := dynamotest.Open(t, dynamotest.Start(t))
	env := Env{Store: db, Files: recordtest.OpenFiles(t), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	d := newDispatcher(queue.Queue{Store: db, Now: time.Now}, env.Log, DefaultFirstLease, time.Hour)
	w := newWorkerService(env, d, DefaultLease)
	sweep := &sweeper{queue: queue.Queue{Store: db, Now: time.Now}, log: env.Log}
	poll := func(ctx context.Context) error {
		waiter := &waiter{leased: make(chan *record.RunItem, 1)}
		for _, work := range []record.Work{record.ExecuteImage, record.ExecuteRepository, record.Evaluate} {
			waiter.demands = append(waiter.demands, demand{record.DefaultPool, work})
		}
		d.join(waiter)
		defer d.leave(waiter)
		for _, want := range d.demands(true) {
			if err := d.serve(ctx, want); err != nil {
				return err
			}
		}
		return nil
	}
	ctx := context.WithValue(t.Context(), callKey{}, &call{})
	var out bytes.Buffer
	rows := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(rows, "what\tcalls\tRCU\tWCU")
	measure := func(name string, do func(context.Context) error) {
		t.Helper()
		var u store.Usage
		var units dynamotest.Units
		if err := do(dynamotest.WithUnits(store.WithUsage(ctx, &u), &units)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, _ = fmt.Fprintf(rows, "%s\t%d\t%.1f\t%d\n", name, u.Calls.Load(), float64(units.Read.Load())/1000, units.Written.Load()/1000)
	}
	measure("look for work of three kinds, without any", poll)
	measure("look for lapsed leases, without any", sweep.sweep)
	b := recordtest.New(t, db)
	b.Files = env.Files
	run := b.Task().Dataset().Run("ann", recordtest.OfImage)
	measure("lease a run", poll)
	leased := recordtest.Get[record.RunItem](t, db, run.Key())
	measure("build its message", func(ctx context.Context) error {
		work, err := w.workFor(ctx, leased)
		if work == nil && err == nil {
			return context.Canceled
		}
		return err
	})
	beat := &assayv1.HeartbeatRequest{RunId: run.ID, LeaseId: leased.Lease.ID}
	heartbeat := func(ctx context.Context) error {
		_, err := w.Heartbeat(ctx, beat)
		return err
	}
	must(t, heartbeat(ctx))
	measure("heartbeat", heartbeat)
	measure("set the end of a lease again", func(ctx context.Context) error {
		q := w.queue
		q.Now = func() time.Time { return recordtest.Get[record.RunItem](t, db, run.Key()).Lease.Until.Time }
		_, err := q.ReclaimExpired(ctx, run.ID)
		return err
	})
	for range 10 {
		beat.Lines = append(beat.Lines, &assayv1.OutputLine{Stream: assayv1.Stream_STREAM_STDOUT, Text: strings.Repeat("x", 80)})
	}
	measure("heartbeat with 10 lines", heartbeat)
	output := recordtest.File("run.txt", "x", record.FilePending)
	complete := &assayv1.CompleteRunRequest{RunId: run.ID, LeaseId: leased.Lease.ID, Files: []*assayv1.File{protoFile(&output)}}
	completeRun := func(ctx context.Context) error {
		_, err := w.CompleteRun(ctx, complete)
		return err
	}
	measure("declare an output", completeRun)
	b.File(record.HolderRuns, run.ID, output.Name, "x")
	measure("complete a run", completeRun)
	must(t, rows.Flush())
	if *update {
		must(t, os.WriteFile(capacityTable, out.Bytes(), 0o600))
	}
	want, err := os.ReadFile(capacityTable)
	must(t, err)
	if out.String() != string(want) {
		t.Errorf("%s is stale; run go test ./grpc/server -run TestCapacity -update and look at what changed:\n%s", capacityTable, &out)
	}
}

// The waiting calls of one user's tokens are bounded, because every user can make tokens for workers.
func TestLease_BoundsThoseThatWaitForAUser(t *testing.T) {
	w := &newWorkerService(Env{}, &dispatcher{}, 0).waiting
	for range maxWaitingLeases {
		if _, err := w.enter("ann"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.enter("ann"); !problem.TooManyRequests.Is(err) {
		t.Errorf("%v", err)
	}
	leave, err := w.enter("bob")
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if len(w.by) != 1 {
		t.Errorf("%v", w.by)
	}
}

func TestCall_RecordsRefusalsForRates(t *testing.T) {
	var recorded []string
	c := &call{server: &Server{env: Env{Log: slog.New(slog.DiscardHandler), Metrics: func(m *metrics.Metric, _ float64, labels ...string) {
		recorded = append(append(recorded, m.Name), labels...)
	}}}}
	for _, err := range []error{nil, problem.NotFound.New("There is none."), problem.TooManyRequests.New("End some first.")} {
		_ = c.end(t.Context(), err) // other tests check the status
	}
	if got := strings.Join(recorded, " "); got != "quota_refusals_total too-many-requests" {
		t.Errorf("recorded are %q", got)
	}
}

// Behind a proxy without a trusted header, all callers have the same address. Then made-up tokens of one caller block the tokens of
// others.
func TestNetwork_TellsCallersBehindAProxyApart(t *testing.T) {
	proxy := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4321}})
	now := time.Now()
	stopped := func() time.Time { return now } // no further lookup becomes allowed
	for header, apart := range map[string]bool{"": false, "X-Forwarded-For": true} {
		verify := auth.NewAuthenticator(nil, recordtest.OpenStore(t, embedded.Options{}), stopped,
			ratelimit.New(ratelimit.Rates{Token: ratelimit.Policy{PerSecond: 1, Burst: 1}}, ""))
		s := New(Env{Verify: verify.Caller, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
			Options{QueuePollInterval: time.Hour, ProxyHeader: header})
		try := func(from string) error {
			token, _ := auth.NewAccessToken(record.NewID(time.Now()))
			c := &call{server: s, network: s.network(proxy, metadata.Pairs("x-forwarded-for", "203.0.113.9, "+from))}
			return c.authenticate(proxy, []string{"Bearer " + token})
		}
		for range 2 {
			_ = try("198.51.100.1")
		}
		if err := try("198.51.100.1"); !problem.Unavailable.Is(err) {
			t.Errorf("header %q, one address: %v", header, err)
		}
		if err := try("198.51.100.2"); problem.InvalidToken.Is(err) != apart {
			t.Errorf("header %q, another address: %v", header, err)
		}
	}
}
