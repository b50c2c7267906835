package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"assay/shared/store"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// image is an item as DynamoDB has it.
type image = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func keyImage(k store.Key) image {
	return image{PartitionKey: text(k.Partition), SortKey: text(k.Sort)}
}

// entryImage is where a Query goes on behind the item: its keys in the table and in the index.
func entryImage(it *store.Item, i store.Index) image {
	m := keyImage(it.Key)
	partition, sort := IndexKeys(i)
	at := it.Entry(i)
	m[partition], m[sort] = text(at.Partition), text(at.Sort)
	return m
}

// itemImage is the item with the version.
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
	if len(it.Data) > 0 {
		m[dataAttribute] = &types.AttributeValueMemberB{Value: it.Data}
	}
	return m
}

// parseItem is the inverse of itemImage. An item that expired has only its Key.
func parseItem(m image, now time.Time) (store.Item, error) {
	var it store.Item
	var err error
	it.Key = store.Key{Partition: textOf(m, PartitionKey), Sort: textOf(m, SortKey)}
	expires := int64(0)
	if _, ok := m[ExpiryAttribute]; ok {
		if expires, err = numberOf(m, ExpiryAttribute); err != nil {
			return it, fmt.Errorf("store: item %v: %w", it.Key, err)
		}
		it.Expires = time.Unix(expires, 0).UTC()
	}
	if !alive(expires, now) {
		return store.Item{Key: it.Key}, nil
	}
	if it.Version, err = numberOf(m, versionAttribute); err != nil {
		return it, fmt.Errorf("store: item %v: %w", it.Key, err)
	}
	for i := store.Index(1); i <= store.NumIndexes; i++ {
		partition, sort := IndexKeys(i)
		it.Indexes[i-1] = store.Key{Partition: textOf(m, partition), Sort: textOf(m, sort)}
	}
	if d, ok := m[dataAttribute].(*types.AttributeValueMemberB); ok {
		it.Data = d.Value
	}
	return it, nil
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
