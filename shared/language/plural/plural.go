// Package plural writes numbers with their nouns, such as "1 run" and "2 runs". All texts use it for a noun after a number that can be 1.
package plural

import (
	"fmt"
	"strings"
)

// Count returns a number and its noun, in the plural unless the number is 1. The plural ends in s; a consonant and y at the end become ies.
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
