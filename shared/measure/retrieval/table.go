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

// at returns the index in the slot of that number, counted from the hash's first; free when there is none, and other
// when the index belongs to a different hash.
func (t table) at(hash uint32, probe int) (index int, state slotState) {
	slot := t[(int(hash)+probe)&(len(t)-1)]
	switch {
	case slot == 0:
		return 0, free
	case slot>>32 != uint64(hash):
		return 0, other
	}
	return int(uint32(slot)) - 1, candidate
}

type slotState uint8

const (
	free slotState = iota
	other
	candidate
)

// put fills the free slot of that number.
func (t table) put(hash uint32, probe, index int) {
	t[(int(hash)+probe)&(len(t)-1)] = uint64(hash)<<32 | uint64(index+1)
}
