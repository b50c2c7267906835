package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"assay/shared/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

const (
	maxAttempts  = 10
	firstBackoff = 25 * time.Millisecond
	maxBackoff   = time.Second
)

// backoff is how long to wait after the attempt, counted from 0: any time up to a bound that doubles, so that those who
// met once do not meet again.
func backoff(attempt int, _ error) (time.Duration, error) {
	return rand.N(min(firstBackoff<<min(attempt, maxAttempts), maxBackoff)), nil //nolint:gosec // jitter
}

// newRetryer tries again what the SDK would, transactions that lost against others, and calls whose answer broke off. It waits for less
// time than the SDK's one second at first, which is for services that are slower, and does without its budget of retries for each
// client: a function serves one request at a time, whose deadline is the budget.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.Backoff = maxAttempts, retry.BackoffDelayerFunc(backoff)
		o.RateLimiter = ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{
			retry.IsErrorRetryableFunc(isTransactionConflict), retry.IsErrorRetryableFunc(isBrokenAnswer)}, o.Retryables...)
	})
}

// Reasons why DynamoDB cancels a transaction that will never do as it is; all others may pass.
const (
	conditionFailed = "ConditionalCheckFailed"
	validationError = "ValidationError"
	noReason        = "None"
)

// isTransactionConflict reports whether a transaction may go through when it is sent again as it is. One that has a failed
// condition beside a conflict is not certain to have been judged against one state, so it is sent again too.
func isTransactionConflict(err error) aws.Ternary {
	if _, running := errors.AsType[*types.TransactionInProgressException](err); running {
		return aws.TrueTernary
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return aws.UnknownTernary
	}
	again := aws.FalseTernary
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case validationError:
			return aws.FalseTernary
		case conditionFailed, noReason, "":
		default: // TransactionConflict, ThrottlingError, ProvisionedThroughputExceeded
			again = aws.TrueTernary
		}
	}
	return again
}

// isBrokenAnswer reports whether the connection ended in the middle of an answer. Writes carry a token, so that a write which is sent
// again is made once.
func isBrokenAnswer(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// failed is the contract's error for what DynamoDB, or the way to it, returned.
func failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("store: given up after %w: %w", err, ctx.Err())
	}
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		if answer.ErrorCode() == "ValidationException" {
			return fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
		if final(answer) {
			return fmt.Errorf("store: %w", err)
		}
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// final reports whether the answer is the client's fault, such as a missing table or permission, and stays the same.
func final(answer smithy.APIError) bool {
	_, cancelled := errors.AsType[*types.TransactionCanceledException](answer)
	_, running := errors.AsType[*types.TransactionInProgressException](answer)
	if cancelled || running {
		return false
	}
	_, throttled := retry.DefaultThrottleErrorCodes[answer.ErrorCode()]
	return answer.ErrorFault() == smithy.FaultClient && !throttled
}
