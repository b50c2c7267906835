//go:build race

package functions_test

// townSize is smaller under the race detector, which makes filling the store ten times as slow; what a request costs
// does not hang on it.
const townSize = 4_000
