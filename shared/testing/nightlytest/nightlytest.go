// Package nightlytest gives tests two sizes: a small one for each change, and a long one that runs every night.
//
// The environment variable ASSAY_TESTS selects the size: "nightly" is the long one, and unset the small one. A test of the small size
// proves the same rule as the long one, on fewer cases.
package nightlytest

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Enabled reports whether tests run in their long form.
var Enabled = os.Getenv("ASSAY_TESTS") == "nightly"

// Count returns how many cases a test tries: change in the small form, nightly in the long one.
func Count(change, nightly int) int {
	if Enabled {
		return nightly
	}
	return change
}

// Check tests a property on 20 random inputs, and on 500 at night. The flags of rapid override both: -rapid.checks=1000
// tries more, and -rapid.seed repeats the inputs of a failure, whose seed rapid logs.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, property)
}

// The default of rapid is 100 inputs. It is set before the flags of the command line are parsed, so that they still count.
func init() {
	if err := flag.Set("rapid.checks", strconv.Itoa(Count(20, 500))); err != nil {
		panic(err)
	}
}
