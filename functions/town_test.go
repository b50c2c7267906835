//go:build !race

package functions_test

// townSize is how many resources there are around those that a budget is measured on.
const townSize = 100_000
