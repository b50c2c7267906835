package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/grpc/assayv1"
	"assay/grpc/worker/output"
	"assay/shared/wait"
)

// errGone is what the loss of a lease is, whatever the cause.
var errGone = errors.New("the lease is lost")

// promptly is how soon lines are sent, so that watchers see them live.
const promptly = 700 * time.Millisecond

// hold keeps one lease. Time is told by durations from the worker's own steady clock.
type hold struct {
	client         assayv1.WorkerServiceClient
	runID, leaseID string
	interval       time.Duration
	persistence    time.Duration // how long insist makes a call again
	log            *output.Log
	ctx            context.Context //nolint:containedctx // its end is the end of the lease, which this is all about
	end            context.CancelCauseFunc
	lapse          *time.Timer

	mu       sync.Mutex // held for a heartbeat: one after the other
	last     time.Time
	failures int
}

func newHold(ctx context.Context, client assayv1.WorkerServiceClient, work *assayv1.Work, persistence time.Duration) *hold {
	h := &hold{
		client: client, runID: work.GetRunId(), leaseID: work.GetLeaseId(), interval: max(work.GetHeartbeatInterval().AsDuration(), time.Millisecond),
		persistence: persistence, log: output.New(),
	}
	h.ctx, h.end = context.WithCancelCause(ctx)
	h.lapse = time.AfterFunc(work.GetLeaseDuration().AsDuration(), func() {
		h.end(fmt.Errorf("%w: the server has not answered for as long as it lasts", errGone))
	})
	return h
}

// keep sends heartbeats until the lease ends, the first at once.
func (h *hold) keep() {
	defer h.lapse.Stop()
	h.beat()
	for h.ctx.Err() == nil {
		select {
		case <-h.ctx.Done():
		case <-h.log.News(): // the pause may be shorter now
		case <-time.After(h.pause()):
			h.beat()
		}
	}
}

// pause is how long it is to the next heartbeat.
func (h *hold) pause() time.Duration {
	some, full := h.log.Waiting()
	h.mu.Lock()
	defer h.mu.Unlock()
	due := h.interval
	switch {
	case h.failures > 0:
		due = min(due, wait.Backoff(h.failures, longestPause/5))
	case full:
		due = 0
	case some:
		due = min(due, promptly)
	}
	return time.Until(h.last.Add(due))
}

// beat sends one heartbeat, with lines of the log if there are any, and returns how many have failed in a row.
func (h *hold) beat() (failures int) {
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
			h.end(fmt.Errorf("%w: the server says: %s", errGone, status.Convert(err).Message()))
		}
	case answer.GetStop():
		h.end(fmt.Errorf("%w: the server says to stop: %s", errGone, answer.GetStopReason()))
	default:
		h.failures = 0
		h.log.Kept(answer.GetNextLine())
		// The server counted from some moment between the call and its answer.
		h.lapse.Reset(answer.GetLeaseDuration().AsDuration() - time.Since(h.last))
	}
	return h.failures
}

// drainTime is how long the last lines of a log may take.
const drainTime = 20 * time.Second

// drain sends the lines that wait, before an answer that ends the lease.
func (h *hold) drain() {
	ctx, cancel := context.WithTimeout(h.ctx, drainTime)
	defer cancel()
	for some, _ := h.log.Waiting(); some && ctx.Err() == nil; some, _ = h.log.Waiting() {
		if failures := h.beat(); failures > 0 {
			wait.Sleep(ctx, wait.Backoff(failures, longestPause/5))
		}
	}
}

// stale reports whether the server knows the lease no more.
func stale(err error) bool {
	code := status.Code(err)
	return code == codes.FailedPrecondition || code == codes.NotFound
}
