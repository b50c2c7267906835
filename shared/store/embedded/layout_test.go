package embedded

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"assay/shared/store"

	"pgregory.net/rapid"
)

func drawKey(t *rapid.T, name string) store.Key {
	part := rapid.StringN(1, 40, 120).Filter(func(s string) bool { return !strings.Contains(s, "\x00") })
	return store.Key{Partition: part.Draw(t, name+" partition"), Sort: part.Draw(t, name+" sort")}
}

// TestItems_AreDecodedAsEncoded reads back every item as it was encoded, and keys in the order that the contract asks for.
func TestItems_AreDecodedAsEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		it := store.Item{Key: drawKey(t, "key"), Version: rapid.Int64Min(1).Draw(t, "version"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
		for i := range it.Indexes {
			if rapid.Bool().Draw(t, "indexed") {
				it.Indexes[i] = drawKey(t, "entry")
			}
		}
		if unix := rapid.Int64Range(0, 1<<40).Draw(t, "expires"); unix > 0 {
			it.Expires = time.Unix(unix, 0).UTC()
		}
		v := encode(&it, it.Version)
		h, err := decodeHead(v)
		if err != nil {
			t.Fatal(err)
		}
		key, err := splitTableKey(tableKey(it.Key))
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.item(key)
		if err != nil {
			t.Fatal(err)
		}
		if got.Key != it.Key || got.Version != it.Version || got.Indexes != it.Indexes || got.Expires != it.Expires ||
			!bytes.Equal(got.Data, it.Data) {
			t.Fatalf("read back %+v, not %+v", got, it)
		}
		entry := drawKey(t, "entry")
		table, err := tableKeyOf(entryKey(entry, tableKey(it.Key)))
		if err != nil || !bytes.Equal(table, tableKey(it.Key)) {
			t.Fatalf("the entry leads to %q, %v", table, err)
		}
		other := it.Key
		other.Sort = drawKey(t, "other").Sort
		if bytes.Compare(tableKey(it.Key), tableKey(other)) != strings.Compare(it.Sort, other.Sort) {
			t.Fatalf("%q and %q stand in the wrong order", it.Sort, other.Sort)
		}
	})
}

// FuzzDecode gives a damaged value to the decoder: it must tell, and read nothing beyond it.
func FuzzDecode(f *testing.F) {
	it := store.Item{Expires: time.Unix(1_800_000_000, 0), Data: []byte("data")}
	f.Add(encode(&it, 1))
	it.Indexes[0], it.Indexes[5] = store.Key{Partition: "L", Sort: "1"}, store.Key{Partition: "M", Sort: "2"}
	f.Add(encode(&it, 1<<40))
	f.Fuzz(func(t *testing.T, v []byte) {
		h, err := decodeHead(v)
		if err == nil {
			var got store.Item
			if got, err = h.item(it.Key); err == nil && len(got.Data) > len(v) {
				t.Errorf("%d bytes of data from a value of %d", len(got.Data), len(v))
			}
		}
		if err != nil && !errors.Is(err, errDamaged) {
			t.Error(err)
		}
		if key, err := tableKeyOf(v); err == nil && !bytes.HasSuffix(v, key) {
			t.Errorf("%q leads to %q", v, key)
		}
	})
}
