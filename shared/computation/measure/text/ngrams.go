package text

import (
	"math/bits"
	"math/rand/v2"
)

// maxOrder is the greatest length of n-grams.
const maxOrder = 10

// ngrams holds the n-grams of a text, of 1 to order symbols, as a trie. The parent of an n-gram is its prefix of n-1 symbols.
type ngrams struct {
	order int
	nodes []node   // the first is the root
	table []uint32 // nodes by the hash of their key; 0 is free
	shift int
	// atMost counts, by length, the n-grams of the text that references contain. An n-gram counts at most as often as in the text, and as
	// often as in the reference that contains it most.
	atMost [maxOrder]int
}

// node is one n-gram.
type node struct {
	key   uint64 // the parent and the last symbol
	count uint32 // occurrences in the text
	used  uint32 // occurrences in the last reference, at most count
	most  uint32 // the greatest used of all references
}

// multiplier makes hashes of keys unpredictable, so that nobody can write texts whose n-grams all collide. It is odd.
var multiplier = rand.Uint64() | 1 //nolint:gosec // chosen in each process

// reset builds the trie of a text.
func (g *ngrams) reset(text []uint32, order int) {
	const smallest = 6
	size := max(smallest, bits.Len(uint(2*order*len(text))))
	g.order = order
	g.shift = 64 - size
	g.atMost = [maxOrder]int{}
	g.nodes = append(g.nodes[:0], node{})
	if cap(g.table) < 1<<size {
		g.table = make([]uint32, 1<<size)
	}
	g.table = g.table[:1<<size]
	clear(g.table)
	for i := range text {
		parent := uint32(0)
		for _, symbol := range text[i:min(i+order, len(text))] {
			key := uint64(parent)<<32 | uint64(symbol)
			slot := g.slot(key)
			if g.table[slot] == 0 {
				g.table[slot] = uint32(len(g.nodes))
				g.nodes = append(g.nodes, node{key: key})
			}
			parent = g.table[slot]
			g.nodes[parent].count++
		}
	}
}

// slot returns the slot of the node with the key, or the free slot for it.
func (g *ngrams) slot(key uint64) uint64 {
	slot := key * multiplier >> g.shift
	for g.table[slot] != 0 && g.nodes[g.table[slot]].key != key {
		slot = (slot + 1) & uint64(len(g.table)-1)
	}
	return slot
}

// match returns, by length, the number of n-grams that the text and a reference have in common. It also updates atMost.
func (g *ngrams) match(reference []uint32) (matched [maxOrder]int) {
	for i := range g.nodes {
		g.nodes[i].used = 0
	}
	for i := range reference {
		parent := uint32(0)
		for n, symbol := range reference[i:min(i+g.order, len(reference))] {
			parent = g.table[g.slot(uint64(parent)<<32|uint64(symbol))]
			if parent == 0 {
				break
			}
			node := &g.nodes[parent]
			if node.used == node.count {
				continue
			}
			matched[n]++
			node.used++
			if node.used > node.most {
				node.most = node.used
				g.atMost[n]++
			}
		}
	}
	return matched
}
