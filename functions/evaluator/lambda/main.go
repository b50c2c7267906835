// Command lambda is the function of the evaluator. The table's stream calls it for queued runs and pending work, and one-time schedules,
// which it makes itself, when work is due. So an unused service runs and costs nothing.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"assay/functions/evaluator"
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/language/metrics"
	"assay/shared/service/config"
	"assay/shared/service/quota"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/store/dynamo"
)

func main() { os.Exit(schedule.Serve(open)) }

func open(log *slog.Logger) (handler any, err error) {
	var env config.Environment
	quotas, err := quota.FromEnvironment()
	f := newFunction(&evaluator.Worker{
		Store: quota.New(quotas, dynamo.New(awsconfig.Table(&env)), time.Now).Store(), Files: s3.New(awsconfig.Bucket(&env)),
		Now: time.Now, Log: log,
		Holder:  env.Require("AWS_LAMBDA_LOG_STREAM_NAME"),
		Metrics: metrics.CloudWatch(log, env.Require(config.TableVariable), time.Now),
		Places:  evaluator.DeployedPlaces(),
	}, schedule.New(&env))
	return f.Handle, errors.Join(env.Err(), err)
}

// newFunction returns a function that handles changes one after another, since an evaluation uses all processors. Passes of a reevaluation
// follow within seconds.
func newFunction(w *evaluator.Worker, schedules *schedule.Schedules) *schedule.Function {
	return &schedule.Function{
		Schedules: schedules, Wake: schedule.WakeDue, AtOnce: 1, HandleChange: w.HandleChange,
		RunDue:   func(ctx context.Context) (time.Time, error) { return runDue(ctx, w), nil },
		Clean:    func(ctx context.Context, after string) error { return clean(ctx, w, schedules, after) },
		Linger:   func(ctx context.Context) error { return evaluateSlow(ctx, w) },
		MinPause: 2 * time.Second, MaxPause: 5 * time.Second, MaxPasses: 5,
	}
}

// clean deletes files that nothing names any more. When its time ends before the files do, the next call goes on from there.
func clean(ctx context.Context, w *evaluator.Worker, schedules *schedule.Schedules, after string) error {
	rest := schedule.Event{Wake: schedule.WakeClean}
	var err error
	rest.After, err = w.DeleteAbandonedFiles(ctx, after)
	if ctx.Err() == nil {
		err = errors.Join(err, w.DeleteExpiredResults(ctx))
	}
	unbounded := context.WithoutCancel(ctx)
	switch {
	case ctx.Err() != nil:
		return schedules.Set(unbounded, w.Now(), rest)
	case err != nil:
		return errors.Join(err, schedules.Set(unbounded, w.Now().AddDate(0, 0, 1), rest))
	}
	return nil
}

// evaluateSlow evaluates in the slow lane. When the time of the call ends, the next call continues.
func evaluateSlow(ctx context.Context, w *evaluator.Worker) error {
	err := w.EvaluateSlow(ctx)
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// runDue does all due work and evaluates the queued runs, and returns the next instant at which work is due: soon after a failure, and
// the zero Time when there is none.
func runDue(ctx context.Context, w *evaluator.Worker) time.Time {
	err := errors.Join(w.RecordWaiting(ctx), w.RunDue(ctx), w.FailUnserved(ctx), w.EvaluateQueued(ctx))
	next, nextErr := w.NextDue(context.WithoutCancel(ctx))
	if err = errors.Join(err, nextErr); err != nil {
		slog.ErrorContext(ctx, "not all due work was done", "error", err)
		return w.Now().Add(schedule.RetryDelay)
	}
	return next
}
