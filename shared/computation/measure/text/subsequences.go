package text

import (
	"math/bits"

	"assay/shared/computation/measure/steps"
)

// subsequences finds longest common subsequences with the table of their lengths. A machine word holds 64 columns of a row. A bit is 0 if
// the length is one more than the length in the column before (Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004).
type subsequences struct {
	masks []uint64 // by symbol: its places among the current 64 columns
	carry []uint64 // by row
	row   []uint64
	kept  []uint64 // all rows
	// counter counts the machine words of all tables. Results are invalid if it has an error.
	counter *steps.Counter
}

// maxSteps bounds the work for longest common subsequences of one run to about a minute. Ten thousand texts of two thousand words, with
// references of the same length, take a fifteenth of it.
const maxSteps = 10_000_000_000

// overhead is the steps of a table in addition to its machine words.
const overhead = 16

// reset sets the number of symbols.
func (s *subsequences) reset(symbols int) {
	if len(s.masks) < symbols {
		s.masks = make([]uint64, symbols)
	}
}

// words returns the number of machine words of a row.
func words(columns []uint32) int { return (len(columns) + 63) / 64 }

// first returns the row above the table. It reuses the memory of row.
func first(row []uint64, columns []uint32) []uint64 {
	row = row[:0]
	for range words(columns) {
		row = append(row, ^uint64(0))
	}
	return row
}

// length returns the length of a longest common subsequence.
func (s *subsequences) length(rows, columns []uint32) int {
	s.row = first(s.row, columns)
	s.next(s.row, rows, columns, nil)
	return before(s.row, len(columns))
}

// next computes the rows of the table. row is the row above the table at first, and the last row afterwards. If kept is not nil, it gets
// all rows.
func (s *subsequences) next(row []uint64, rows, columns []uint32, kept []uint64) {
	if s.counter.Add(len(rows)*len(row)+overhead) != nil {
		return
	}
	s.carry = append(s.carry[:0], make([]uint64, len(rows))...)
	for w := range row {
		part := columns[64*w : min(64*w+64, len(columns))]
		for i, symbol := range part {
			s.masks[symbol] |= 1 << i
		}
		v := row[w]
		for i, symbol := range rows {
			mask := s.masks[symbol]
			sum, carry := bits.Add64(v, v&mask, s.carry[i])
			s.carry[i] = carry
			v = sum | v&^mask
			if kept != nil {
				kept[i*len(row)+w] = v
			}
		}
		row[w] = v
		for _, symbol := range part {
			s.masks[symbol] = 0
		}
	}
}

// before returns the length after the first columns of a row. It is the number of zero bits, each of which adds 1 to the length.
func before(row []uint64, columns int) (n int) {
	w := columns / 64
	for _, v := range row[:w] {
		n += bits.OnesCount64(^v)
	}
	if rest := columns % 64; rest > 0 {
		n += bits.OnesCount64(^row[w] & (1<<rest - 1))
	}
	return n
}

// mark marks the places in rows of a longest common subsequence. It walks back from the end of the table, and goes up if both ways are
// equally long.
func (s *subsequences) mark(rows, columns []uint32, marked []bool) {
	width := words(columns)
	s.row = first(s.row, columns)
	if size := (len(rows) + 1) * width; len(s.kept) < size {
		s.kept = make([]uint64, size)
	}
	copy(s.kept, s.row)
	s.next(s.row, rows, columns, s.kept[width:])
	if s.counter.Add(len(rows)*width) != nil {
		return
	}
	for i, j := len(rows), len(columns); i > 0 && j > 0 && s.counter.Add(width/8) == nil; {
		switch {
		case rows[i-1] == columns[j-1]:
			marked[i-1] = true
			i--
			j--
		case before(s.kept[i*width:][:width], j-1) > before(s.kept[(i-1)*width:][:width], j):
			j--
		default:
			i--
		}
	}
}
