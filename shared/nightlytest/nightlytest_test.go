package nightlytest_test

import (
	"flag"
	"testing"

	"assay/shared/nightlytest"

	"pgregory.net/rapid"
)

func TestCheck_TriesAsManyInputsAsTheSizeSays(t *testing.T) {
	want := 20
	if nightlytest.Enabled {
		want = 500
	}
	if given := flag.Lookup("rapid.checks").Value.(flag.Getter).Get().(int); given != want {
		t.Fatalf("rapid.checks is %d, want %d", given, want)
	}
	tried := 0
	nightlytest.Check(t, func(*rapid.T) { tried++ })
	if tried != want {
		t.Errorf("the property was tried %d times, want %d", tried, want)
	}
}
