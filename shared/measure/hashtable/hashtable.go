// Package hashtable finds the places of ids in lists without keeping the ids, or pointers to them: an id costs its slots
// alone, where a map of strings takes several times that and keeps the garbage collector busy.
package hashtable

import "hash/maphash"

// seed makes the hashes of ids unpredictable, so that nobody can send ids that all collide.
var seed = maphash.MakeSeed()

// Hash is the hash of an id.
func Hash(id []byte) uint32 { return uint32(maphash.Bytes(seed, id)) }

// Table finds an index by the hash of an id: open addressing over a power of two of slots, some of which must be free. A slot
// holds the hash in its upper and the index + 1 in its lower half; 0 is free. Whether the id is really the same is for the
// caller to compare. Any number of goroutines may call Find while none calls Put.
type Table []uint64

// Size is the number of slots for n ids, half of which stay free.
func Size(n int) int {
	size := 2
	for size < 2*n {
		size *= 2
	}
	return size
}

// Find returns the index of the hash that is the one meant; -1 and its free slot when there is none.
func (t Table) Find(hash uint32, meant func(index int) bool) (index, slot int) {
	for slot = int(hash) & (len(t) - 1); t[slot] != 0; slot = (slot + 1) & (len(t) - 1) {
		if index = int(uint32(t[slot])) - 1; t[slot]>>32 == uint64(hash) && meant(index) {
			return index, slot
		}
	}
	return -1, slot
}

// Put fills a free slot.
func (t Table) Put(hash uint32, slot, index int) { t[slot] = uint64(hash)<<32 | uint64(index+1) }
