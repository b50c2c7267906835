package dynamo

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/klauspost/compress/s2"
)

// dictionary holds strings that records have in common, the most frequent last. Stored items are packed with it, so it must never
// change. Another dictionary needs another attribute.
//
//go:embed dictionary.txt
var dictionary []byte

var packing = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(dictionary, nil) })

// Data of less than minPacked bytes costs one unit anyway. Data of more than maxPacked bytes stays unpacked: few records are so large,
// and pages that DynamoDB limits by size should not grow much in memory.
const (
	minPacked = 256
	maxPacked = 4 << 10
)

// setData adds the data to the image, packed if that makes it smaller. DynamoDB charges for each kilobyte of an item and of its copies in
// indexes. Most records take one kilobyte if packed, and two otherwise. The units of some operations in functions/testdata/capacity.golden,
// packed and unpacked:
//
//	submit a run file, evaluate it, publish it   92 and 120 written
//	a page of 20 of a leaderboard                2.5 and 4.0 read
//	a page of 20 runs of a dataset               1.5 and 3.0 read
//
// Packed data is unreadable in the console of DynamoDB and in its exports to S3. The command "assay-server export" writes it as JSON.
func setData(m image, data []byte) {
	if len(data) >= minPacked && len(data) <= maxPacked {
		if packed := packing().EncodeBetter(nil, data); len(packed) < len(data) {
			m[packedAttribute] = &types.AttributeValueMemberB{Value: packed}
			return
		}
	}
	if len(data) > 0 {
		m[dataAttribute] = &types.AttributeValueMemberB{Value: data}
	}
}

// dataOf is the inverse of setData.
func dataOf(m image) ([]byte, error) {
	if packed, ok := m[packedAttribute].(*types.AttributeValueMemberB); ok {
		data, err := packing().Decode(nil, packed.Value)
		if err != nil {
			return nil, fmt.Errorf("store: item %v: %w", keyOf(m), err)
		}
		return data, nil
	}
	if plain, ok := m[dataAttribute].(*types.AttributeValueMemberB); ok {
		return plain.Value, nil
	}
	return nil, nil
}
