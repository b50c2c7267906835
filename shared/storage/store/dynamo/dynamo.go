// Package dynamo is a store.Store on one DynamoDB table with six global secondary indexes. A service with it costs nothing while
// it is idle.
//
// # Writes
//
// Every Write is one TransactWriteItems with a client request token, even for one item. With the token, DynamoDB applies a
// transaction once, however often it is sent within ten minutes.
//
// A plain conditional put would cost half as much for the item itself, and the same for its index entries, which cost more. But if
// its answer is lost, the caller does not know whether the put was applied. A retry could then conflict with itself, or create an
// item again that another caller has deleted meanwhile.
//
// # Retries
//
// Throttled calls, conflicts with other transactions, 5xx answers and broken connections are retried with jitter, within the
// context's deadline. Then they fail with store.ErrUnavailable. Unprocessed keys of a batch are requested again.
package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"assay/shared/language/lists"
	"assay/shared/storage/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// readTimeout is how long a request waits for an answer before it is sent again. DynamoDB answers within milliseconds, but a connection
// that broke while a function was frozen reports no error.
const readTimeout = 5 * time.Second

// lag is much longer than DynamoDB usually takes to apply a write to replicas and global secondary indexes, which is less than a
// second. DynamoDB promises no limit.
const lag = 5 * time.Second

// Store is a store.Store in a DynamoDB table that CreateTable or the deployment created.
type Store struct {
	// OnChange, unless nil, is called after each successful Write of this Store with the items that it put. Deleted items have their
	// Key and Version 0. It does not report writes of other processes, which are in the table's stream. It must not block. It may keep
	// and modify the items. Set it before the Store is used.
	OnChange func(items []store.Item)

	client *dynamodb.Client
	table  *string
}

var _ store.Scanner = (*Store)(nil)

// New returns the store in the table. It makes no calls.
func New(cfg aws.Config, table string) *Store {
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = newRetryer()
		o.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = readTimeout })
	})
	return &Store{client: client, table: &table}
}

// Ping implements store.Store. It reads an item that never exists, because DescribeTable is slow and rate-limited for each account.
func (s *Store) Ping(ctx context.Context) error {
	if err := store.CheckContext(ctx); err != nil {
		return err
	}
	_, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: s.table, Key: keyImage(store.Key{Partition: "PING", Sort: "PING"}), ProjectionExpression: aws.String(PartitionKey),
	})
	return contractError(ctx, err)
}

// Names of an item's attributes. They are short, because DynamoDB counts them in each item. Keys are strings, ExpiryAttribute and
// versionAttribute are numbers. Data is binary, in either dataAttribute or packedAttribute.
const (
	PartitionKey     = "p"
	SortKey          = "s"
	ExpiryAttribute  = "x" // seconds since 1970; the attribute of the table's time to live
	versionAttribute = "v"
	dataAttribute    = "d"
	packedAttribute  = "z"
)

// ProjectedAttributes are the attributes of items in indexes, besides their keys in the table and the index.
var ProjectedAttributes = []string{ExpiryAttribute, versionAttribute, dataAttribute, packedAttribute}

// IndexName returns the name of index i, 1 to store.NumIndexes.
func IndexName(i store.Index) string { return "by" + digit(i) }

// IndexKeys returns the names of the key attributes of index i.
func IndexKeys(i store.Index) (partition, sort string) {
	if i == store.Table {
		return PartitionKey, SortKey
	}
	return PartitionKey + digit(i), SortKey + digit(i)
}

func digit(i store.Index) string { return strconv.Itoa(int(i)) }

// createTableTimeout is how long creating a table may take.
const createTableTimeout = 5 * time.Minute

// CreateTable creates the table for a server outside a deployment, and waits until the table can be used. It leaves an existing table
// unchanged.
func (s *Store) CreateTable(ctx context.Context) error {
	in := &dynamodb.CreateTableInput{
		TableName:            s.table,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: attributes(PartitionKey, SortKey),
		KeySchema:            keySchema(store.Table),
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	}
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		in.AttributeDefinitions = append(in.AttributeDefinitions, attributes(IndexKeys(i))...)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(IndexName(i)), KeySchema: keySchema(i),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: ProjectedAttributes},
		})
	}
	_, err := s.client.CreateTable(ctx, in)
	if _, there := errors.AsType[*types.ResourceInUseException](err); there {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the table %s: %w", *s.table, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(s.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 100 * time.Millisecond })
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: s.table}, createTableTimeout); err != nil {
		return fmt.Errorf("wait for the table %s: %w", *s.table, err)
	}
	_, err = s.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: s.table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(ExpiryAttribute), Enabled: aws.Bool(true)}})
	if err != nil {
		return fmt.Errorf("let items of the table %s expire: %w", *s.table, err)
	}
	return nil
}

func attributes(names ...string) []types.AttributeDefinition {
	return lists.Map(names, func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
	})
}

func keySchema(i store.Index) []types.KeySchemaElement {
	partition, sort := IndexKeys(i)
	return []types.KeySchemaElement{
		{AttributeName: &partition, KeyType: types.KeyTypeHash},
		{AttributeName: &sort, KeyType: types.KeyTypeRange},
	}
}

// image is an item in DynamoDB's attributes.
type image = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func keyImage(k store.Key) image {
	return image{PartitionKey: text(k.Partition), SortKey: text(k.Sort)}
}

// entryImage returns the ExclusiveStartKey for a Query after the item: its keys in the table and in the index.
func entryImage(it *store.Item, i store.Index) image {
	m := keyImage(it.Key)
	partition, sort := IndexKeys(i)
	at := it.Entry(i)
	m[partition], m[sort] = text(at.Partition), text(at.Sort)
	return m
}

// itemImage returns the image of the item with the version.
func itemImage(it *store.Item, version int64) image {
	m := keyImage(it.Key)
	m[versionAttribute] = number(version)
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		if at := it.Entry(i); !at.IsZero() {
			partition, sort := IndexKeys(i)
			m[partition], m[sort] = text(at.Partition), text(at.Sort)
		}
	}
	if expires := it.ExpiresUnix(); expires != 0 {
		m[ExpiryAttribute] = number(expires)
	}
	setData(m, it.Data)
	return m
}

// parseItem is the inverse of itemImage. An expired item has only its Key.
func parseItem(m image, now time.Time) (store.Item, error) {
	it := store.Item{Key: keyOf(m)}
	version, err := numberOf(m, versionAttribute)
	if err != nil {
		return it, fmt.Errorf("store: item %v: %w", it.Key, err)
	}
	if _, ok := m[ExpiryAttribute]; ok {
		expires, err := numberOf(m, ExpiryAttribute)
		if err != nil {
			return it, fmt.Errorf("store: item %v: %w", it.Key, err)
		}
		if expires <= now.Unix() {
			return it, nil
		}
		it.Expires = time.Unix(expires, 0).UTC()
	}
	it.Version = version
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		partition, sort := IndexKeys(i)
		it.Indexes[i-1] = store.Key{Partition: textOf(m, partition), Sort: textOf(m, sort)}
	}
	it.Data, err = dataOf(m)
	return it, err
}

// appendItems appends the items of the images, except expired ones.
func appendItems(items []store.Item, images []image, now time.Time) ([]store.Item, error) {
	for _, m := range images {
		it, err := parseItem(m, now)
		if err != nil {
			return nil, err
		}
		if it.Exists() {
			items = append(items, it)
		}
	}
	return items, nil
}

// keyOf returns the item's key in the table. It returns the zero Key for a nil image.
func keyOf(m image) store.Key {
	return store.Key{Partition: textOf(m, PartitionKey), Sort: textOf(m, SortKey)}
}

func textOf(m image, name string) string {
	if s, ok := m[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberOf(m image, name string) (int64, error) {
	n, ok := m[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("attribute %s is no number", name)
	}
	return strconv.ParseInt(n.Value, 10, 64)
}
