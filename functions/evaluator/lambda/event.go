package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"assay/functions/evaluator"
	"assay/shared/blob"
	"assay/shared/files"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/store/dynamo"
	"assay/shared/wait"

	"github.com/aws/aws-lambda-go/events"
)

// function handles the events of the three sources.
type function struct {
	worker *evaluator.Worker
	alarms *schedules
}

// event has a member for each source; an event has one of them.
type event struct {
	Records []json.RawMessage
	Wake    string // what to wake for, from a schedule of alarms
}

// shutdownMargin is how long before Lambda ends the process the function stops what it is at, gives back the runs under its hands,
// and has itself woken for the rest.
const shutdownMargin = 30 * time.Second

func (f *function) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-shutdownMargin))
		defer cancel()
	}
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("an event that is no JSON object: %w", err)
	}
	if len(e.Records) == 0 {
		return nil, f.wake(ctx, e.Wake)
	}
	var first struct{ EventSource string } // as all records have it
	if err := json.Unmarshal(e.Records[0], &first); err != nil {
		return nil, fmt.Errorf("a record that is no JSON object: %w", err)
	}
	switch first.EventSource {
	case "aws:dynamodb":
		return f.changed(ctx, e.Records)
	case "aws:s3":
		return nil, f.arrived(ctx, e.Records)
	default:
		return nil, fmt.Errorf("nothing is known of events from %q", first.EventSource)
	}
}

// changed handles changes of the table. Those that fail are reported, so that they, and those behind them, come again.
func (f *function) changed(ctx context.Context, records []json.RawMessage) (events.DynamoDBEventResponse, error) {
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var next time.Time
	for _, raw := range records {
		var r events.DynamoDBEventRecord
		err := json.Unmarshal(raw, &r)
		if err == nil {
			err = ctx.Err() // there is no time for what has not begun
		}
		var again time.Time
		if err == nil {
			again, err = f.handleChange(ctx, &r)
		}
		if err != nil {
			slog.ErrorContext(ctx, "a change was not handled and comes again", "sequenceNumber", r.Change.SequenceNumber, "error", err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: r.Change.SequenceNumber})
		}
		if next.IsZero() || !again.IsZero() && again.Before(next) {
			next = again
		}
	}
	return out, f.runUntil(ctx, next)
}

func (f *function) handleChange(ctx context.Context, r *events.DynamoDBEventRecord) (again time.Time, err error) {
	key := store.Key{}
	if p, s := r.Change.Keys[dynamo.PartitionKey], r.Change.Keys[dynamo.SortKey]; p.DataType() == events.DataTypeString && s.DataType() == events.DataTypeString {
		key = store.Key{Partition: p.String(), Sort: s.String()}
	}
	if again, err = f.worker.HandleChange(ctx, key); err != nil {
		// Should the change be set aside in the end, a later call still finds what it asks for.
		again = f.worker.Now().Add(retryDelay)
	}
	return again, err
}

// retryDelay is when to look after a change that could not be handled: when Lambda has given up trying.
const retryDelay = 15 * time.Minute

// arrived tells the records that wait for them of files that are there. Every file is a reason to clean when it would
// count as abandoned.
func (f *function) arrived(ctx context.Context, records []json.RawMessage) error {
	var failed error
	for _, raw := range records {
		var r events.S3EventRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("a record of S3 that cannot be read: %w", err)
		}
		key, err := url.QueryUnescape(r.S3.Object.Key)
		if err != nil {
			return fmt.Errorf("the key of a record of S3: %w", err)
		}
		err = files.Uploads{Store: f.worker.Store, Now: f.worker.Now}.Complete(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			err = nil // nobody waits for it
		}
		failed = errors.Join(failed, err, f.alarms.set(ctx, f.worker.Now().Add(record.AbandonedAfter).Truncate(day).Add(day), wakeClean))
	}
	return failed
}

const day = 24 * time.Hour

// Limits of one call. A schedule comes on the minute, so the call itself waits for what is due within maxPause: a dataset
// whose ground truth changed is evaluated in passes a few seconds apart. Records of the stream behind it wait meanwhile, but
// not the runs that they are about: runDue evaluates all that are queued, in turn.
const (
	minPause  = 2 * time.Second // the index that Next reads may be about a second behind
	maxPause  = 5 * time.Second
	maxPasses = 5
)

// wake handles an event of a schedule.
func (f *function) wake(ctx context.Context, what string) error {
	switch what {
	case wakeDue:
		return f.runUntil(ctx, f.runDue(ctx))
	case wakeClean:
		if err := errors.Join(f.worker.Clean(ctx), f.worker.CleanResults(ctx)); err != nil {
			return errors.Join(err, f.alarms.set(context.WithoutCancel(ctx), f.worker.Now().Add(day), wakeClean))
		}
		return nil
	default:
		return fmt.Errorf("an event that is of no known source")
	}
}

// runDue does all that is due and evaluates the runs that wait, and returns the next instant at which something is due.
// That is soon after what failed, and the zero Time when nothing is left.
func (f *function) runDue(ctx context.Context) time.Time {
	err := errors.Join(f.worker.RunDue(ctx), f.worker.Unserved(ctx), f.worker.EvaluateQueued(ctx))
	next, nextErr := f.worker.NextDue(context.WithoutCancel(ctx))
	if err = errors.Join(err, nextErr); err != nil {
		slog.ErrorContext(ctx, "not all that is due was done", "error", err)
		return f.worker.Now().Add(retryDelay)
	}
	return next
}

// runUntil waits for what is due in a moment and does it, until nothing is; for what is due later it makes a schedule.
func (f *function) runUntil(ctx context.Context, next time.Time) error {
	for range maxPasses {
		if next.IsZero() || next.After(f.worker.Now().Add(maxPause)) || !wait.Sleep(ctx, max(next.Sub(f.worker.Now()), minPause)) {
			break
		}
		next = f.runDue(ctx)
	}
	if next.IsZero() {
		return nil
	}
	return f.alarms.set(context.WithoutCancel(ctx), next, wakeDue)
}
