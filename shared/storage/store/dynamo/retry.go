package dynamo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"assay/shared/language/wait"
	"assay/shared/storage/store"

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

func backoff(attempt int, _ error) (time.Duration, error) {
	return wait.Jitter(attempt, firstBackoff, maxBackoff), nil
}

// newRetryer retries the errors that the SDK retries, conflicts with other transactions, and truncated answers. Its first delay is
// shorter than the SDK's one second, which suits slower services. It has no retry quota for each client, because a function serves one
// request at a time, whose deadline limits the retries.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.Backoff = maxAttempts, retry.BackoffDelayerFunc(backoff)
		o.RateLimiter = ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{
			retry.IsErrorRetryableFunc(isTransactionConflict), retry.IsErrorRetryableFunc(isTruncatedResponse)}, o.Retryables...)
	})
}

// Reasons that do not justify a retry of a cancelled transaction. All other reasons are transient.
const (
	conditionFailed = "ConditionalCheckFailed"
	validationError = "ValidationError"
	noReason        = "None"
)

// isTransactionConflict reports whether a transaction may succeed if it is sent again unchanged. It includes transactions with both a
// failed condition and a conflict, because DynamoDB may not have checked these against one state.
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

// isTruncatedResponse reports whether the connection ended within an answer. Writes carry a token, so a write that is sent again is
// applied once.
func isTruncatedResponse(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// contractError converts an error of DynamoDB or the network to one of the store's contract.
func contractError(ctx context.Context, err error) error {
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
		if isPermanent(answer) {
			return fmt.Errorf("store: %w", err)
		}
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// isPermanent reports whether the error is the client's fault, such as a missing table or permission. A retry would fail too.
func isPermanent(answer smithy.APIError) bool {
	_, cancelled := errors.AsType[*types.TransactionCanceledException](answer)
	_, running := errors.AsType[*types.TransactionInProgressException](answer)
	if cancelled || running {
		return false
	}
	_, throttled := retry.DefaultThrottleErrorCodes[answer.ErrorCode()]
	return answer.ErrorFault() == smithy.FaultClient && !throttled
}
