package measure

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// letters returns a text of letters for a number, so that each number gives another kind of fault.
func letters(n int) string { return strings.Repeat("a", n/26+1) + string(rune('a'+n%26)) }

func TestReport_TellsAFaultOnceWithItsLines(t *testing.T) {
	for _, test := range []struct {
		lines []int
		want  string
		count int
	}{
		{[]int{5}, "", 0},
		{[]int{5, 5}, "", 0}, // one line has the fault twice
		{[]int{1, 2}, "1 and 2", 2},
		{[]int{3, 7, 9}, "3, 7 and 9", 3},
		{[]int{3, 7, 9, 12}, "3, 7, 9 and 12", 4},
		{[]int{3, 7, 9, 12, 20, 21, 22}, "3, 7, 9 and 4 more up to 22", 7},
		{[]int{1, 2, 3, 4, 8}, "1 to 4 and 8", 5},
	} {
		var r Report
		for _, line := range test.lines {
			r.Errorf("run.txt", line, "the score is no number")
		}
		want := Diagnostic{Severity: Error, File: "run.txt", Line: test.lines[0], Lines: test.want, Count: test.count,
			Message: "the score is no number"}
		if got := r.Diagnostics(); !slices.Equal(got, []Diagnostic{want}) || r.Errors() != max(1, test.count) {
			t.Errorf("%v: %+v, %d errors", test.lines, got, r.Errors())
		}
	}
}

// TestReport_HasRoomForOtherKinds reports a fault of another kind after thousands of one kind with different values.
func TestReport_HasRoomForOtherKinds(t *testing.T) {
	var r Report
	for i := range 4653 {
		r.Errorf("run.txt", i+1, "the score %q is no number", fmt.Sprint("x", i))
	}
	r.Errorf("run.txt", 4654, "the line has 3 of 6 fields")
	all := r.Diagnostics()
	rest, last := all[len(all)-2], all[len(all)-1]
	if len(all) != perKind+2 || rest.Lines != "11 to 4653" || rest.Count != 4643 || !strings.Contains(rest.Message, `"x10"`) ||
		!strings.Contains(rest.Message, "other values") || last.Message != "the line has 3 of 6 fields" || Faults(all) != 4654 {
		t.Errorf("%d diagnostics, %d faults, the last %+v, %+v", len(all), Faults(all), rest, last)
	}
	if want := "4654 faults in all."; InAll(all) != want {
		t.Errorf("%q, want %q", InAll(all), want)
	}
	if again := r.Clone().Diagnostics(); !slices.Equal(again, all) {
		t.Errorf("the clone has %+v", again)
	}
}

// TestReport_ShortensMessages keeps the diagnostics of a run small enough for its record.
func TestReport_ShortensMessages(t *testing.T) {
	var r Report
	for i := range perKind {
		r.Errorf("run.txt", i+1, "write %s", strings.Repeat("é", MaxMessage+i))
	}
	for _, d := range r.Diagnostics() {
		if len(d.Message) > MaxMessage+len(" …") || !utf8.ValidString(d.Message) || !strings.HasSuffix(d.Message, "é …") {
			t.Errorf("a message of %d bytes: %.100q", len(d.Message), d.Message)
		}
	}
}

// TestReport_ExplainsFaults adds the cause of a kind of fault to its first message. The cause is no fault of its own.
func TestReport_ExplainsFaults(t *testing.T) {
	var r Report
	r.Errorf("run.txt", 3, "the truth has no id %q", "a")
	r.Errorf("run.txt", 4, "the truth has no id %q", "b")
	r.Explain(Diagnostic{Severity: Error, File: "run.txt", Message: `the truth has no id "c"`}, "; the likely cause: blanks")
	r.Explain(Diagnostic{Severity: Error, File: "run.txt", Message: "the line is empty"}, "; never said")
	all := r.Clone().Diagnostics()
	if Faults(all) != 2 || all[0].Message != `the truth has no id "a"; the likely cause: blanks` || all[1].Message != `the truth has no id "b"` {
		t.Errorf("%+v", all)
	}
}

func TestReport_KeepsErrorsBeforeWarnings(t *testing.T) {
	var r Report
	r.Warnf("run.txt", 0, "a warning")
	for i := range 2 * MaxDiagnostics {
		r.Errorf("run.txt", i+1, "error %s", letters(i))
	}
	r.Warnf("run.txt", 999, "one too many")
	d := r.Diagnostics()
	if !r.Failed() || len(d) != MaxDiagnostics || Faults(d) != 2*MaxDiagnostics+2 ||
		slices.ContainsFunc(d, func(d Diagnostic) bool { return d.Severity == Warning }) || d[0].Line != 1 {
		t.Errorf("failed %v, %d diagnostics of %d faults from %+v to %+v", r.Failed(), len(d), Faults(d), d[0], d[len(d)-1])
	}
}

func TestReport_WarningsDoNotFail(t *testing.T) {
	var r Report
	for i := range 2 * MaxDiagnostics {
		r.Warnf("run.txt", 0, "a warning %s", letters(i))
	}
	if r.Full() || r.Failed() || len(r.Diagnostics()) != MaxDiagnostics {
		t.Errorf("full %v, failed %v, %d diagnostics", r.Full(), r.Failed(), len(r.Diagnostics()))
	}
}

func TestReport_EndsAfterTooManyFaults(t *testing.T) {
	var r Report
	for i := range MaxFaults {
		if r.Full() {
			t.Fatalf("full after %d errors", i)
		}
		r.Errorf("run.txt", i+1, "an error")
	}
	want := []Diagnostic{
		{Severity: Error, File: "run.txt", Line: 1, Lines: "1 to 100000", Count: MaxFaults, Message: "an error"},
		{Severity: Error, Message: "reading ended after 100000 faults, so there may be more"},
	}
	if got := r.Diagnostics(); !r.Full() || !slices.Equal(got, want) {
		t.Errorf("full %v, %+v", r.Full(), got)
	}
}

// TestReport_AddAllJoinsParts divides the faults of a file into parts, as parsers do, and expects the same report.
func TestReport_AddAllJoinsParts(t *testing.T) {
	var whole, joined Report
	parts := []*Report{{}, {}, {}}
	for i := range 300 {
		line, message := i+1, "the line is broken"
		if i%7 == 0 {
			message = fmt.Sprintf("the score %q is no number", fmt.Sprint(i%2))
		}
		whole.Errorf("run.txt", line, "%s", message)
		parts[i/100].Errorf("", line, "%s", message)
	}
	joined.AddAll("run.txt", parts...)
	if got, want := joined.Diagnostics(), whole.Diagnostics(); !slices.Equal(got, want) || joined.Errors() != 300 {
		t.Errorf("%d errors\n%+v\n%+v", joined.Errors(), got, want)
	}
}

func TestAppendKind_IgnoresValues(t *testing.T) {
	const want = `the id "" was given before, on line 0; expected ""`
	for _, message := range []string{`the id "a" was given before, on line 12; expected ""`, `the id "\"1" was given before, on line 3; expected "b"`} {
		if got := string(appendKind(nil, message)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Diagnostics of an organizer's evaluator are joined only if they are equal, since nothing is known of their kinds.
func TestGrouped_JoinsEqualDiagnostics(t *testing.T) {
	var all []Diagnostic
	for i := range 30 {
		all = append(all, Diagnostic{Severity: Error, File: "a", Line: i + 1, Message: fmt.Sprintf("the id %d is unknown", i%20)})
	}
	got := Grouped(all)
	want := Diagnostic{Severity: Error, File: "a", Line: 1, Lines: "1 and 21", Count: 2, Message: "the id 0 is unknown"}
	if len(got) != 20 || got[0] != want || got[19] != all[19] || Faults(got) != 30 {
		t.Errorf("%d diagnostics from %+v to %+v", len(got), got[0], got[len(got)-1])
	}
}
