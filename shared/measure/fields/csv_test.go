package fields_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/fields"
	"assay/shared/measure/lines"
)

func TestRecords_ReadCSV(t *testing.T) {
	const bare, quoted = "a quote stands within a field", "a quoted field does not end with a quote"
	for content, want := range map[string][]string{
		"a,b\n\"x\ny\",\"\"\"\"\n\nc,\n": {"1 [a b]", "2 [x\ny \"]", "5 [c ]"},
		"a,b\n1\n1,2\n":                  {"1 [a b]", "2 the record has more or fewer fields", "3 [1 2]"},
		"a,b\nx\"y,1\n1,2\n":             {"1 [a b]", "2 " + bare, "3 [1 2]"},
		"a,b\n1,\"2\n":                   {"1 [a b]", "2 " + quoted},
		"":                               nil,
		"a\tb\n1,2\t\"3\t4\"\n":          {"1 [a b]", "2 [1,2 3\t4]"},
		"a,x\tb\n1,2\t3\n":               {"1 [a x\tb]", "2 [1 2\t3]"}, // tabs do not separate a from the rest
		"a\t\"b\"\tc,d\n1\t2\t3\n":       {"1 [a b c,d]", "2 [1 2 3]"},
		"x\ty\n1\t2\n":                   {"1 [x y]", "2 [1 2]"},
		"a,b\n\"x\ry\",2\n":              {"1 [a b]", "2 [x\ry 2]"},
		"a,b\r1,2\r":                     {"1 " + lines.BareCRFault},
		"a\n" + strings.Repeat("\n", fields.MaxRecord+10): {"1 [a]", fmt.Sprintf("%d before this line are", fields.MaxRecord+2)},
		"a\n\"" + strings.Repeat("x\n", fields.MaxRecord): {"1 [a]", "2 the record that starts here has a quoted field that is not closed"},
	} {
		var report measure.Report
		var got []string
		add := func(line int, format string, args ...any) {
			if len(got) <= len(want) {
				got = append(got, fmt.Sprint(line, " ", fmt.Sprintf(format, args...)))
			}
		}
		records := fields.NewRecords(lines.NewReader(t.Context(), "f", strings.NewReader(content), &report), add, "a", "b")
		if line, header := records.Header(); header != nil {
			add(line, "%v", header)
		}
		for line, record := range records.All() {
			add(line, "%v", record)
		}
		// What follows a quote that is never closed is read as lines again.
		if len(content) > fields.MaxRecord && len(got) > len(want) {
			got = got[:len(want)]
		}
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%.40q: got %.200q, want %q", content, got, want)
		}
	}
}
