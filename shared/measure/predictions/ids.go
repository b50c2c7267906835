package predictions

import (
	"bytes"

	"assay/shared/measure/hashtable"
)

// ids numbers the ids of a truth in the order in which they come. An id costs its bytes and about twenty more.
// Any number of goroutines may call find and at while none calls add.
type ids struct {
	text  []byte   // every id, one after another
	ends  []uint32 // where each ends in text
	slots hashtable.Table
}

func newIDs() *ids { return &ids{slots: make(hashtable.Table, 64)} }

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
	index, _ := t.probe(id, hashtable.Hash(id))
	return index
}

// add returns the index of id and whether it is new.
func (t *ids) add(id []byte) (index int, isNew bool) {
	hash := hashtable.Hash(id)
	index, slot := t.probe(id, hash)
	if index >= 0 {
		return index, false
	}
	index = len(t.ends)
	t.text = append(t.text, id...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.slots.Put(hash, slot, index)
	if 4*len(t.ends) > 3*len(t.slots) {
		t.grow()
	}
	return index, true
}

// probe returns the index of id, or -1 and the slot where it belongs.
func (t *ids) probe(id []byte, hash uint32) (index, slot int) {
	return t.slots.Find(hash, func(i int) bool { return bytes.Equal(t.at(i), id) })
}

func (t *ids) grow() {
	old := t.slots
	t.slots = make(hashtable.Table, 2*len(old))
	for _, s := range old {
		if s != 0 {
			_, slot := t.slots.Find(uint32(s>>32), func(int) bool { return false })
			t.slots[slot] = s
		}
	}
}
