// Package plural writes numbers with their nouns, such as "1 run" and "2 runs". All texts use it for a noun after a number that can be 1.
package plural

import (
	"fmt"
	"strings"
)

// Count returns a number and its noun, in the plural unless the number is 1.
func Count[N int | int64](n N, noun string) string {
	if n != 1 {
		noun = Noun(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Noun returns the plural of a noun. It ends in s; a consonant and y at the end become ies.
func Noun(noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	if y && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return noun + "s"
}

// Verb returns the form of a verb after a number of things: the first form if the number is 1, as in "1 of 3 texts has no word".
func Verb[N int | int64](n N, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
