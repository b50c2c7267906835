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
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/edge/mail/ses"
	"assay/shared/service/config"
	"assay/shared/storage/store/dynamo"
)

func main() { os.Exit(schedule.Serve(open)) }

func open(log *slog.Logger) (handler any, err error) {
	var env config.Environment
	w := &notifier.Worker{Store: dynamo.New(awsconfig.Table(&env)), Now: time.Now, Log: log,
		URL: strings.TrimRight(env.Require(config.URLVariable), "/")}
	f := newFunction(w, schedule.New(&env))
	if from := os.Getenv(config.MailFromVariable); from != "" {
		w.Mail, err = ses.New(awsconfig.SES(&env), from)
	}
	return f.Handle, errors.Join(env.Err(), err)
}

// newFunction returns a function that handles changes at the same time, since a receiver of webhooks may be slow to answer. A pass over
// what is due begins about 32 e-mails.
func newFunction(w *notifier.Worker, schedules *schedule.Schedules) *schedule.Function {
	return &schedule.Function{
		Schedules: schedules, Wake: schedule.WakeNotify, AtOnce: 32, HandleChange: w.HandleChange,
		RunDue:   func(ctx context.Context) (time.Time, error) { return runDue(ctx, w) },
		MinPause: time.Second, MaxPasses: 60,
	}
}

// runDue delivers what is due, and returns the next instant at which something is: now when the time of the call ends before.
func runDue(ctx context.Context, w *notifier.Worker) (time.Time, error) {
	next, err := w.RunDue(ctx)
	if err != nil && ctx.Err() == nil {
		return w.Now().Add(schedule.RetryDelay), err
	}
	if ctx.Err() != nil {
		next = w.Now()
	}
	return next, nil
}
