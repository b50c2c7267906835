package work

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"assay/shared/wait"
)

// callWithRetry makes a call again until the server has answered it, the lease is lost, or the time for retries is over:
// a server that extends the lease and refuses the call for so long has a fault that does not pass. A call that is repeated
// because its answer was lost is answered as the first was, unless the run has been leased again meanwhile: then the lease is lost.
func callWithRetry[Request, Answer any](h *lease, method func(context.Context, Request, ...grpc.CallOption) (Answer, error), request Request) (Answer, error) {
	broken := 0 // errors of the server itself
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
			if broken++; broken == maxServerFaults || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)) {
				return answer, err
			}
		case transient(err) && time.Now().After(end):
			return answer, fmt.Errorf("the server did not take the call within %s and %d tries, at last: %w", h.retryFor, failures, err)
		case !transient(err) || !wait.Sleep(h.ctx, wait.Backoff(failures, maxRetryDelay/5)):
			return answer, err
		}
	}
}

// maxServerFaults is how often a call is made that the server answers with an internal error, which it may on each.
const maxServerFaults = 5

// transient reports whether the same call may succeed later. A token may be renewed meanwhile.
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

// reason is the reason of an error as google.rpc.ErrorInfo has it.
func reason(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// explain tells what a server refuses, with the fields that are at fault.
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
