package work

import (
	"context"
	"fmt"
	"time"

	"assay/shared/wait"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// callWithRetry repeats a call until the server answers it, the lease is lost, or the time for retries is over. The server answers
// a repeat after a lost answer like the first call, unless the run was leased again meanwhile: then the lease is lost.
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
		case stale(err):
			err = fmt.Errorf("%w: the server says: %s", errLeaseLost, status.Convert(err).Message())
			h.end(err)
			return answer, err
		case h.ctx.Err() != nil:
			return answer, context.Cause(h.ctx)
		case status.Code(err) == codes.Internal || status.Code(err) == codes.Unknown:
			if serverFaults++; serverFaults == maxServerFaults || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)) {
				return answer, err
			}
		case transient(err) && time.Now().After(end):
			return answer, fmt.Errorf("the server did not take the call within %s and %d tries, at last: %w", h.retryFor, failures, err)
		case !transient(err) || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)):
			return answer, err
		}
	}
}

// maxServerFaults is how often a call is made that the server answers with an internal error.
const maxServerFaults = 5

// transient reports whether the same call may succeed later, perhaps with a renewed token.
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
