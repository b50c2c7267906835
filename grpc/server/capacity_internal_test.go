package server

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"assay/grpc/assayv1"
	"assay/shared/blob"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
)

var update = flag.Bool("update", false, "write the cost of calls")

// capacityTable has the capacity units of calls, from which infra/README.md computes the cost of the server.
const capacityTable = "testdata/capacity.golden"

// TestCapacity compares the capacity that calls consume in DynamoDB with the table, which `go test ./grpc/server -run TestCapacity
// -update` writes.
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
	run := recordtest.New(t, db).Task().Dataset().Run("ann", recordtest.OfImage)
	measure("lease a run", func(ctx context.Context) error { return poll(ctx) })
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
	if err := heartbeat(ctx); err != nil {
		t.Fatal(err)
	}
	measure("heartbeat", heartbeat)
	for range 10 {
		beat.Lines = append(beat.Lines, &assayv1.OutputLine{Stream: assayv1.Stream_STREAM_STDOUT, Text: strings.Repeat("x", 80)})
	}
	measure("heartbeat with 10 lines", heartbeat)
	sum := strings.Repeat("a", 64)
	complete := &assayv1.CompleteRunRequest{RunId: run.ID, LeaseId: leased.Lease.ID, Files: []*assayv1.File{
		{Name: "run.txt", Size: 1, Sha256: sum}}}
	measure("declare an output", func(ctx context.Context) error {
		_, err := w.CompleteRun(ctx, complete)
		return err
	})
	w.env.Files = fullStore{env.Files}
	measure("complete a run", func(ctx context.Context) error {
		_, err := w.CompleteRun(ctx, complete)
		return err
	})
	if err := rows.Flush(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(capacityTable, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(capacityTable)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("%s is stale; run go test ./grpc/server -run TestCapacity -update and look at what changed:\n%s", capacityTable, &out)
	}
}

// fullStore has every file.
type fullStore struct{ blob.Store }

func (fullStore) Stat(_ context.Context, key string) (blob.Object, error) {
	return blob.Object{Key: key, Size: 1}, nil
}
