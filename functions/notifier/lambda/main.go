// Command lambda is the function of the notifier. The table's stream calls it for what is put into the outbox, and one-time schedules,
// which it makes itself, when something there is due. So an unused service runs and costs nothing.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"assay/functions/notifier"
	"assay/shared/config"
	"assay/shared/config/awsconfig"
	"assay/shared/gateway/schedule"
	"assay/shared/mail/ses"
	"assay/shared/records"
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
	w := &notifier.Worker{Store: dynamo.New(awsconfig.Table(&env)), Now: time.Now, Log: log,
		URL: strings.TrimRight(env.Require(config.URLVariable), "/")}
	f := &function{w, schedule.New(&env)}
	var err error
	if from := os.Getenv(config.MailFromVariable); from != "" {
		w.Mail, err = ses.New(awsconfig.SES(&env), from)
	}
	return f, errors.Join(env.Err(), err)
}

// function handles the events of both sources.
type function struct {
	worker    *notifier.Worker
	schedules *schedule.Schedules
}

// event has a member for each source; an event has one of them.
type event struct {
	Records []events.DynamoDBEventRecord
	schedule.Event
}

// Limits of one call.
const (
	shutdownMargin = 30 * time.Second // before Lambda's timeout
	retryDelay     = 15 * time.Minute // after a failure: until then Lambda has stopped its own retries
	passPause      = time.Second      // between passes: the index that RunDue reads may lag by about as much
	maxPasses      = 60               // a pass begins about 32 e-mails
)

func (f *function) handle(ctx context.Context, e event) (any, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-shutdownMargin))
		defer cancel()
	}
	switch {
	case len(e.Records) > 0:
		return f.handleChanges(ctx, e.Records)
	case e.Wake == schedule.WakeNotify:
		return nil, f.runDue(ctx)
	default:
		return nil, errors.New("an event of no known source")
	}
}

// handleChanges handles records of the table's stream, at the same time, since a receiver of webhooks may be slow to answer. It reports
// those that fail, so that the stream repeats them and those after.
func (f *function) handleChanges(ctx context.Context, changes []events.DynamoDBEventRecord) (events.DynamoDBEventResponse, error) {
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
	due, failed := make([]time.Time, len(changes)), make([]error, len(changes))
	_ = records.Concurrently(len(changes), func(i int) error {
		p, s := changes[i].Change.Keys[dynamo.PartitionKey], changes[i].Change.Keys[dynamo.SortKey]
		if p.DataType() != events.DataTypeString || s.DataType() != events.DataTypeString {
			failed[i] = errors.New("the record has no key")
			return nil
		}
		due[i], failed[i] = f.worker.HandleChange(ctx, store.Key{Partition: p.String(), Sort: s.String()})
		return nil // failures are of their records alone
	})
	var next time.Time
	for i, at := range due {
		if number := changes[i].Change.SequenceNumber; failed[i] != nil {
			slog.ErrorContext(ctx, "a change was not handled and is repeated", "sequenceNumber", number, "error", failed[i])
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: number})
			at = f.worker.Now().Add(retryDelay) // should the change end in the dead-letter queue
		}
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return out, f.wakeAt(ctx, next)
}

// runDue delivers what is due.
func (f *function) runDue(ctx context.Context) error {
	for range maxPasses {
		next, err := f.worker.RunDue(ctx)
		switch {
		case ctx.Err() != nil: // the time of the call ends, and the rest is done in the next
			return f.wakeAt(ctx, f.worker.Now())
		case err != nil:
			return errors.Join(err, f.wakeAt(ctx, f.worker.Now().Add(retryDelay)))
		case next.IsZero() || next.After(f.worker.Now()):
			return f.wakeAt(ctx, next)
		}
		wait.Sleep(ctx, passPause)
	}
	return f.wakeAt(ctx, f.worker.Now())
}

// wakeAt has the function called at the instant, unless it is the zero Time.
func (f *function) wakeAt(ctx context.Context, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	return f.schedules.Set(context.WithoutCancel(ctx), at, schedule.Event{Wake: schedule.WakeNotify})
}
