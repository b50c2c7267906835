package dynamo

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"assay/shared/testing/nightlytest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"
)

// TestDictionary_NeverChanges checks the dictionary's digest. Stored data can only be read with the dictionary that packed it.
func TestDictionary_NeverChanges(t *testing.T) {
	const want = "1f436715967fe4401d09eb77733359451005f3e4ac5db3f6c916c68f34a0311d"
	if got := fmt.Sprintf("%x", sha256.Sum256(dictionary)); got != want {
		t.Errorf("the dictionary has the digest %s, and items are stored with that of %s: add another dictionary and attribute", got, want)
	}
}

func TestData_ReadsBack(t *testing.T) {
	parts := rapid.SampledFrom(append(strings.SplitAfter(string(dictionary), ","), "\x00", "é", "01M85NWT5VNF310ZJ4DBW7054S"))
	nightlytest.Check(t, func(t *rapid.T) {
		data := []byte(strings.Join(rapid.SliceOfN(parts, 0, 200).Draw(t, "parts"), ""))
		m := image{}
		setData(m, data)
		got, err := dataOf(m)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%q reads back as %q, %v", data, got, err)
		}
	})
}

func TestData_IsPackedWhereThatIsLess(t *testing.T) {
	record := bytes.Split(dictionary, []byte("\n"))[20]
	random := make([]byte, 4000)
	for i := range random {
		random[i] = byte(i * i * 7919 >> 7)
	}
	for name, c := range map[string]struct {
		data   []byte
		packed bool
	}{"a record": {record, true}, "a short one": {record[:minPacked-1], false},
		"a long one": {bytes.Repeat(record, 10), false}, "no text": {random[:300], false}} {
		m := image{}
		setData(m, c.data)
		packed, ok := m[packedAttribute].(*types.AttributeValueMemberB)
		if ok != c.packed || ok && len(packed.Value) > len(c.data)/4 || len(m) != 1 {
			t.Errorf("%s of %d bytes: packed %v, %v", name, len(c.data), ok, m)
		}
	}
	if _, err := dataOf(image{packedAttribute: &types.AttributeValueMemberB{Value: []byte("\xff\xff\xff\xff\xff nothing")}}); err == nil {
		t.Error("what is damaged is read")
	}
}
