//go:build !race

package functions_test

// population is how many records there are around those that a cost is measured on.
const population = 100_000
