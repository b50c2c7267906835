package lines

import (
	"encoding/binary"
	"math/bits"
)

// Column is the place of a column in a chunk.
type Column struct{ start, end int }

// Text returns the text of a column. The text is valid until the chunk is recycled.
func (c *Chunk) Text(of Column) []byte { return c.text[of.start:of.end] }

// Columns is a fast way to read a usual line of a table: a line that has no fault, ends with a line feed, and has exactly len(out) columns
// with spaces and tabs between them. Columns reads such a line, writes its columns to out, and returns the number of the line. For any
// other line, ok is false and the line stays unread: read it with Line. The columns are valid until the chunk is recycled.
//
// Columns marks all bytes that are at most a space in a window of 64 bytes at once, and then goes from mark to mark. A mark ends the column
// before it, if there is one. The marked byte says what comes next:
//
//	space, tab, CR before LF    the line goes on
//	LF                          the line is read, if it has len(out) columns and is not too long
//	any other byte              the line is not usual
func (c *Chunk) Columns(out []Column) (number int, ok bool) {
	if !c.sound {
		return 0, false
	}
	text := c.text
	start := c.read
	marked := c.marked // end of the window
	marks := c.marks   // marks of the window that are not used yet
	for n := 0; ; {
		for marks == 0 {
			if marked >= len(text) {
				return 0, false
			}
			marks = markLow(text[marked:])
			marked += window
		}
		end := marked - window + bits.TrailingZeros64(marks) // the place of the next mark
		marks &= marks - 1
		if end > start {
			if n == len(out) {
				return 0, false
			}
			out[n] = Column{start, end}
			n++
		}
		start = end + 1
		switch b := text[end]; {
		case b == ' ' || b == '\t' || b == '\r' && start < len(text) && text[start] == '\n':
		case b == '\n' && n == len(out) && end-c.read <= c.maxLine:
			c.read = start
			c.marked = marked
			c.marks = marks
			c.at++
			return c.First + c.at - 1, true
		default:
			return 0, false
		}
	}
}

// window is the number of bytes that are marked at once.
const window = 64

// markLow sets bit i for each of the first 64 bytes that is at most a space. These bytes are separators, line ends and other control
// characters.
func markLow(text []byte) (marks uint64) {
	if len(text) < window {
		var padded [window]byte
		copy(padded[:], text)
		return markLow(padded[:]) & (1<<len(text) - 1)
	}
	block := (*[window]byte)(text)
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(block[8*i:]) }
	return low(word(0)) | low(word(1))<<8 | low(word(2))<<16 | low(word(3))<<24 |
		low(word(4))<<32 | low(word(5))<<40 | low(word(6))<<48 | low(word(7))<<56
}

// low sets bit i for each of the 8 bytes of a word that is at most a space.
func low(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	marks := ^(word&^high + (0x80-' '-1)*ones | word) & high // the highest bit of each byte
	return marks >> 7 * 0x0102040810204080 >> 56             // the bits gathered in one byte
}
