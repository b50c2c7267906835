// Package dynamo keeps the table in DynamoDB: a store.Store on one table with six global secondary indexes, for a
// service that costs nothing while nobody uses it.
//
// # Writes
//
// Every Write is one TransactWriteItems with a client request token, also when it has one item. A plain conditional put
// would cost half as much for the item itself (its index entries, which cost more, are the same), but when its
// answer is lost nobody can tell whether it was applied: trying again would then report a conflict with itself, or make
// again what somebody else has deleted meanwhile. With the token DynamoDB applies a transaction once, however often it is
// sent within ten minutes.
//
// # Trying again
//
// Throttling, conflicts with other transactions, 5xx and broken connections are tried again with jitter, within the
// context's deadline; what still fails then is store.ErrUnavailable. Keys that a batch left out are asked for again.
package dynamo

import (
	"context"
	"net/http"
	"time"

	"assay/shared/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// readTimeout is how long a request may go without an answer before it is sent again: a connection that died while a function
// was frozen says nothing. DynamoDB answers within milliseconds.
const readTimeout = 5 * time.Second

// Store is a store.Store in a DynamoDB table that CreateTable made, or the deployment.
type Store struct {
	// OnChange, when not nil, is called after each successful Write of this Store with what it put, and, for what it
	// deleted, the Key and Version 0. What others write is in the table's stream. It must not block; the items are its
	// own. Set it before the Store is used.
	OnChange func(items []store.Item)

	client *dynamodb.Client
	table  *string
}

var _ store.Store = (*Store)(nil)

// New returns the store in the table. It asks DynamoDB nothing yet.
func New(cfg aws.Config, table string) *Store {
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer()
		o.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = readTimeout })
	})
	return &Store{client: client, table: &table}
}

// Ping implements store.Store. It reads an item that is never there, since asking about the table itself is slow, and
// limited for each account.
func (s *Store) Ping(ctx context.Context) error {
	if err := store.Ended(ctx); err != nil {
		return err
	}
	_, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: s.table, Key: keyImage(store.Key{Partition: "PING", Sort: "PING"}), ProjectionExpression: aws.String(PartitionKey),
	})
	return failed(ctx, err)
}

// alive reports whether an item that expires at the instant, in seconds and 0 for never, is there now.
func alive(expires int64, now time.Time) bool { return expires == 0 || expires > now.Unix() }
