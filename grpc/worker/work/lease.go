package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/output"
	"assay/shared/wait"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errLeaseLost is wrapped by the cause of every lost lease.
var errLeaseLost = errors.New("the lease is lost")

// lineDelay bounds how long lines wait to be sent, so that watchers see them live.
const lineDelay = 700 * time.Millisecond

// lease extends one lease with heartbeats. It measures time by the worker's monotonic clock alone.
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

// sendHeartbeats sends heartbeats until the lease ends, the first at once.
func (h *lease) sendHeartbeats() {
	defer h.expiry.Stop()
	h.heartbeat()
	for h.ctx.Err() == nil {
		select {
		case <-h.ctx.Done():
		case <-h.log.Changed(): // the pause may be shorter now
		case <-time.After(h.pause()):
			h.heartbeat()
		}
	}
}

// pause returns the time until the next heartbeat.
func (h *lease) pause() time.Duration {
	some, full := h.log.Waiting()
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

// heartbeat sends one heartbeat, with pending lines of the log, and returns how many have failed in a row.
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
		if stale(err) {
			h.end(fmt.Errorf("%w: the server says: %s", errLeaseLost, status.Convert(err).Message()))
		}
	case answer.GetStop():
		h.end(fmt.Errorf("%w: the server says to stop: %s", errLeaseLost, answer.GetStopReason()))
	default:
		h.failures = 0
		h.log.Acknowledge(answer.GetNextLine())
		// The server extended the lease at some moment between the call and its answer.
		h.expiry.Reset(answer.GetLeaseDuration().AsDuration() - time.Since(h.last))
	}
	return h.failures
}

// drainTimeout bounds sending the last lines of a log.
const drainTimeout = 20 * time.Second

// drain sends the pending lines, before the call that ends the lease.
func (h *lease) drain() {
	ctx, cancel := context.WithTimeout(h.ctx, drainTimeout)
	defer cancel()
	for some, _ := h.log.Waiting(); some && ctx.Err() == nil; some, _ = h.log.Waiting() {
		if failures := h.heartbeat(); failures > 0 {
			wait.Sleep(ctx, wait.Backoff(failures, maxRetryDelay/5))
		}
	}
}

// stale reports whether the server no longer has the lease.
func stale(err error) bool {
	code := status.Code(err)
	return code == codes.FailedPrecondition || code == codes.NotFound
}
