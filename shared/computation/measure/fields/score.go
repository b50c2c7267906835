package fields

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode"
)

// exact is the limit up to which a float64 holds every whole number.
const exact = 1 << 53

// powers lists the powers of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22}

// ParseScore reads a finite decimal number such as -12.5e-3, correctly rounded. ok is false for hexadecimal numbers, inf and nan, which C
// accepts.
//
// If a float64 holds the digits and the power of ten exactly, their quotient is correctly rounded (Clinger, How to read floating point
// numbers accurately, 1990). strconv parses all other numbers.
func ParseScore(text []byte) (x float64, ok bool) {
	unsigned := text
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	if len(unsigned) >= 8 {
		x, ok = parseShort(unsigned)
	}
	if !ok {
		x, ok = parseUnsigned(unsigned)
	}
	if ok && text[0] == '-' {
		x = -x
	}
	return x, ok
}

func parseUnsigned(text []byte) (float64, bool) {
	var mantissa uint64
	fraction, i := 0, 0
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		mantissa = mantissa*10 + uint64(text[i]-'0')
	}
	digits := i
	if i < len(text) && text[i] == '.' {
		i++
		start := i
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
			mantissa = mantissa*10 + uint64(text[i]-'0')
		}
		fraction = i - start
		digits += fraction
	}
	if digits == 0 {
		return 0, false
	}
	// Up to 19 digits cannot overflow the mantissa.
	if i == len(text) && digits <= 19 && mantissa <= exact && fraction < len(powers) {
		return float64(mantissa) / powers[fraction], true
	}
	// strconv would also accept hexadecimal numbers, and underscores between digits.
	if i < len(text) && (unicode.ToLower(rune(text[i])) != 'e' || bytes.IndexByte(text, '_') > 0) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return x, err == nil && !math.IsInf(x, 0)
}

// parseShort parses the scores of most runs: 8 to 17 characters that are digits, except for at most one decimal point. It parses the last
// eight characters at once. ok is false for any other text.
func parseShort(text []byte) (x float64, ok bool) {
	n := len(text) - 8
	if n < 0 || n > 9 {
		return 0, false
	}
	const ones, high = 0x0101010101010101, 0x8080808080808080
	tail := binary.LittleEndian.Uint64(text[n:])
	scale := uint64(1e8)
	fraction := 0
	points := tail ^ '.'*ones
	points = (points - ones) &^ points & high // the lowest set bit marks the first point; a second point fails below
	pointed := points != 0
	if pointed {
		at := bits.TrailingZeros64(points) &^ 7
		before := uint64(1)<<at - 1
		tail = tail&before<<8 | tail&^(before<<8|0xff) | '0'
		scale, fraction = 1e7, 7-at/8
	}
	tail ^= '0' * ones
	if (tail+(0x80-10)*ones|tail)&high != 0 {
		return 0, false // not all are digits
	}
	// Combine pairs of digits into numbers below 100, and these into one number below 10^8.
	tail = tail*10 + tail>>8
	const even = 0x000000ff000000ff
	tail = (tail&even*(100+1e6<<32) + tail>>16&even*(1+1e4<<32)) >> 32
	var mantissa uint64
	for i, c := range text[:n] {
		switch {
		case c-'0' <= 9:
			mantissa = mantissa*10 + uint64(c-'0')
		case c == '.' && !pointed:
			pointed, fraction = true, n-i-1+8
		default:
			return 0, false
		}
	}
	mantissa = mantissa*scale + tail
	if mantissa > exact {
		return 0, false
	}
	return float64(mantissa) / powers[fraction], true
}
