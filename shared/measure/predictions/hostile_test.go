package predictions

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"assay/shared/measure"
	"assay/shared/measure/measuretest"
)

// TestRead_EndlessFilesAreRefused gives files without an end: each has to end in its diagnostic.
func TestRead_EndlessFilesAreRefused(t *testing.T) {
	const header = "id,label\n"
	tests := []struct {
		name   string
		format Format
		before string
		rest   *measuretest.Endless
		want   string // the beginning of a diagnostic
	}{
		{"faulty lines", jsonLabels, "", measuretest.Repeat("{\n"), "run:100 error"},
		{"overlong lines", jsonLabels, "", measuretest.Repeat(strings.Repeat(`{"id": "a", "label": "xxxxxxxxxxxxxxxxxx"},`, 10_000) + "\n"),
			"run:100 error: the line is longer than 65536 bytes"},
		{"unknown ids", jsonLabels, "", measuretest.Numbered(`{"id":"`, `!","label":"x"}`+"\n"),
			"run error: ids of the run that the truth does not have: at least 100"},
		{"one id", csvLabels, header, measuretest.Repeat("1,x\n"), "run:102 error: the id \"1\" was given before, on line 2"},
		{"faulty records", csvLabels, header, measuretest.Repeat("1\n"), "run:101 error: the record has more or fewer fields"},
		{"a quote that is never closed", csvLabels, header + "1,x\n\"2,x\n", measuretest.Numbered("", ",x\n"),
			"run:3 error: the record that starts here has a quoted field that is not closed within 1048576 bytes"},
		{"labels", csvLabels, header, &measuretest.Endless{Append: func(text []byte, n int) []byte { return fmt.Appendf(text, "%d,%d\n", n, n) }},
			`run:10002 error: "label" has more than 10000 different labels up to here`},
		{"empty lines of csv", csvLabels, header + "1,x\n", measuretest.Repeat("\n"),
			"run:1048579 error: before this line are 1048576 bytes of empty lines"},
		{"zero bytes", csvLabels, "", measuretest.Repeat("\x00\n"), "run:100 error: the line has a zero byte"},
	}
	var truthText strings.Builder
	truthText.WriteString("id,label\n")
	for i := range 20000 {
		fmt.Fprintf(&truthText, "%d,x\n", i)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", truthText.String()))
			truth.format = test.format
			_, report := readRun(t, truth, measure.File{Name: "run", Content: io.MultiReader(strings.NewReader(test.before), test.rest)})
			all := measuretest.Lines(report.Diagnostics())
			if !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, test.want) }) {
				t.Errorf("no diagnostic begins with %q; the last are %q", test.want, all[max(0, len(all)-3):])
			}
			if !report.Failed() || len(report.Diagnostics()) > measure.MaxDiagnostics {
				t.Errorf("%d diagnostics, failed %v", len(report.Diagnostics()), report.Failed())
			}
			if test.rest.Bytes > 50<<20 {
				t.Errorf("read %d bytes before it gave up", test.rest.Bytes)
			}
		})
	}
}

// TestReadRun_OfLongFiles has more in each format than any buffer or bound of one record.
func TestReadRun_OfLongFiles(t *testing.T) {
	const n = 60_000
	for _, format := range []Format{jsonLabels, csvLabels} {
		truth := soundTruth(t, format, Labels, measure.File{Name: "truth", Content: bytes.NewReader(benchmarkFile(format, n, false))})
		run, report := readRun(t, truth, measure.File{Name: "run", Content: bytes.NewReader(benchmarkFile(format, n, true))})
		if truth.Len() != n || len(report.Diagnostics()) > 0 || !slices.Equal(run.Codes(), truth.Codes()) {
			t.Errorf("%s: %d examples, %q", format.Kind, truth.Len(), measuretest.Lines(report.Diagnostics()))
		}
	}
}

func TestReadTruth_BoundsTheDepthOfJSON(t *testing.T) {
	deep := func(n int) string {
		return `{"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"id":"a","label":"x"}`
	}
	soundTruth(t, jsonLabels, Labels, measuretest.File("truth", deep(9000)))
	if _, report := readTruth(t, jsonLabels, Labels, measuretest.File("truth", deep(20000))); !report.Failed() {
		t.Error("20000 levels are read")
	}
	if _, report := readTruth(t, jsonLabels, Labels, measuretest.File("truth", strings.Repeat("[", 60000))); !report.Failed() {
		t.Error("60000 open brackets are read")
	}
}

func TestReadTruth_IsBounded(t *testing.T) {
	content := "id,label\na,x\nb,y\nc,x\nd,z\n"
	tests := []struct {
		name   string
		limits limits
		want   string
	}{
		{"examples", limits{examples: 3, labels: 9, ids: 9}, "truth:5 error: this is one example too many; expected at most 3"},
		{"labels", limits{examples: 9, labels: 2, ids: 9},
			`truth:5 error: "label" has more than 2 different labels up to here; check that it is the field meant, or use regression for numbers`},
		{"ids", limits{examples: 9, labels: 9, ids: 3}, "truth:5 error: the ids up to here have more than 3 bytes together; give shorter ones"},
		{"none", limits{examples: 4, labels: 3, ids: 4}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var report measure.Report
			truth := &Truth{format: csvLabels, values: Labels, limits: test.limits, ids: newIDs()}
			if err := truth.read(t.Context(), []measure.File{measuretest.File("truth", content)}, &report); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(measuretest.Lines(report.Diagnostics()), "\n"); got != test.want {
				t.Errorf("reported %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadTruth_OfPackedFiles(t *testing.T) {
	truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth.gz", measuretest.Gzip(t, "id,label\na,x\n")))
	if truth.Len() != 1 {
		t.Errorf("%d examples, want 1", truth.Len())
	}
}

// TestLabelLimit_RevealsNothingOfTheTruth gives runs at and beyond the bound to truths that have more and fewer of their
// labels.
func TestLabelLimit_RevealsNothingOfTheTruth(t *testing.T) {
	for _, labels := range []string{"id,label\na,x\nb,x\nc,x\n", "id,label\na,x\nb,y\nc,z\n", "id,label\na,p\nb,q\nc,p\n"} {
		truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", labels))
		truth.limits.labels = 2
		for content, want := range map[string]bool{"id,label\na,x\nb,y\nc,x\n": false, "id,label\na,x\nb,y\nc,z\n": true} {
			if _, report := readRun(t, truth,
				measuretest.File("run", content)); strings.Contains(strings.Join(measuretest.Lines(report.Diagnostics()), "\n"),
				"more than 2 different labels") != want {
				t.Errorf("%q against %q: %q", content, labels, measuretest.Lines(report.Diagnostics()))
			}
		}
	}
}
