package lines

import (
	"encoding/binary"
	"math/bits"
)

// Column is the place of a column in a chunk.
type Column struct{ start, end int }

// Text is the text of a column, valid until the chunk is recycled.
func (c *Chunk) Text(of Column) []byte { return c.text[of.start:of.end] }

// Columns goes past the next line and puts its columns into out, if it is as most lines of a table are: without a fault, ended, and with
// as many columns as out holds, which spaces and tabs separate. Otherwise ok is false, and Line has the line. The columns are valid until
// the chunk is recycled.
//
// It finds where columns end by 64 bytes at a time, so that it neither looks at each byte nor waits for the end of one column to look
// for that of the next.
func (c *Chunk) Columns(out []Column) (number int, ok bool) {
	if !c.sound {
		return 0, false
	}
	text := c.text
	start := c.read
	marked := c.marked
	marks := c.marks
	for n := 0; ; {
		for marks == 0 {
			if marked >= len(text) {
				return 0, false
			}
			marks = markLow(text[marked:])
			marked += window
		}
		end := marked - window + bits.TrailingZeros64(marks)
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

// window is how many bytes are marked at once.
const window = 64

// markLow marks those of the first bytes of a text that are at most a space, as separators, line ends and control characters are: byte i by
// bit i.
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

// low marks the bytes of a word that are at most a space.
func low(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	marks := ^(word&^high + (0x80-' '-1)*ones | word) & high // the highest bit of each
	return marks >> 7 * 0x0102040810204080 >> 56             // gathered in one byte
}
