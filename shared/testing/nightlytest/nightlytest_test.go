package nightlytest_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

func TestCheck_TriesAsManyInputsAsTheFlagSays(t *testing.T) {
	want := flag.Lookup("rapid.checks").Value.(flag.Getter).Get().(int)
	tried := 0
	nightlytest.Check(t, func(*rapid.T) { tried++ })
	if tried != want {
		t.Errorf("the property was tried %d times, want %d", tried, want)
	}
	t.Logf("tried %d inputs", tried)
}

// Sizes and flags count from the start of a process, so each case runs the test above in a process of its own.
func TestCheck_TriesAsManyInputsAsTheSizeSays(t *testing.T) {
	for _, c := range []struct {
		size  string
		flags []string
		want  int
	}{
		{"", nil, 20},
		{"nightly", nil, 500},
		{"", []string{"-rapid.checks=7"}, 7},
		{"nightly", []string{"-rapid.checks=7"}, 7},
	} {
		program := exec.CommandContext(t.Context(), os.Args[0],
			append(c.flags, "-test.run=^TestCheck_TriesAsManyInputsAsTheFlagSays$", "-test.v")...)
		program.Env = append(os.Environ(), "ASSAY_TESTS="+c.size)
		output, err := program.CombinedOutput()
		if err != nil || !strings.Contains(string(output), fmt.Sprintf("tried %d inputs\n", c.want)) {
			t.Errorf("in size %q with %q: %v, want %d inputs\n%s", c.size, c.flags, err, c.want, output)
		}
	}
}
