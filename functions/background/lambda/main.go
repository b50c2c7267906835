// Command lambda is the function background, which evaluates runs and does background work. The table's stream calls it for queued runs and
// pending work. One-time schedules, which the function creates, call it when work is due. So an unused service runs and costs nothing.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"assay/functions/background"
	"assay/functions/background/evaluator"
	"assay/shared/edge/awsconfig"
	"assay/shared/edge/gateway/schedule"
	"assay/shared/language/metrics"
	"assay/shared/service/config"
	"assay/shared/service/due"
	"assay/shared/service/files"
	"assay/shared/service/quota"
	"assay/shared/storage/blob/s3"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"
)

func main() { os.Exit(schedule.Serve(open)) }

func open(log *slog.Logger) (handler any, err error) {
	var env config.Environment
	quotas, err := quota.FromEnvironment()
	table := quota.New(quotas, dynamo.New(awsconfig.Table(&env)), time.Now).Store()
	recorder := metrics.CloudWatch(log, env.Require(config.TableVariable), time.Now)
	e := &evaluator.Worker{
		Store: table, Files: files.Observed{Store: s3.New(awsconfig.Bucket(&env)), Metrics: recorder}, Now: time.Now, Log: log,
		Holder:  env.Require("AWS_LAMBDA_LOG_STREAM_NAME"),
		Metrics: recorder,
		Places:  evaluator.DeployedPlaces(),
	}
	b := background.New(table, e.Files, time.Now, log)
	b.Metrics = e.Metrics
	f := newFunction(e, b, schedule.New(&env))
	return f.Handle, errors.Join(env.Err(), err)
}

// newFunction returns a function that handles changes one after another, because an evaluation uses all processors. It waits for work that
// is due within seconds, like passes of a reevaluation.
func newFunction(e *evaluator.Worker, b *background.Worker, schedules *schedule.Schedules) *schedule.Function {
	return &schedule.Function{
		Store: b.Store, Schedules: schedules, Wake: schedule.WakeDue, AtOnce: 1,
		HandleChange: func(ctx context.Context, it store.Item) (time.Time, error) { return handleChange(ctx, e, b, it) },
		RunDue:       func(ctx context.Context) (time.Time, error) { return runDue(ctx, e, b), nil },
		Clean:        func(ctx context.Context, after string) error { return clean(ctx, b, schedules, after) },
		Linger:       func(ctx context.Context) error { return evaluateSlow(ctx, e) },
		MinPause:     2 * time.Second, MaxPause: 5 * time.Second, MaxPasses: 5,
	}
}

// handleChange evaluates a queued run, or does the pending work of a record.
func handleChange(ctx context.Context, e *evaluator.Worker, b *background.Worker, it store.Item) (time.Time, error) {
	evaluated, err := e.HandleChange(ctx, it)
	if err != nil {
		return time.Time{}, err
	}
	done, err := b.HandleChange(ctx, it)
	return due.Earliest(evaluated, done), err
}

// clean deletes files that no record names. If the time of the call ends first, it schedules a call that continues there.
func clean(ctx context.Context, w *background.Worker, schedules *schedule.Schedules, after string) error {
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

// evaluateSlow evaluates runs in the slow lane. If the time of the call ends first, the next call continues.
func evaluateSlow(ctx context.Context, w *evaluator.Worker) error {
	err := w.EvaluateSlow(ctx)
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// runDue does all due work and evaluates the queued runs. It returns the next time at which work is due, which is soon after a failure, or
// the zero Time.
func runDue(ctx context.Context, e *evaluator.Worker, b *background.Worker) time.Time {
	err := errors.Join(e.RecordWaiting(ctx), b.FailUnserved(ctx), b.RunDue(ctx), e.EvaluateQueued(ctx))
	unbounded := context.WithoutCancel(ctx)
	evaluations, nextErr := e.NextDue(unbounded)
	others, otherErr := b.NextDue(unbounded)
	if err = errors.Join(err, nextErr, otherErr); err != nil {
		slog.ErrorContext(ctx, "not all due work was done", "error", err)
		return b.Now().Add(schedule.RetryDelay)
	}
	return due.Earliest(evaluations, others)
}
