package dynamo

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/klauspost/compress/s2"
)

// dictionary has what records have in common, the most frequent last. Items are packed with it, so it never changes: another one needs
// another attribute.
//
//go:embed dictionary.txt
var dictionary []byte

var packing = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(dictionary, nil) })

// Less than minPacked bytes are one unit in any case. More than maxPacked stay as they are, for few records have them, and what DynamoDB
// reads at once is to take about as much memory here as there.
const (
	minPacked = 256
	maxPacked = 4 << 10
)

// setData adds the data to the image. DynamoDB charges for each kilobyte of an item and of its copies in indexes, which most records
// take one of when they are packed, and two when they are not.
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
