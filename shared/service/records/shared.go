package records

import (
	"encoding/binary"
	"hash/maphash"

	"assay/shared/storage/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// maxShared and maxSharedBytes limit the cache. A decoded record takes two to three times its bytes.
	maxShared      = 8192
	maxSharedBytes = 4 << 10
)

var (
	sharedSeed = maphash.MakeSeed()
	shared     = must(lru.New[uint64, any](maxShared))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Shared is like Decode, for records that are only shown. Decoding takes most of the time of a list, so Shared caches the records that
// it decoded last, by a hash of everything stored. The returned record belongs to the caller, but the values that its members point to
// must not be changed. The key identifies the cached record: it is the same until the record leaves the cache, and nil for records that
// are not cached.
func Shared[R any, P Pointer[R]](it store.Item) (r P, key any, err error) {
	if len(it.Data) > maxSharedBytes || !it.Exists() {
		r, err = Decode[R, P](it)
		return r, nil, err
	}
	var h maphash.Hash
	h.SetSeed(sharedSeed)
	_, _ = h.WriteString(it.Partition + "\x00" + it.Sort)
	var version [8]byte
	binary.LittleEndian.PutUint64(version[:], uint64(it.Version))
	_, _ = h.Write(version[:])
	_, _ = h.Write(it.Data)
	sum := h.Sum64()
	if kept, ok := shared.Get(sum); ok {
		if r, ok := kept.(P); ok {
			its := *r
			return &its, r, nil
		}
	}
	if r, err = Decode[R, P](it); err != nil {
		return r, nil, err
	}
	its := *r
	kept := P(&its)
	shared.Add(sum, kept)
	return r, kept, nil
}
