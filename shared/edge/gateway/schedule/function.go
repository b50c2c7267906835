package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"assay/shared/language/wait"
	"assay/shared/service/due"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"golang.org/x/sync/errgroup"
)

// Serve runs the handler that open returns as a Lambda function. It returns only if the function cannot start; it logs the reason and
// returns the exit status.
func Serve(open func(*slog.Logger) (handler any, err error)) (status int) {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	handler, err := open(log)
	if err != nil {
		log.Error("the function cannot start", "error", err)
		return 1
	}
	lambda.Start(handler)
	return 0
}

// Function is a Lambda function with two sources of events: the stream of the table for changes, and schedules for due work. The
// function creates its schedules itself.
type Function struct {
	Store     store.Store
	Schedules *Schedules
	Wake      string // Event.Wake of the schedules for due work
	AtOnce    int    // greatest number of stream records that are handled concurrently

	// HandleChange handles a record that was just read. RunDue does the work that is due; after an error Lambda repeats the call. Both
	// return the time at which the next work is due, or the zero Time.
	HandleChange func(context.Context, store.Item) (time.Time, error)
	RunDue       func(context.Context) (time.Time, error)
	Clean        func(ctx context.Context, after string) error // nil: no schedule asks for it
	// Linger does work that may take minutes. Only calls by schedules do it, as their last step, because a call by the stream would
	// delay later changes. Nil: there is no such work.
	Linger func(context.Context) error

	// Schedules have a resolution of a minute. A call itself waits for work that is due within MaxPause, and then does it, at most
	// MaxPasses times. It waits at least MinPause, because the index of due work may be that late.
	MinPause, MaxPause time.Duration
	MaxPasses          int
}

// Invocation is the event of a Function. It has either records of the stream or the Event of a schedule.
type Invocation struct {
	Records []events.DynamoDBEventRecord
	Event
}

const (
	// ShutdownMargin is the time before Lambda's timeout at which a function stops its work and schedules the rest.
	ShutdownMargin = 30 * time.Second
	// RetryDelay is the delay of a schedule after a failure. By then Lambda has stopped its own retries.
	RetryDelay = 15 * time.Minute
)

// Handle handles a call of Lambda.
func (f *Function) Handle(ctx context.Context, in Invocation) (any, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-ShutdownMargin))
		defer cancel()
	}
	switch {
	case len(in.Records) > 0 && in.Records[0].EventSource != "aws:dynamodb": // all records have the same source
		return nil, fmt.Errorf("events from %q are unknown", in.Records[0].EventSource)
	case len(in.Records) > 0:
		return f.handleChanges(ctx, in.Records)
	case in.Wake == f.Wake:
		return nil, f.handleWake(ctx)
	case in.Wake == WakeClean && f.Clean != nil:
		return nil, f.Clean(ctx, in.After)
	default:
		return nil, errors.New("an event of no known source")
	}
}

// handleWake does the due work, and then the work that may take minutes.
func (f *Function) handleWake(ctx context.Context) error {
	next, err := f.RunDue(ctx)
	err = errors.Join(err, f.runUntil(ctx, next))
	if f.Linger != nil {
		err = errors.Join(err, f.Linger(ctx))
	}
	return err
}

// handleChanges handles records of the table's stream. It reports failed records, so that Lambda repeats them and the later ones.
func (f *Function) handleChanges(ctx context.Context, changes []events.DynamoDBEventRecord) (events.DynamoDBEventResponse, error) {
	left := make([]time.Time, len(changes))
	failed := make([]error, len(changes))
	var all errgroup.Group
	all.SetLimit(f.AtOnce)
	for i, change := range changes {
		all.Go(func() error {
			left[i], failed[i] = f.handleChange(ctx, change)
			return nil // a failure concerns only its record
		})
	}
	_ = all.Wait()
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var next time.Time
	for i, at := range left {
		number := changes[i].Change.SequenceNumber
		if failed[i] != nil {
			slog.ErrorContext(ctx, "cannot handle a change; the stream repeats it", "sequenceNumber", number, "error", failed[i])
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: number})
			at = time.Now().Add(RetryDelay) // a later call finds the work even if the change ends in the dead-letter queue
		}
		next = due.Earliest(next, at)
	}
	return out, f.runUntil(ctx, next)
}

func (f *Function) handleChange(ctx context.Context, r events.DynamoDBEventRecord) (time.Time, error) {
	p, s := r.Change.Keys[dynamo.PartitionKey], r.Change.Keys[dynamo.SortKey]
	switch {
	case ctx.Err() != nil: // too late to begin
		return time.Time{}, ctx.Err()
	case p.DataType() != events.DataTypeString || s.DataType() != events.DataTypeString:
		return time.Time{}, errors.New("the record has no key")
	}
	items, err := f.Store.Get(ctx, store.Strong, store.Key{Partition: p.String(), Sort: s.String()})
	if err != nil {
		return time.Time{}, records.Failed(err)
	}
	return f.HandleChange(ctx, items[0])
}

// runUntil waits for work that is due within MaxPause and does it. For later work it creates a schedule. Later records of the stream
// wait meanwhile. Their work does not, because RunDue does all work that is due.
func (f *Function) runUntil(ctx context.Context, next time.Time) (err error) {
	for range f.MaxPasses {
		if !f.waitUntil(ctx, next) {
			break
		}
		var failed error
		next, failed = f.RunDue(ctx)
		err = errors.Join(err, failed)
	}
	if next.IsZero() {
		return err
	}
	return errors.Join(err, f.Schedules.Set(context.WithoutCancel(ctx), next, Event{Wake: f.Wake}))
}

// waitUntil waits for work that is due at the given time. It reports false at once if there is none within MaxPause, and when the context
// ends.
func (f *Function) waitUntil(ctx context.Context, at time.Time) bool {
	if at.IsZero() || time.Until(at) > f.MaxPause {
		return false
	}
	return wait.Sleep(ctx, max(time.Until(at), f.MinPause))
}
