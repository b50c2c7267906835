package dynamotest

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Units are the capacity units, in thousandths, that DynamoDB says the calls of a context consumed.
type Units struct{ Read, Written atomic.Int64 }

type unitsKey struct{}

// WithUnits returns a context whose calls, by a client that Start configured, are counted in u.
func WithUnits(ctx context.Context, u *Units) context.Context {
	return context.WithValue(ctx, unitsKey{}, u)
}

// countUnits adds the middleware that counts to a client.
func countUnits(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CountUnits",
		func(ctx context.Context, in middleware.InitializeInput,
			next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			u, ok := ctx.Value(unitsKey{}).(*Units)
			if !ok {
				return next.HandleInitialize(ctx, in)
			}
			switch in := in.Parameters.(type) {
			case *dynamodb.GetItemInput:
				in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
			case *dynamodb.BatchGetItemInput:
				in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
			case *dynamodb.QueryInput:
				in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
			case *dynamodb.TransactWriteItemsInput:
				in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
			}
			out, metadata, err := next.HandleInitialize(ctx, in)
			switch out := out.Result.(type) {
			case *dynamodb.GetItemOutput:
				add(&u.Read, out.ConsumedCapacity)
			case *dynamodb.BatchGetItemOutput:
				for i := range out.ConsumedCapacity {
					add(&u.Read, &out.ConsumedCapacity[i])
				}
			case *dynamodb.QueryOutput:
				add(&u.Read, out.ConsumedCapacity)
			case *dynamodb.TransactWriteItemsOutput:
				for i := range out.ConsumedCapacity {
					add(&u.Written, &out.ConsumedCapacity[i])
				}
			}
			return out, metadata, err
		}), middleware.Before)
}

func add(sum *atomic.Int64, c *types.ConsumedCapacity) {
	if c != nil {
		sum.Add(int64(math.Round(aws.ToFloat64(c.CapacityUnits) * 1000)))
	}
}
