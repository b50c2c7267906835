package text

import (
	"math/bits"

	"assay/shared/computation/measure/steps"
)

// subsequences finds longest common subsequences of two texts, the rows and the columns of a table. The cell (i, j) is the length of a
// longest common subsequence of the first i symbols of the rows and the first j symbols of the columns. From one column to the next, the
// length stays equal or grows by 1. So a row needs one bit for each column: 0 where the length grows. For the rows "ac" and the columns
// "abc":
//
//	             a b c    bits of the columns
//	         0   0 0 0    1 1 1
//	a        0   1 1 1    0 1 1
//	ac       0   1 1 2    0 1 0
//
// A machine word holds 64 columns of a row, the first in its lowest bit. The rows are computed word by word: first all rows for the first
// 64 columns, and so on (Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004).
type subsequences struct {
	masks []uint64 // by symbol: its places among the current 64 columns
	carry []uint64 // by row: the carry from the current word to the next
	row   []uint64 // the last row that was computed
	table []uint64 // all rows one after another, for mark
	// counter counts the machine words of all tables. Results are invalid if it has an error.
	counter *steps.Counter
}

// overhead is the steps of a table in addition to its machine words.
const overhead = 48

// reset sets the number of symbols.
func (s *subsequences) reset(symbols int) {
	if len(s.masks) < symbols {
		s.masks = make([]uint64, symbols)
	}
}

// rowWords returns the number of machine words of a row.
func rowWords(columns []uint32) int { return (len(columns) + 63) / 64 }

// emptyRow sets s.row to the row of no symbols, in which no length grows.
func (s *subsequences) emptyRow(columns []uint32) {
	s.row = s.row[:0]
	for range rowWords(columns) {
		s.row = append(s.row, ^uint64(0))
	}
}

// length returns the length of a longest common subsequence.
func (s *subsequences) length(rows, columns []uint32) int {
	s.emptyRow(columns)
	s.computeRows(rows, columns, nil)
	return lengthAt(s.row, len(columns))
}

// computeRows computes the rows below s.row, and sets s.row to the last one. If table is not nil, it gets all of them.
func (s *subsequences) computeRows(rows, columns []uint32, table []uint64) {
	width := len(s.row)
	if s.counter.Add(len(rows)*width+overhead) != nil {
		return
	}
	s.carry = append(s.carry[:0], make([]uint64, len(rows))...)
	for w := range width {
		block := columns[64*w : min(64*w+64, len(columns))]
		for i, symbol := range block {
			s.masks[symbol] |= 1 << i
		}
		word := s.row[w]
		for i, symbol := range rows {
			mask := s.masks[symbol]
			sum, carry := bits.Add64(word, word&mask, s.carry[i])
			s.carry[i] = carry
			word = sum | word&^mask
			if table != nil {
				table[i*width+w] = word
			}
		}
		s.row[w] = word
		for _, symbol := range block {
			s.masks[symbol] = 0
		}
	}
}

// lengthAt returns the cell of a row after the first columns: the number of zero bits, each of which adds 1 to the length.
func lengthAt(row []uint64, columns int) (length int) {
	whole := columns / 64
	for _, word := range row[:whole] {
		length += bits.OnesCount64(^word)
	}
	if rest := columns % 64; rest > 0 {
		length += bits.OnesCount64(^row[whole] & (1<<rest - 1))
	}
	return length
}

// mark marks the places in rows of a longest common subsequence. It walks back from the end of the table. Equal symbols belong to the
// subsequence. Otherwise it goes left if the length there is greater than above, else up.
func (s *subsequences) mark(rows, columns []uint32, marked []bool) {
	width := rowWords(columns)
	if size := (len(rows) + 1) * width; len(s.table) < size {
		s.table = make([]uint64, size)
	}
	s.emptyRow(columns)
	copy(s.table, s.row)
	s.computeRows(rows, columns, s.table[width:])
	if s.counter.Add(len(rows)*width) != nil {
		return
	}
	cell := func(i, j int) int { return lengthAt(s.table[i*width:][:width], j) }
	i, j := len(rows), len(columns)
	for i > 0 && j > 0 && s.counter.Add(width/8) == nil {
		switch {
		case rows[i-1] == columns[j-1]:
			marked[i-1] = true
			i--
			j--
		case cell(i, j-1) > cell(i-1, j):
			j--
		default:
			i--
		}
	}
}
