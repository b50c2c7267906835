package lists_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/shared/language/lists"
)

func TestMap(t *testing.T) {
	if got := lists.Map([]int{3, 1, 2}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Error(got)
	}
	if got := lists.Map(nil, strconv.Itoa); got == nil || len(got) != 0 {
		t.Errorf("%#v, want an empty list", got)
	}
}

func TestWithout(t *testing.T) {
	all := []int{3, 1, 2, 1}
	if got := lists.Without(all, 1, 5); !slices.Equal(got, []int{3, 2}) || !slices.Equal(all, []int{3, 1, 2, 1}) {
		t.Error(got, all)
	}
}

func TestOr(t *testing.T) {
	for want, all := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := lists.Or(all); got != want {
			t.Errorf("%q of %q", got, all)
		}
		if got := lists.And(all); got != strings.ReplaceAll(want, " or ", " and ") {
			t.Errorf("%q of %q", got, all)
		}
	}
}
