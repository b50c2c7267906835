package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"assay/shared/storage/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, writes ...store.Write) error {
	if err := store.ValidateWrite(ctx, writes); err != nil {
		return err
	}
	if len(writes) == 0 {
		return nil
	}
	store.Count(ctx, 0)
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(rand.Text()), TransactItems: make([]types.TransactWriteItem, len(writes)),
	}
	now := time.Now()
	for i := range writes {
		in.TransactItems[i] = s.transactItem(&writes[i], now)
	}
	_, err := s.client.TransactWriteItems(ctx, in)
	if conflict := conflictOf(err); conflict != nil {
		return conflict
	}
	if err != nil {
		return contractError(ctx, err)
	}
	if s.OnChange != nil {
		s.OnChange(changed(writes))
	}
	return nil
}

// Conditions of writes. An expired item counts as deleted, even while DynamoDB still has it.
const (
	isAbsent  = "attribute_not_exists(" + PartitionKey + ") OR " + ExpiryAttribute + " <= :now"
	isVersion = versionAttribute + " = :version AND (attribute_not_exists(" + ExpiryAttribute + ") OR " + ExpiryAttribute + " > :now)"
)

func (s *Store) transactItem(w *store.Write, now time.Time) types.TransactWriteItem {
	it, key := &w.Item, keyImage(w.Item.Key)
	condition, values := aws.String(isAbsent), image{":now": number(now.Unix())}
	switch w.Op {
	case store.OpReplace, store.OpDeleteIf, store.OpCheck:
		condition, values[":version"] = aws.String(isVersion), number(it.Version)
	case store.OpDelete:
		condition, values = nil, nil
	default: // the key must not exist
	}
	switch w.Op {
	case store.OpCreate, store.OpReplace:
		return types.TransactWriteItem{Put: &types.Put{TableName: s.table, Item: itemImage(it, w.PutVersion()), ConditionExpression: condition,
			ExpressionAttributeValues: values}}
	case store.OpDelete, store.OpDeleteIf:
		return types.TransactWriteItem{Delete: &types.Delete{TableName: s.table, Key: key, ConditionExpression: condition,
			ExpressionAttributeValues: values}}
	default: // a check, because ValidateWrite refuses unknown operations
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: s.table, Key: key, ConditionExpression: condition,
			ExpressionAttributeValues: values}}
	}
}

// conflictOf returns the conflict that a cancelled transaction reports, or nil if no condition failed.
func conflictOf(err error) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return nil
	}
	var failed []int
	for i, reason := range cancelled.CancellationReasons {
		if aws.ToString(reason.Code) == conditionFailed {
			failed = append(failed, i)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &store.ConflictError{Failed: failed}
}

// changed returns the new images of the items that the writes changed.
func changed(writes []store.Write) []store.Item {
	var items []store.Item
	for i := range writes {
		it := writes[i].Item
		it.Version = writes[i].PutVersion()
		switch writes[i].Op {
		case store.OpDelete, store.OpDeleteIf:
			it = store.Item{Key: it.Key}
		case store.OpCheck, store.OpCheckAbsent:
			continue
		default: // a put
		}
		items = append(items, it)
	}
	return items
}
