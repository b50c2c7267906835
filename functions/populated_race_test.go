//go:build race

package functions_test

// population is smaller under the race detector, which makes storing records ten times as slow; what a request costs does not
// depend on it.
const population = 4_000
