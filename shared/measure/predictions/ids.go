package predictions

import (
	"bytes"
	"hash/maphash"
)

// ids numbers the ids of a truth in the order in which they come. It is a hash table without pointers: an id costs its
// bytes and about twenty more, where a map of strings takes three times that and keeps the garbage collector busy.
// Any number of goroutines may call find and at while none calls add.
type ids struct {
	seed maphash.Seed
	text []byte   // every id, one after another
	ends []uint32 // where each ends in text
	// slots has, for an id, the upper half of its hash and its index + 1; 0 is an empty slot. Its length is a power of two.
	slots []uint64
}

func newIDs() *ids { return &ids{seed: maphash.MakeSeed(), slots: make([]uint64, 64)} }

func (t *ids) len() int { return len(t.ends) }

func (t *ids) at(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}

// find returns the index of id; -1 when it is not there.
func (t *ids) find(id []byte) int {
	index, _ := t.probe(id, t.hash(id))
	return index
}

// add returns the index of id and whether it is new.
func (t *ids) add(id []byte) (index int, isNew bool) {
	hash := t.hash(id)
	index, slot := t.probe(id, hash)
	if index >= 0 {
		return index, false
	}
	t.text = append(t.text, id...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.slots[slot] = hash | uint64(len(t.ends))
	if 4*len(t.ends) > 3*len(t.slots) {
		t.grow()
	}
	return len(t.ends) - 1, true
}

// hash is the upper half of the id's hash; the lower half is zero.
func (t *ids) hash(id []byte) uint64 { return maphash.Bytes(t.seed, id) &^ (1<<32 - 1) }

// probe returns the index of id, or -1 and the slot where it belongs.
func (t *ids) probe(id []byte, hash uint64) (index, slot int) {
	mask := len(t.slots) - 1
	for slot = int(hash>>32) & mask; ; slot = (slot + 1) & mask {
		s := t.slots[slot]
		if s == 0 {
			return -1, slot
		}
		if s>>32 == hash>>32 {
			if i := int(uint32(s)) - 1; bytes.Equal(t.at(i), id) {
				return i, slot
			}
		}
	}
}

func (t *ids) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := len(t.slots) - 1
	for _, s := range old {
		if s == 0 {
			continue
		}
		slot := int(s>>32) & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = s
	}
}
