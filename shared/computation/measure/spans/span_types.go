package spans

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/bounds"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/mismatch"
	"assay/shared/computation/measure/steps"
)

// types numbers the types of spans in the order in which they are read. For a run, the types of the truth come first.
type types struct {
	names []string
	codes map[string]int32
	truth int    // for a run: the number of types of the truth
	used  []bool // by code, whether the current files have the type
	count int    // types that the current files have
	limit int

	counter *steps.Counter
}

func newTypes(ctx context.Context) *types {
	return &types{codes: map[string]int32{}, limit: bounds.Types, counter: steps.Of(ctx)}
}

// ofRun returns the types for reading a run. If compared, they start with the types of the truth.
func (t *types) ofRun(ctx context.Context, compared bool) *types {
	if !compared {
		return newTypes(ctx)
	}
	return &types{
		names:   slices.Clone(t.names),
		codes:   maps.Clone(t.codes),
		truth:   len(t.names),
		used:    make([]bool, len(t.names)),
		limit:   t.limit,
		counter: steps.Of(ctx),
	}
}

// code returns the code of a type, or a fault. It reports a type that the truth lacks.
func (t *types) code(name []byte, report *measure.Report, file string, line int) (code int32, fault string) {
	code, known := t.codes[string(name)]
	switch {
	case known && t.used[code]:
		return code, ""
	case len(name) > bounds.Name:
		return 0, fmt.Sprintf("the type %s has %d bytes; expected at most %d", fields.Quote(name), len(name), bounds.Name)
	case t.count == t.limit:
		return 0, fmt.Sprintf("the type %s is one too many; expected at most %d different ones", fields.Quote(name), t.limit)
	}
	t.count++
	if known {
		t.used[code] = true
		return code, ""
	}
	if t.truth > 0 {
		list := slices.Sorted(slices.Values(t.names[:t.truth])) // their order in the truth is not public
		cause := ""
		if len(t.names) < t.truth+measure.MaxDiagnostics {
			cause = mismatch.Explain(t.counter, []string{string(name)}, slices.Values(list))
		}
		report.Warnf(file, line, "the truth has no type %s but %s; every prediction of it counts as wrong%s", fields.Quote(name),
			fields.JoinFirst(list, len(list)), cause)
	}
	code = int32(len(t.names))
	t.names, t.used = append(t.names, string(name)), append(t.used, true)
	t.codes[string(name)] = code
	return code, ""
}

func (t *types) bytes() (n int) {
	const each = 2*16 + 16 + 1 // its name in the list and in the index, the rest of the index, and used
	for _, name := range t.names {
		n += each + len(name)
	}
	return n
}
