package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/output"
	"assay/shared/language/wait"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errLeaseLost is the error that every loss of a lease wraps.
var errLeaseLost = errors.New("the lease is lost")

// lineDelay bounds the delay of lines, so that watchers see them live.
const lineDelay = 700 * time.Millisecond

// lease extends one lease with heartbeats. It measures time only with the worker's monotonic clock.
type lease struct {
	client         assayv1.WorkerServiceClient
	runID, leaseID string
	interval       time.Duration
	retryFor       time.Duration // how long callWithRetry repeats a call
	log            *output.Log
	ctx            context.Context //nolint:containedctx // it ends with the lease
	end            context.CancelCauseFunc
	expiry         *time.Timer

	mu       sync.Mutex // held during a heartbeat
	last     time.Time
	failures int
}

func newLease(ctx context.Context, client assayv1.WorkerServiceClient, work *assayv1.Work, retryFor time.Duration) *lease {
	h := &lease{
		client: client, runID: work.GetRunId(), leaseID: work.GetLeaseId(),
		interval: max(work.GetHeartbeatInterval().AsDuration(), time.Millisecond),
		retryFor: retryFor, log: output.New(),
	}
	h.ctx, h.end = context.WithCancelCause(ctx)
	h.expiry = time.AfterFunc(work.GetLeaseDuration().AsDuration(), func() {
		h.end(fmt.Errorf("%w: the server has not answered for its duration", errLeaseLost))
	})
	return h
}

// sendHeartbeats sends heartbeats until the lease ends. It sends the first one at once.
func (h *lease) sendHeartbeats() {
	defer h.expiry.Stop()
	h.heartbeat()
	for h.ctx.Err() == nil {
		select {
		case <-h.ctx.Done():
		case <-h.log.Changed(): // the next heartbeat may be due earlier
		case <-time.After(h.untilHeartbeat()):
			h.heartbeat()
		}
	}
}

// untilHeartbeat returns the duration until the next heartbeat.
func (h *lease) untilHeartbeat() time.Duration {
	some, full := h.log.Pending()
	h.mu.Lock()
	defer h.mu.Unlock()
	due := h.interval
	switch {
	case h.failures > 0:
		due = min(due, wait.Backoff(h.failures, maxRetryDelay/5))
	case full:
		due = 0
	case some:
		due = min(due, lineDelay)
	}
	return time.Until(h.last.Add(due))
}

// heartbeat sends one heartbeat with pending lines of the log. It returns the number of consecutive failures.
func (h *lease) heartbeat() (failures int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, lines := h.log.Next()
	h.last = time.Now()
	call, cancel := context.WithTimeout(h.ctx, callTime)
	defer cancel()
	answer, err := h.client.Heartbeat(call, &assayv1.HeartbeatRequest{RunId: h.runID, LeaseId: h.leaseID, FirstLine: first, Lines: lines})
	switch {
	case err != nil:
		h.failures++
		if isStaleLease(err) {
			h.end(fmt.Errorf("%w: the server says: %s", errLeaseLost, status.Convert(err).Message()))
		}
	case answer.GetStop():
		h.end(fmt.Errorf("%w: the server says to stop: %s", errLeaseLost, answer.GetStopReason()))
	default:
		h.failures = 0
		h.log.Acknowledge(answer.GetNextLine())
		// The server extended the lease at some time between the call and its answer; the earlier time is safe.
		h.expiry.Reset(answer.GetLeaseDuration().AsDuration() - time.Since(h.last))
	}
	return h.failures
}

// drainTimeout bounds the time to send the last lines of a log.
const drainTimeout = 20 * time.Second

// flush sends the pending lines. It must run before the call that ends the lease.
func (h *lease) flush() {
	ctx, cancel := context.WithTimeout(h.ctx, drainTimeout)
	defer cancel()
	for some, _ := h.log.Pending(); some && ctx.Err() == nil; some, _ = h.log.Pending() {
		if failures := h.heartbeat(); failures > 0 {
			wait.Sleep(ctx, wait.Backoff(failures, maxRetryDelay/5))
		}
	}
}

// isStaleLease reports whether the error means that the lease is lost.
func isStaleLease(err error) bool {
	code := status.Code(err)
	return code == codes.FailedPrecondition || code == codes.NotFound
}

// callWithRetry repeats a call until the server answers it, the lease is lost, or the time for retries is over. After a lost answer, the
// server answers the repeated call like the first one. If the run was leased again meanwhile, the lease is lost.
func callWithRetry[Request, Answer any](h *lease, method func(context.Context, Request, ...grpc.CallOption) (Answer, error),
	request Request) (Answer, error) {
	serverFaults := 0
	end := time.Now().Add(h.retryFor)
	for failures := 1; ; failures++ {
		call, cancel := context.WithTimeout(h.ctx, 3*callTime)
		answer, err := method(call, request)
		cancel()
		switch {
		case err == nil:
			return answer, nil
		case isStaleLease(err):
			err = fmt.Errorf("%w: the server says: %s", errLeaseLost, status.Convert(err).Message())
			h.end(err)
			return answer, err
		case h.ctx.Err() != nil:
			return answer, context.Cause(h.ctx)
		case status.Code(err) == codes.Internal || status.Code(err) == codes.Unknown:
			serverFaults++
			if serverFaults == maxServerFaults || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)) {
				return answer, err
			}
		case transient(err) && time.Now().After(end):
			return answer, fmt.Errorf("the server did not take the call within %s and %d tries, at last: %w", h.retryFor, failures, err)
		case !transient(err) || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)):
			return answer, err
		}
	}
}

// maxServerFaults bounds the attempts at a call that the server answers with internal errors.
const maxServerFaults = 5

// transient reports whether the same call may succeed later, for example with a renewed token.
func transient(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.OutOfRange, codes.PermissionDenied, codes.ResourceExhausted, codes.Unimplemented:
		return false
	case codes.Aborted:
		return reason(err) != truthChanged
	}
	return true
}

const truthChanged = "TRUTH_CHANGED"

// reason returns the reason in the google.rpc.ErrorInfo of an error.
func reason(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// explain returns the message of an error with its field violations.
func explain(err error) string {
	s := status.Convert(err)
	text := s.Message()
	for _, d := range s.Details() {
		if bad, ok := d.(*errdetails.BadRequest); ok {
			for _, f := range bad.GetFieldViolations() {
				text += "\n" + f.GetField() + ": " + f.GetDescription()
			}
		}
	}
	return text
}
