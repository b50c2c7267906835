package work

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"assay/grpc/assayv1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestCallWithRetry_EndsByTheCode(t *testing.T) {
	const retryFor = 10 * time.Minute
	for _, tt := range []struct {
		code     codes.Code
		calls    int // 0: as many as fit into the time
		min, max time.Duration
		lost     bool
	}{
		{codes.Unavailable, 0, retryFor, retryFor + maxRetryDelay/5, false},
		{codes.Unauthenticated, 0, retryFor, retryFor + maxRetryDelay/5, false},
		{codes.Internal, maxServerFaults, time.Second, 4 * time.Second, false},
		{codes.InvalidArgument, 1, 0, 0, false},
		{codes.FailedPrecondition, 1, 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLease(t.Context(), nil, &assayv1.Work{LeaseDuration: durationpb.New(time.Hour)}, retryFor)
			calls, began := 0, time.Now()
			_, err := callWithRetry(l, func(context.Context, string, ...grpc.CallOption) (string, error) {
				calls++
				return "", status.Error(tt.code, "as the test wants it")
			}, "")
			if took := time.Since(began); err == nil || took < tt.min || took > tt.max || tt.calls > 0 && calls != tt.calls {
				t.Errorf("%s: %v after %d calls and %s", tt.code, err, calls, took)
			}
			if lost := errors.Is(err, errLeaseLost); lost != tt.lost || (l.ctx.Err() != nil) != tt.lost {
				t.Errorf("%s: the lease is lost: %v, %v", tt.code, lost, l.ctx.Err())
			}
		})
	}
}
