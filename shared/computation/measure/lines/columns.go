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
// Columns marks all bytes that are at most a space in a window of 64 bytes at once, and then goes from mark to mark. The text between two
// marks is a column, unless it is empty. The marked byte says what comes next:
//
//	space, tab, CR before LF    the line goes on
//	LF                          the line is read, if it has len(out) columns and is not too long
//	any other byte              the line is not usual
//
// For example, Columns reads the line "7  Q0 d1\n" into three columns:
//
//	mark at    marked byte    text before it    columns
//	      1    space          "7"               7
//	      2    space          ""                7
//	      5    space          "Q0"              7, Q0
//	      8    LF             "d1"              7, Q0, d1: the line is read
//
// A window rarely ends where a line does. Therefore the chunk keeps the end of the window and its unused marks for the next line. A loop
// over single bytes needs no window, but the evaluation of a run then takes up to a fifth more processor time.
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

// low sets bit i for each of the 8 bytes of a word that is at most a space. For "d1\n7 Q0 " it sets the bits 2, 4 and 7.
func low(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Without its highest bit, a byte is at most 0x7f. Adding 0x5f sets the highest bit if the byte is more than a space, and never
	// carries into the next byte. A byte whose highest bit was set before is more than a space, too.
	more := (word&^high + (0x80-' '-1)*ones) | word
	marks := ^more & high
	return marks >> 7 * 0x0102040810204080 >> 56 // moves the mark of byte i to bit i of the highest byte, and the highest byte down
}
