// Command lambda is the function of the evaluator. The table's stream calls it for queued runs and pending work, and one-time schedules,
// which it makes itself, when work is due. So an unused service runs and costs nothing.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"assay/functions/evaluator"
	"assay/shared/blob/s3"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway/schedule"
	"assay/shared/metrics"
	"assay/shared/quota"
	"assay/shared/store"
	"assay/shared/store/dynamo"
	"assay/shared/wait"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	slog.SetDefault(log)
	f, err := newFunction(log)
	if err != nil {
		log.Error("the function cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start(f.handle)
}

func newFunction(log *slog.Logger) (*function, error) {
	var env config.Environment
	quotas, err := quota.FromEnvironment()
	f := &function{
		worker: &evaluator.Worker{
			Store: quota.New(quotas, dynamo.New(awsconfig.Table(&env)), time.Now).Store(), Files: s3.New(awsconfig.Bucket(&env)),
			Now: time.Now, Log: log,
			Holder:  env.Require("AWS_LAMBDA_LOG_STREAM_NAME"),
			Metrics: metrics.CloudWatch(log, env.Require(config.TableVariable), time.Now),
		},
		schedules: schedule.New(&env),
	}
	return f, errors.Join(env.Err(), err)
}

// function handles the events of both sources.
type function struct {
	worker    *evaluator.Worker
	schedules *schedule.Schedules
}

// event has a member for each source; an event has one of them.
type event struct {
	Records []json.RawMessage
	schedule.Event
}

// shutdownMargin is how long before Lambda's timeout the function stops its work, releases its runs and schedules the rest.
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
		return nil, f.handleSchedule(ctx, e.Event)
	}
	var first struct{ EventSource string } // as all records have it
	if err := json.Unmarshal(e.Records[0], &first); err != nil {
		return nil, fmt.Errorf("a record that is no JSON object: %w", err)
	}
	if first.EventSource != "aws:dynamodb" {
		return nil, fmt.Errorf("events from %q are unknown", first.EventSource)
	}
	return f.handleChanges(ctx, e.Records)
}

// handleChanges handles records of the table's stream. It reports those that fail, so that the stream repeats them and those after.
func (f *function) handleChanges(ctx context.Context, records []json.RawMessage) (events.DynamoDBEventResponse, error) {
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	var next time.Time
	for _, raw := range records {
		var r events.DynamoDBEventRecord
		var again time.Time
		err := cmp.Or(json.Unmarshal(raw, &r), ctx.Err()) // when there is no time to begin another
		if err == nil {
			again, err = f.handleChange(ctx, &r)
		}
		if err != nil {
			slog.ErrorContext(ctx, "a change was not handled and is repeated", "sequenceNumber", r.Change.SequenceNumber, "error", err)
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
	if p, s := r.Change.Keys[dynamo.PartitionKey], r.Change.Keys[dynamo.SortKey]; p.DataType() == events.DataTypeString &&
		s.DataType() == events.DataTypeString {
		key = store.Key{Partition: p.String(), Sort: s.String()}
	}
	if again, err = f.worker.HandleChange(ctx, key); err != nil {
		// Should the change end in the dead-letter queue, a later call still finds the work.
		again = f.worker.Now().Add(retryDelay)
	}
	return again, err
}

// retryDelay is the delay after a failure: until then Lambda has stopped its own retries.
const retryDelay = 15 * time.Minute

const day = 24 * time.Hour

// Limits of one call. Schedules have a resolution of a minute, so the call itself waits for work that is due within maxPause, such as
// the passes of a reevaluation. Later records of the stream wait meanwhile, but not their runs, since runDue evaluates all.
const (
	minPause  = 2 * time.Second // the index that NextDue reads may lag by about a second
	maxPause  = 5 * time.Second
	maxPasses = 5
)

// handleSchedule handles an event of a schedule.
func (f *function) handleSchedule(ctx context.Context, e schedule.Event) error {
	switch e.Wake {
	case schedule.WakeDue:
		return f.runUntil(ctx, f.runDue(ctx))
	case schedule.WakeClean:
		return f.clean(ctx, e.After)
	default:
		return errors.New("an event of no known source")
	}
}

// clean deletes files that nothing names any more. When its time ends before the files do, the next call goes on from there.
func (f *function) clean(ctx context.Context, after string) error {
	rest := schedule.Event{Wake: schedule.WakeClean}
	var err error
	if rest.After, err = f.worker.DeleteAbandonedFiles(ctx, after); ctx.Err() == nil {
		err = errors.Join(err, f.worker.DeleteExpiredResults(ctx))
	}
	now := f.worker.Now()
	switch unbounded := context.WithoutCancel(ctx); {
	case ctx.Err() != nil:
		return f.schedules.Set(unbounded, now, rest)
	case err != nil:
		return errors.Join(err, f.schedules.Set(unbounded, now.Add(day), rest))
	}
	return nil
}

// runDue does all due work and evaluates the queued runs, and returns the next instant at which work is due: soon after a failure, and
// the zero Time when there is none.
func (f *function) runDue(ctx context.Context) time.Time {
	err := errors.Join(f.worker.RecordWaiting(ctx), f.worker.RunDue(ctx), f.worker.FailUnserved(ctx), f.worker.EvaluateQueued(ctx))
	next, nextErr := f.worker.NextDue(context.WithoutCancel(ctx))
	if err = errors.Join(err, nextErr); err != nil {
		slog.ErrorContext(ctx, "not all due work was done", "error", err)
		return f.worker.Now().Add(retryDelay)
	}
	return next
}

// runUntil waits for work that is due in a moment and does it; for work that is due later it makes a schedule.
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
	return f.schedules.Set(context.WithoutCancel(ctx), next, schedule.Event{Wake: schedule.WakeDue})
}
