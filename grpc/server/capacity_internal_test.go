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
	"assay/shared/blob/directory"
	"assay/shared/queue"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/store/dynamo/dynamotest"
)

var update = flag.Bool("update", false, "write the cost of calls")

// capacityTable is what calls cost over DynamoDB, from which infra/README.md computes what the server costs.
const capacityTable = "testdata/capacity.golden"

// TestCapacity holds what a server does to the capacity that DynamoDB says it consumes. `go test ./grpc/server -run
// TestCapacity -update` writes the table.
func TestCapacity(t *testing.T) {
	db := dynamotest.Open(t, dynamotest.Start(t))
	files, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Store: db, Files: files, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	d := newDispatcher(queue.Queue{Store: db, Now: time.Now}, env.Log, DefaultFirstLease, time.Hour)
	w := newWorkerService(env, d, DefaultLease)
	sweep := &sweeper{queue: queue.Queue{Store: db, Now: time.Now}, log: env.Log}
	look := func(ctx context.Context) error {
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
	measure("look for work of three kinds, without any", look)
	measure("look for lapsed leases, without any", sweep.sweep)
	run := waiting(t, db)
	measure("lease a run", func(ctx context.Context) error { return look(ctx) })
	leased := stored(t, db, run.ID)
	measure("describe its work", func(ctx context.Context) error {
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
	complete := &assayv1.CompleteRunRequest{RunId: run.ID, LeaseId: leased.Lease.ID, Files: []*assayv1.File{{Name: "run.txt", Size: 1, Sha256: sum}}}
	measure("declare an output", func(ctx context.Context) error {
		_, err := w.CompleteRun(ctx, complete)
		return err
	})
	w.env.Files = there{files}
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

// there has every file that is asked for.
type there struct{ blob.Store }

func (there) Stat(_ context.Context, key string) (blob.Object, error) {
	return blob.Object{Key: key, Size: 1}, nil
}

// waiting makes a run that waits to be executed, with all that belongs to it.
func waiting(t *testing.T, s store.Store) *record.RunItem {
	t.Helper()
	now := time.Now()
	at := record.At(now)
	data := &record.DatasetItem{}
	data.Meta, data.TaskID = record.NewMeta(now), record.NewID(now)
	data.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}
	truth := &record.Truth{Meta: data.Meta, TaskID: data.TaskID, Number: 1, Evaluator: data.Evaluator}
	submission := &record.SubmissionItem{}
	submission.Meta, submission.TaskID, submission.UserID = record.NewMeta(now), data.TaskID, record.NewID(now)
	submission.Type, submission.Image = record.ImageType, "registry.example.org/ranker:1"
	run := &record.RunItem{Queue: record.QueueWorkers, Type: record.ImageType, Access: record.AccessAttributes{OrganizerID: record.NewID(now)}, Counted: true}
	run.Meta, run.TaskID, run.DatasetID, run.SubmissionID, run.UserID = record.NewMeta(now), data.TaskID, data.ID, submission.ID, submission.UserID
	run.Team, run.State, run.QueuedAt = "A team of four", record.Queued, &at
	if err := new(records.Tx).Create(data).Create(truth).Create(record.NewTruthSecret(data.ID, now)).Create(submission).Create(run).Commit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return run
}

func stored(t *testing.T, s store.Store, id string) *record.RunItem {
	t.Helper()
	run, err := records.Get[record.RunItem](t.Context(), s, store.Strong, record.RunKey(id))
	if err != nil || run == nil || run.Lease == nil {
		t.Fatal(run, err)
	}
	return run
}
