package dynamo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"assay/shared/language/wait"
	"assay/shared/storage/store"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := store.ValidateGet(ctx, keys); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, nil
	}
	store.Count(ctx, len(keys))
	images, err := s.images(ctx, c, keys)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	items := make([]store.Item, len(keys))
	for i, k := range keys {
		items[i].Key = k
		if m := images[k]; m != nil {
			if items[i], err = parseItem(m, now); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// images returns the stored images by key.
func (s *Store) images(ctx context.Context, c store.Consistency, keys []store.Key) (map[store.Key]image, error) {
	strong := aws.Bool(bool(c))
	if len(keys) == 1 {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: s.table, Key: keyImage(keys[0]), ConsistentRead: strong})
		if err != nil {
			return nil, contractError(ctx, err)
		}
		return map[store.Key]image{keys[0]: out.Item}, nil
	}
	images := make(map[store.Key]image, len(keys))
	batch := types.KeysAndAttributes{ConsistentRead: strong}
	for _, k := range keys {
		if _, twice := images[k]; !twice {
			images[k] = nil
			batch.Keys = append(batch.Keys, keyImage(k))
		}
	}
	for failures := 0; ; {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*s.table: batch}})
		if err != nil {
			return nil, contractError(ctx, err)
		}
		found := out.Responses[*s.table]
		for _, m := range found {
			images[keyOf(m)] = m
		}
		unprocessed := out.UnprocessedKeys[*s.table].Keys
		if len(unprocessed) == 0 {
			return images, nil
		}
		batch.Keys = unprocessed
		if len(found) > 0 {
			failures = 0 // progress: an answer has at most 16 MB
			continue
		}
		failures++
		if failures == maxAttempts {
			return nil, fmt.Errorf("%w: DynamoDB leaves keys of a batch unprocessed", store.ErrUnavailable)
		}
		if pause, _ := backoff(failures, nil); !wait.Sleep(ctx, pause) {
			return nil, fmt.Errorf("store: given up: %w", ctx.Err())
		}
	}
}

// Query implements store.Store.
func (s *Store) Query(ctx context.Context, q store.Query) (items []store.Item, err error) {
	if err := store.ValidateQuery(ctx, q); err != nil {
		return nil, err
	}
	if startsAfterBounds(&q) {
		return nil, nil
	}
	read := 0
	defer func() { store.Count(ctx, read) }()
	in := s.queryInput(q)
	now := time.Now()
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, contractError(ctx, err)
		}
		read += len(out.Items)
		if items, err = appendItems(items, out.Items, now); err != nil {
			return nil, err
		}
		items = q.Truncate(items)
		if !q.IsLastPage(items) || len(out.LastEvaluatedKey) == 0 {
			return items, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		in.Limit = aws.Int32(int32(q.Limit - len(items)))
	}
}

// startsAfterBounds reports whether no item within the bounds can follow After. It removes an After that precedes the bounds, because
// DynamoDB refuses to start outside of them.
func startsAfterBounds(q *store.Query) bool {
	if q.After == nil {
		return false
	}
	at := q.After.Entry(q.Index).Sort
	first, last := strings.Compare(at, q.From), -1
	if q.To != "" {
		last = strings.Compare(at, q.To)
	}
	if q.Descending {
		first, last = -last, -first
	}
	if first < 0 {
		q.After = nil
	}
	return last > 0 || last == 0 && q.Index == store.Table // in an index, other items may have the same key
}

// maxLimit is the largest Limit that DynamoDB accepts.
const maxLimit = 1<<31 - 1

func (s *Store) queryInput(q store.Query) *dynamodb.QueryInput {
	partition, sort := IndexKeys(q.Index)
	condition := partition + " = :p"
	values := image{":p": text(q.Partition)}
	switch {
	case q.From != "" && q.To != "":
		condition += " AND " + sort + " BETWEEN :from AND :to"
	case q.From != "":
		condition += " AND " + sort + " >= :from"
	case q.To != "":
		condition += " AND " + sort + " <= :to"
	}
	if q.From != "" {
		values[":from"] = text(q.From)
	}
	if q.To != "" {
		values[":to"] = text(q.To)
	}
	in := &dynamodb.QueryInput{
		TableName: s.table, KeyConditionExpression: &condition, ExpressionAttributeValues: values,
		Limit: aws.Int32(int32(min(q.Limit, maxLimit))), ScanIndexForward: aws.Bool(!q.Descending),
	}
	if q.Index == store.Table {
		in.ConsistentRead = aws.Bool(bool(q.Consistency))
	} else {
		in.IndexName = aws.String(IndexName(q.Index))
	}
	if q.After != nil {
		in.ExclusiveStartKey = entryImage(q.After, q.Index)
	}
	return in
}

// Scan implements store.Scanner.
func (s *Store) Scan(ctx context.Context, after store.Key, limit int) (items []store.Item, last store.Key, err error) {
	if err := store.ValidateScan(ctx, after, limit); err != nil {
		return nil, store.Key{}, err
	}
	in := &dynamodb.ScanInput{TableName: s.table, Limit: aws.Int32(int32(min(limit, maxLimit))), ConsistentRead: aws.Bool(true)}
	if !after.IsZero() {
		in.ExclusiveStartKey = keyImage(after)
	}
	out, err := s.client.Scan(ctx, in)
	if err != nil {
		store.Count(ctx, 0)
		return nil, store.Key{}, contractError(ctx, err)
	}
	store.Count(ctx, len(out.Items))
	items, err = appendItems(nil, out.Items, time.Now())
	return items, keyOf(out.LastEvaluatedKey), err
}

// Lag implements store.Store.
func (*Store) Lag() time.Duration { return lag }
