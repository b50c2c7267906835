package predictions

import (
	"bytes"
	"fmt"

	"assay/shared/measure/hashtable"
)

// ids numbers the ids of a truth in the order in which they come. An id costs its bytes and about twenty more.
// Any number of goroutines may call find and at while none calls add.
type ids struct {
	text  []byte   // every id, one after another
	ends  []uint32 // where each ends in text, after a first 0
	slots hashtable.Table
}

func newIDs() *ids { return &ids{ends: []uint32{0}, slots: make(hashtable.Table, 64)} }

func (t *ids) len() int { return len(t.ends) - 1 }

func (t *ids) at(i int) []byte { return t.text[t.ends[i]:t.ends[i+1]] }

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
	index = t.len()
	t.text = append(t.text, id...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.slots.Put(hash, slot, index)
	if 4*t.len() > 3*len(t.slots) {
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

// labels numbers different labels in the order in which they come. The zero value has none.
type labels struct {
	names []string
	codes map[string]int32
}

// find returns the code of a label; -1 when it is not there.
func (l *labels) find(text []byte) int32 {
	if code, ok := l.codes[string(text)]; ok {
		return code
	}
	return -1
}

// add returns the code of a label that is not there yet.
func (l *labels) add(text []byte) int32 {
	if l.codes == nil {
		l.codes = map[string]int32{}
	}
	name, code := string(text), int32(len(l.names))
	l.codes[name] = code
	l.names = append(l.names, name)
	return code
}

// sourceLine is where an id was read; line 0 means no line.
type sourceLine struct{ file, line uint32 }

// sourceLines records where each id was read, so that the diagnostic of a repeated id names both lines.
type sourceLines struct {
	files []string
	list  []sourceLine // by example
}

// at is a line of the last file.
func (p *sourceLines) at(line int) sourceLine {
	return sourceLine{uint32(len(p.files) - 1), uint32(line)}
}

// describe says where an id was read, for a message.
func (p *sourceLines) describe(index int) string {
	at := p.list[index]
	if at.file == uint32(len(p.files)-1) {
		return fmt.Sprintf("on line %d", at.line)
	}
	return fmt.Sprintf("on line %d of %s", at.line, p.files[at.file])
}
