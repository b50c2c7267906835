package problem_test

import (
	"errors"
	"strings"
	"testing"

	"assay/shared/language/problem"
)

func TestCheck_CountsFaultsAsFarAsItKnows(t *testing.T) {
	for n, want := range map[int]string{1: "has a fault;", 2: "has 2 faults;", 99: "has 99 faults;", 100: "has 100 faults or more;",
		500: "has 100 faults or more;"} {
		p, ok := errors.AsType[*problem.Error](problem.Check(make([]problem.Field, n)))
		if !ok || !strings.Contains(p.Detail, want) || len(p.Fields) != min(n, problem.MaxFields) {
			t.Errorf("%d faults: %v, want %q", n, p, want)
		}
	}
	lines := problem.Field{Count: 4654}
	if err := problem.Check([]problem.Field{lines, {}}); !strings.Contains(err.Error(), "has 4655 faults;") {
		t.Error(err)
	}
	if err := problem.Check(nil); err != nil {
		t.Error(err)
	}
}
