// Package work leases runs by long polling, and executes or evaluates them. It extends each lease with heartbeats, which also carry the
// lines of the log. If a lease is lost, it stops at once, because results without a lease are refused.
package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/sandbox"
	"assay/grpc/worker/scratch"
	"assay/grpc/worker/transfer"
	"assay/shared/language/wait"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Worker leases and does work.
type Worker struct {
	Client      assayv1.WorkerServiceClient
	Files       *transfer.Client
	Sandbox     sandbox.Sandbox
	Folder      *scratch.Folder
	Log         *slog.Logger
	Name        string
	Pools       []string
	Kinds       []assayv1.WorkKind
	Limits      sandbox.Limits
	Local       bool          // the sandbox runs commands without images
	Concurrency int           // number of concurrent leases
	Grace       time.Duration // for work in progress when the worker stops
	RetryFor    time.Duration // how long to repeat a failing call while the lease holds
}

// DefaultRetryFor exceeds the usual duration of server restarts and store outages.
const DefaultRetryFor = 10 * time.Minute

const (
	leaseWait     = 30 * time.Second // longest wait of a call for work
	callTime      = 10 * time.Second // timeout of calls that do not wait
	maxRetryDelay = 15 * time.Second // between failing calls

	faultDelaySteps = 3           // added to the number of faults, so that the first delay after a worker fault is 2 s
	maxFaultDelay   = time.Minute // after worker faults
)

// errStopping is the cause of ending work when the worker stops.
var errStopping = errors.New("the worker stops")

// Run works until the context ends, or until the server refuses the worker permanently; then it returns that error. Work in progress may
// continue for the grace period. After it, the worker returns the run.
func (w *Worker) Run(ctx context.Context) error {
	working, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	defer leave(nil)
	slots, leasing := errgroup.WithContext(ctx)
	for range w.Concurrency {
		slots.Go(func() error { return w.serve(leasing, working) })
	}
	<-leasing.Done()
	w.Log.Info("the worker leases no more work, and stops when its current work is done or the grace period is over", "grace", w.Grace)
	defer time.AfterFunc(w.Grace, func() { leave(errStopping) }).Stop()
	return slots.Wait()
}

// refusal returns an error if the server refuses the worker permanently, and nil if a later call may succeed. An unauthenticated worker
// whose token was accepted before may get a new token in the token file.
func (w *Worker) refusal(err error, accepted time.Time) error {
	switch code := status.Code(err); {
	case code == codes.InvalidArgument:
		return fmt.Errorf("the server refuses what this worker asks for, by its name, pools and kinds of work: %s", explain(err))
	case code == codes.PermissionDenied, code == codes.Unauthenticated && time.Since(accepted) > w.RetryFor:
		return fmt.Errorf("the server refuses this worker, whose token must be valid and of somebody with the role worker: %w", err)
	}
	return nil
}

// serve leases and does one piece of work after another.
func (w *Worker) serve(ctx, working context.Context) error {
	failures, faults := 0, 0
	var accepted time.Time // last successful call
	for ctx.Err() == nil {
		work, err := w.leaseWork(ctx)
		switch {
		case ctx.Err() != nil && work == nil:
		case w.refusal(err, accepted) != nil:
			return w.refusal(err, accepted)
		case err != nil:
			failures++
			w.Log.Warn("no work can be leased", "error", status.Convert(err).Message(), "code", status.Code(err))
			wait.Sleep(ctx, wait.Backoff(failures, maxRetryDelay))
		default:
			failures, accepted = 0, time.Now()
			if work == nil {
				continue
			}
			if w.do(working, work) {
				faults = 0
				continue
			}
			// The delay keeps a broken machine from using up the attempts of all runs.
			faults++
			wait.Sleep(ctx, wait.Backoff(faults+faultDelaySteps, maxFaultDelay))
		}
	}
	return nil
}

// leaseWork waits for work. It returns nil if there was none.
func (w *Worker) leaseWork(ctx context.Context) (*assayv1.Work, error) {
	began := time.Now()
	call, cancel := context.WithTimeout(ctx, leaseWait+callTime)
	defer cancel()
	answer, err := w.Client.Lease(call, &assayv1.LeaseRequest{
		Worker: w.Name, Pools: w.Pools, Kinds: w.Kinds, Wait: durationpb.New(leaseWait), Builds: !w.Local,
	})
	if err == nil && answer.GetWork() == nil && time.Since(began) < time.Second {
		// A stopping server answers all workers at once. They must not call again immediately.
		return nil, status.Error(codes.Unavailable, "the server does not wait for work")
	}
	return answer.GetWork(), err
}
