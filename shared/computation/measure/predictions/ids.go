package predictions

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"assay/shared/computation/measure/hashtable"
)

// ids numbers the ids of a truth, or the names of clusters, in the order in which they are added. An id takes its bytes and about twenty
// more. Any number of goroutines may call find and at while none calls add.
type ids struct {
	blocks [][]byte // the ids, one after another, each within one block; a single text would be copied when it grows
	ends   []uint32 // 0, and the end of each id, as if all blocks were full
	size   int      // bytes of all ids
	slots  hashtable.Table
}

const block = 16 << 10 // bytes

func newIDs() *ids { return &ids{ends: []uint32{0}, slots: make(hashtable.Table, 64)} }

// bytes returns the memory of the ids.
func (t *ids) bytes() int { return block*len(t.blocks) + 4*cap(t.ends) + 8*cap(t.slots) }

func (t *ids) len() int { return len(t.ends) - 1 }

func (t *ids) at(i int) []byte {
	last := t.ends[i+1] - 1
	start := max(t.ends[i], last/block*block) // the first id of a block starts with the block
	return t.blocks[last/block][start%block : last%block+1]
}

// find returns the index of id, or -1.
func (t *ids) find(id []byte) int {
	index, _ := t.probe(id, hashtable.Hash(id))
	return index
}

// findNext returns the index of id like find. It first tries the index next, because most files keep the order of the truth, and looking
// into the table waits for memory.
func (t *ids) findNext(id []byte, next int) int {
	if next < t.len() && bytes.Equal(t.at(next), id) {
		return next
	}
	return t.find(id)
}

// add returns the index of id and whether it is new.
func (t *ids) add(id []byte) (index int, isNew bool) {
	hash := hashtable.Hash(id)
	index, slot := t.probe(id, hash)
	if index >= 0 {
		return index, false
	}
	index = t.len()
	n := len(t.blocks)
	if n == 0 || len(t.blocks[n-1])+len(id) > block {
		t.blocks = append(t.blocks, make([]byte, 0, block))
		n++
	}
	t.blocks[n-1] = append(t.blocks[n-1], id...)
	t.ends = append(t.ends, uint32((n-1)*block+len(t.blocks[n-1])))
	t.size += len(id)
	t.slots.Put(hash, slot, index)
	if 4*t.len() > 3*len(t.slots) {
		t.grow()
	}
	return index, true
}

// probe returns the index of id, or -1 and the free slot for it.
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

// labels numbers different labels in the order in which they are added. The zero value is empty.
type labels struct {
	names []string
	codes map[string]int32
}

// find returns the code of a label, or -1.
func (l *labels) find(text []byte) int32 {
	if code, ok := l.codes[string(text)]; ok {
		return code
	}
	return -1
}

// add adds a new label and returns its code.
func (l *labels) add(text []byte) int32 {
	if l.codes == nil {
		l.codes = map[string]int32{}
	}
	name, code := string(text), int32(len(l.names))
	l.codes[name] = code
	l.names = append(l.names, name)
	return code
}

// sourceLines records the lines of ids, so that the diagnostic for a repeated id names both lines. Ids are numbered from 1.
type sourceLines struct {
	files []string
	read  int // ids so far
	jumps []jump
}

// jump is an id that is not on the line after the id before it.
type jump struct{ id, file, line uint32 }

// add adds an id on a line of the last file, and returns its number.
func (p *sourceLines) add(line int) uint32 {
	p.read++
	next := jump{uint32(p.read), uint32(len(p.files) - 1), uint32(line)}
	if n := len(p.jumps); n == 0 || p.jumps[n-1].file != next.file || next.line-p.jumps[n-1].line != next.id-p.jumps[n-1].id {
		p.jumps = append(p.jumps, next)
	}
	return next.id
}

// describe names the line of an id for a message.
func (p *sourceLines) describe(id uint32) string {
	i, found := slices.BinarySearchFunc(p.jumps, id, func(j jump, id uint32) int { return cmp.Compare(j.id, id) })
	if !found {
		i--
	}
	j := p.jumps[i]
	line := j.line + id - j.id
	if int(j.file) == len(p.files)-1 {
		return fmt.Sprintf("on line %d", line)
	}
	return fmt.Sprintf("on line %d of %s", line, p.files[j.file])
}
