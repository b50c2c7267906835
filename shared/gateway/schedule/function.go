package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"assay/shared/store"
	"assay/shared/store/dynamo"
	"assay/shared/wait"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"golang.org/x/sync/errgroup"
)

// Serve has the handler that open returns answer the events of a function of Lambda. It returns only when the function cannot begin, with
// the status to exit with, and logs why.
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

// Function is a function that the table's stream calls for changes, and schedules, which it makes itself, when work is due.
type Function struct {
	Schedules *Schedules
	Wake      string // names the schedules for what is due
	AtOnce    int    // records of the stream that are handled at the same time

	// HandleChange handles the record under the key. RunDue does what is due; its error has Lambda repeat the call. Both return the next
	// instant at which work is due, or the zero Time.
	HandleChange func(context.Context, store.Key) (time.Time, error)
	RunDue       func(context.Context) (time.Time, error)
	Clean        func(ctx context.Context, after string) error // nil: no schedule asks for it
	// Linger does what may take minutes. Only calls by schedules do it, and last: a call of the stream would keep the changes behind it
	// waiting. Nil: there is no such work.
	Linger func(context.Context) error

	// Schedules have a resolution of a minute, so a call itself waits for work that is due within MaxPause, at least for MinPause, by which
	// the index of due work may lag, and does it, at most MaxPasses times.
	MinPause, MaxPause time.Duration
	MaxPasses          int
}

// Invocation is what Lambda calls a Function with: it has records of the stream, or is the event of a schedule.
type Invocation struct {
	Records []events.DynamoDBEventRecord
	Event
}

const (
	// ShutdownMargin is how long before Lambda's timeout a function stops its work and schedules the rest.
	ShutdownMargin = 30 * time.Second
	// RetryDelay is the delay after a failure: until then Lambda has stopped its own retries.
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
	case len(in.Records) > 0 && in.Records[0].EventSource != "aws:dynamodb": // as all records have it
		return nil, fmt.Errorf("events from %q are unknown", in.Records[0].EventSource)
	case len(in.Records) > 0:
		return f.handleChanges(ctx, in.Records)
	case in.Wake == f.Wake:
		next, err := f.RunDue(ctx)
		err = errors.Join(err, f.runUntil(ctx, next))
		if f.Linger != nil {
			err = errors.Join(err, f.Linger(ctx))
		}
		return nil, err
	case in.Wake == WakeClean && f.Clean != nil:
		return nil, f.Clean(ctx, in.After)
	default:
		return nil, errors.New("an event of no known source")
	}
}

// handleChanges handles records of the table's stream. It reports those that fail, so that the stream repeats them and those after.
func (f *Function) handleChanges(ctx context.Context, changes []events.DynamoDBEventRecord) (events.DynamoDBEventResponse, error) {
	due, failed := make([]time.Time, len(changes)), make([]error, len(changes))
	var all errgroup.Group
	all.SetLimit(f.AtOnce)
	for i, change := range changes {
		all.Go(func() error {
			due[i], failed[i] = f.handleChange(ctx, change)
			return nil // failures are of their records alone
		})
	}
	_ = all.Wait()
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var next time.Time
	for i, at := range due {
		number := changes[i].Change.SequenceNumber
		if failed[i] != nil {
			slog.ErrorContext(ctx, "a change was not handled and is repeated", "sequenceNumber", number, "error", failed[i])
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: number})
			at = time.Now().Add(RetryDelay) // should the change end in the dead-letter queue, a later call still finds the work
		}
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return out, f.runUntil(ctx, next)
}

func (f *Function) handleChange(ctx context.Context, r events.DynamoDBEventRecord) (time.Time, error) {
	p, s := r.Change.Keys[dynamo.PartitionKey], r.Change.Keys[dynamo.SortKey]
	switch {
	case ctx.Err() != nil: // there is no time to begin another
		return time.Time{}, ctx.Err()
	case p.DataType() != events.DataTypeString || s.DataType() != events.DataTypeString:
		return time.Time{}, errors.New("the record has no key")
	}
	return f.HandleChange(ctx, store.Key{Partition: p.String(), Sort: s.String()})
}

// runUntil waits for work that is due in a moment and does it; for work that is due later it makes a schedule. Later records of the stream
// wait meanwhile, but not their work, since RunDue does all.
func (f *Function) runUntil(ctx context.Context, next time.Time) (err error) {
	for range f.MaxPasses {
		if next.IsZero() || time.Until(next) > f.MaxPause || !wait.Sleep(ctx, max(time.Until(next), f.MinPause)) {
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
