package retrieval

import "hash/maphash"

// seed makes the hashes of document ids unpredictable, so that nobody can send ids that all collide.
var seed = maphash.MakeSeed()

func hash(doc []byte) uint32 { return uint32(maphash.Bytes(seed, doc)) }

// table finds an index by the hash of a document id: open addressing over a power of two of slots, at most half of
// them in use. A slot holds the hash in its upper and the index + 1 in its lower half; 0 is free. Whether the
// document is really the same is for the caller to compare.
type table []uint64

// tableSize is the number of slots for n documents.
func tableSize(n int) int {
	size := 2
	for size < 2*n {
		size *= 2
	}
	return size
}

// find returns the index of the hash that is the one meant; -1 and its free slot when there is none.
func (t table) find(hash uint32, meant func(index int) bool) (index, slot int) {
	for slot = int(hash) & (len(t) - 1); t[slot] != 0; slot = (slot + 1) & (len(t) - 1) {
		if index = int(uint32(t[slot])) - 1; t[slot]>>32 == uint64(hash) && meant(index) {
			return index, slot
		}
	}
	return -1, slot
}

// put fills a free slot.
func (t table) put(hash uint32, slot, index int) { t[slot] = uint64(hash)<<32 | uint64(index+1) }
