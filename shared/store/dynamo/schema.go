package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/shared/lists"
	"assay/shared/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names of an item's attributes, short because DynamoDB counts them in each item. The keys are strings, ExpiryAttribute
// and versionAttribute numbers, dataAttribute is binary.
const (
	PartitionKey     = "p"
	SortKey          = "s"
	ExpiryAttribute  = "x" // seconds since 1970; the attribute of the table's time to live
	versionAttribute = "v"
	dataAttribute    = "d"
)

// IndexName returns the name of index i, 1 to store.NumIndexes. Each holds whole items.
func IndexName(i store.Index) string { return "by" + digit(i) }

// IndexKeys returns the names of the attributes that are the keys of index i.
func IndexKeys(i store.Index) (partition, sort string) {
	if i == store.Table {
		return PartitionKey, SortKey
	}
	return PartitionKey + digit(i), SortKey + digit(i)
}

func digit(i store.Index) string { return string(rune('0' + i)) }

// tableTime is how long making a table may take.
const tableTime = 5 * time.Minute

// CreateTable makes the table, for a server that runs outside a deployment, and waits until it can be used. A table
// that is there already is left as it is.
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
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
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
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: s.table}, tableTime); err != nil {
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
