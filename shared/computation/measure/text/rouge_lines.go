package text

import (
	"slices"
	"strings"
)

// lineIndex holds the different lines of a text, and finds those that contain a word. A line is a list of symbols.
type lineIndex struct {
	lines  [][]uint32
	starts []int // by symbol, the first of its entries
	of     []int // indices of lines, by symbol
	seen   []int // by line, the number of the last query that found it
	query  int
	found  []int
}

// reset replaces the lines. It sorts them, because their order does not matter.
func (x *lineIndex) reset(lines [][]uint32, symbols int) {
	slices.SortFunc(lines, slices.Compare)
	x.lines = slices.CompactFunc(lines, slices.Equal)
	x.starts = append(x.starts[:0], make([]int, symbols+1)...)
	for _, line := range x.lines {
		for _, symbol := range line {
			x.starts[symbol+1]++
		}
	}
	for symbol := range symbols {
		x.starts[symbol+1] += x.starts[symbol]
	}
	x.of = append(x.of[:0], make([]int, x.starts[symbols])...)
	next := slices.Clone(x.starts)
	for i, line := range x.lines {
		for _, symbol := range line {
			x.of[next[symbol]] = i
			next[symbol]++
		}
	}
	x.seen = append(x.seen[:0], make([]int, len(x.lines))...)
	x.query = 0
}

// with returns the indices of the lines that contain a word of the line. The list is valid until the next call. The number of entries that
// it reads is at most the number of words of the line times the number of words of the text.
func (x *lineIndex) with(line []uint32) (found []int, entries int) {
	x.query++
	x.found = x.found[:0]
	for _, symbol := range line {
		of := x.of[x.starts[symbol]:x.starts[symbol+1]]
		entries += len(of)
		for _, i := range of {
			if x.seen[i] != x.query {
				x.seen[i] = x.query
				x.found = append(x.found, i)
			}
		}
	}
	return x.found, entries
}

// linesOf appends the symbols of each line that has words to lines, and the symbols of all lines to symbols.
func (r *rouge) linesOf(text string, lines [][]uint32, symbols []uint32) (list [][]uint32, all []uint32) {
	for line := range strings.SplitSeq(text, "\n") {
		r.words = r.tokens.appendWords(r.words[:0], line)
		start := len(symbols)
		symbols = r.vocabulary.find(r.words, symbols)
		if len(symbols) > start {
			lines = append(lines, symbols[start:])
		}
	}
	return lines, symbols
}

// hits returns the number of words that the lines of the reference have in common with the lines of the text. For each line of the
// reference, it unites the longest common subsequences with all lines of the text. A word counts at most as often as in the text and in the
// reference.
//
// Only lines with a common word have a common subsequence. Equal lines have the same one, so each is compared once.
func (r *rouge) hits() (n int) {
	r.counts = r.count(r.counts, r.lineSymbols)
	marked := make([]int, len(r.counts)) // words of the reference that are in a common subsequence, by symbol
	slices.SortFunc(r.linesAgainst, slices.Compare)
	for from := 0; from < len(r.linesAgainst) && r.common.counter.Err() == nil; {
		line := r.linesAgainst[from]
		to := from + 1
		for to < len(r.linesAgainst) && slices.Equal(r.linesAgainst[to], line) {
			to++
		}
		r.mark(line)
		for i, symbol := range r.known {
			if r.marked[i] {
				marked[symbol] += to - from
			}
		}
		from = to
	}
	for symbol, most := range r.counts {
		n += min(most, marked[symbol])
	}
	return n
}

// mark sets known to the words of a line of the reference that the text has, and marks those that are in a longest common subsequence of
// the line and a line of the text.
func (r *rouge) mark(line []uint32) {
	r.known = slices.DeleteFunc(append(r.known[:0], line...), func(symbol uint32) bool { return symbol == 0 })
	r.marked = append(r.marked[:0], make([]bool, len(r.known))...)
	lines, entries := r.index.with(r.known)
	if r.common.counter.Add(entries+overhead) != nil {
		return
	}
	for _, i := range lines {
		r.common.mark(r.known, r.index.lines[i], r.marked)
		if !slices.Contains(r.marked, false) || r.common.counter.Err() != nil {
			return
		}
	}
}

func (r *rouge) count(counts []int, symbols []uint32) []int {
	counts = append(counts[:0], make([]int, len(r.vocabulary)+1)...)
	for _, symbol := range symbols {
		counts[symbol]++
	}
	return counts
}
