// Package plural writes numbers of things as people read them: "1 run", "2 runs". No text writes a plural after a number that can be
// 1 in another way.
package plural

import (
	"fmt"
	"strings"
)

// Count is a number with its noun, whose plural ends in s, or in ies after a consonant and y.
func Count[N int | int64](n N, noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case n == 1:
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		noun = stem + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
