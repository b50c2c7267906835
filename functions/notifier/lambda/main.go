// Command lambda is the function of the notifier. The table's stream calls it for new records of the outbox. One-time schedules, which the
// function creates, call it when such a record is due. So an unused service runs and costs nothing.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"assay/functions/notifier"
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/edge/mail/ses"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"
)

func main() { os.Exit(schedule.Serve(open)) }

func open(log *slog.Logger) (handler any, err error) {
	var env config.Environment
	w := notifier.New(dynamo.New(awsconfig.Table(&env)), time.Now, log)
	w.URL = strings.TrimRight(env.Require(config.URLVariable), "/")
	f := newFunction(w, schedule.New(&env))
	if from := os.Getenv(config.MailFromVariable); from != "" {
		w.Mail, err = ses.New(awsconfig.SES(&env), from)
	}
	return f.Handle, errors.Join(env.Err(), err)
}

// newFunction returns a function that handles changes concurrently, because a receiver of webhooks may answer slowly.
func newFunction(w *notifier.Worker, schedules *schedule.Schedules) *schedule.Function {
	return &schedule.Function{
		Store: w.Store, Schedules: schedules, Wake: schedule.WakeNotify, AtOnce: 32, HandleChange: w.HandleChange,
		RunDue:   func(ctx context.Context) (time.Time, error) { return runDue(ctx, w) },
		MinPause: time.Second, MaxPasses: 60,
	}
}

// runDue delivers the due records. It returns the next time at which a record is due. That is now if the time of the call ends first, and
// later after a failure.
func runDue(ctx context.Context, w *notifier.Worker) (next time.Time, err error) {
	if err = w.RunDue(ctx); err == nil {
		next, err = w.NextDue(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return w.Now().Add(schedule.RetryDelay), err
	}
	if ctx.Err() != nil {
		next = w.Now()
	}
	return next, nil
}
