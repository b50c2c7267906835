package measure

import "strings"

// Half is a part of the ids of a ground truth. The public and the private half have measures of their own, so that the values of one half
// can be shown while those of the other wait. The zero value stands for an id without a half.
type Half uint8

// The halves of a truth. Ids in IgnoredHalf have no measures, but runs must have them.
const (
	NoHalf Half = iota
	PublicHalf
	PrivateHalf
	IgnoredHalf
)

// MeasuredHalves are the halves with measures, in the order of their measures.
var MeasuredHalves = [...]Half{PublicHalf, PrivateHalf}

// ParseHalf returns the half with a name, in upper or lower case. It returns NoHalf for any other name.
func ParseHalf(name []byte) Half {
	for _, h := range []Half{PublicHalf, PrivateHalf, IgnoredHalf} {
		if strings.EqualFold(string(name), h.String()) {
			return h
		}
	}
	return NoHalf
}

// String returns the name of the half.
func (h Half) String() string { return [...]string{"", "public", "private", "ignored"}[h] }

// Measure returns the name of a measure of the half, such as public:Accuracy.
func (h Half) Measure(name string) string { return h.String() + ":" + name }

// TakeHalf takes the name of the half of an id, which is on a line of a file. It reports names that are no half.
type TakeHalf func(file string, line int, id, name []byte)
