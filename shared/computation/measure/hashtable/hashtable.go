// Package hashtable finds the index of an id in a list. A table holds neither ids nor pointers, so an id costs 16 to 32 bytes. A map of
// strings takes several times as much and keeps the garbage collector busy.
package hashtable

import "hash/maphash"

// seed makes the hashes of ids unpredictable, so that nobody can send ids that all collide.
var seed = maphash.MakeSeed()

// Hash returns the hash of an id.
func Hash(id []byte) uint32 { return uint32(maphash.Bytes(seed, id)) }

// Table finds an index by the hash of an id, with open addressing. Its length is a power of two, and some slots must be free. A slot
// holds the hash in its upper half and the index + 1 in its lower half; 0 is free. Different ids may have the same hash, so callers compare
// the ids. Any number of goroutines may call Find while none calls Put.
type Table []uint64

// Size returns the number of slots for n ids. At least half of the slots stay free.
func Size(n int) int {
	size := 2
	for size < 2*n {
		size *= 2
	}
	return size
}

// Find returns the index with the hash for which meant returns true. If there is none, it returns -1 and the free slot for Put.
func (t Table) Find(hash uint32, meant func(index int) bool) (index, slot int) {
	for slot = int(hash) & (len(t) - 1); t[slot] != 0; slot = (slot + 1) & (len(t) - 1) {
		index = int(uint32(t[slot])) - 1
		if t[slot]>>32 == uint64(hash) && meant(index) {
			return index, slot
		}
	}
	return -1, slot
}

// Put fills a free slot.
func (t Table) Put(hash uint32, slot, index int) { t[slot] = uint64(hash)<<32 | uint64(index+1) }
