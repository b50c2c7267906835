package predictions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/measuretest"
	"assay/shared/computation/measure/steps"
)

// TestDoubtfulTexts_NameWhatSpoiledThem warns of what programs leave in texts, and of nothing that texts have.
func TestDoubtfulTexts_NameWhatSpoiledThem(t *testing.T) {
	const missing = "texts with missing values as pandas and Python write them: "
	const misread = "texts with UTF-8 that was read as Windows-1252 and saved again: "
	const lists = "texts with lists as Python prints them: "
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"sound":            {[]string{"The café.", "MAÇÃ” and «Ã»", "nano", "[1] a list", "Â\u00a0b", "null"}, ""},
		"nothing":          {nil, ""},
		"a missing text":   {[]string{"a", "nan"}, missing + `1 of 2, such as "nan"; write these texts, or an empty text`},
		"misread letters":  {[]string{"The cafÃ© by", "b", "Ã¤"}, misread + `2 of 3, such as "The cafÃ© by"; read and write the file as UTF-8 at each step`},
		"misread quotes":   {[]string{"donâ€™t"}, misread + `1 of 1, such as "donâ€™t"; read and write the file as UTF-8 at each step`},
		"misread and else": {[]string{"Ã” Â°"}, misread + `1 of 1, such as "Ã” Â°"; read and write the file as UTF-8 at each step`},
		"lists": {[]string{"['a', 'b']", `["it's"]`}, lists + `2 of 2, such as "['a', 'b']"; write the text itself; several ` +
			`references of a truth are an array in JSON lines`},
		"a text that is a list": {[]string{"['a']", "b", "c"}, ""},
	} {
		d := &doubtfulTexts{TextInspector: noInspector{}}
		for _, text := range c.texts {
			d.Inspect([]byte(text))
		}
		got := d.Warnings()
		if len(got) > 1 || len(got) == 1 && got[0] != c.want || len(got) == 0 && c.want != "" {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
}

// TestReadRun_DoubtsATruth names mistakes of the truth that a run shows.
func TestReadRun_DoubtsATruth(t *testing.T) {
	truth := soundTruth(t, csvLabels, Labels, measuretest.File("truth", "id,label\na,x\nTotal,1\n"))
	_, report := readRun(t, truth, measuretest.File("run", "id,label\na,x\n"))
	measuretest.Expect(t, report.Diagnostics(), `run error: there is no prediction for 1 of 2 ids of the truth: "Total"; expected one for each; `+
		`if it is no item but a sum below a table, leave its line out of the truth`)
	truth = soundTruth(t, csvLabels, Sets, measuretest.File("truth", "id,label\na,x; y\nb,x\n"))
	_, report = readRun(t, truth, measuretest.File("run", "id,label\na,x|y\nb,x\n"))
	measuretest.Expect(t, report.Diagnostics(), `run:2 warning: the truth has no label "y"; every prediction of it counts as wrong; the likely `+
		`cause: the truth has the label "x; y", with ";" between labels, and labels are separated by "|"`)
}

// TestReadRun_CountsTheStepsOfDoubts reads a run with labels that the truth has only with others, or not at all. Each label of the truth is
// divided for them.
func TestReadRun_CountsTheStepsOfDoubts(t *testing.T) {
	const labels, size = 100, 1000
	lines := "id,label\n"
	for i := range labels {
		lines += fmt.Sprintf("%d,%s%d\n", i, strings.Repeat("a;", size/2), i)
	}
	truth := soundTruth(t, csvLabels, Sets, measuretest.File("truth", lines))
	unknown := "id,label\n"
	for i := range labels {
		unknown += fmt.Sprintf("%d,z%d\n", i, i)
	}
	counter := steps.New(1<<40, nil)
	_, err := truth.ReadRun(steps.With(t.Context(), counter), []measure.File{measuretest.File("run", unknown)}, new(measure.Report))
	divided := fields.Few * labels * size * len(usualSeparators)
	if took := counter.Total(); err != nil || took < int64(divided) || took > int64(3*divided) {
		t.Errorf("%d steps for %d bytes of labels, %v", took, divided, err)
	}
}

// TestContents_CountTheStepsOfDoubts looks for each usual separator in long labels. It ends once the counter fails.
func TestContents_CountTheStepsOfDoubts(t *testing.T) {
	const labels, size = 100, 1000
	lines := "id,label\n"
	for i := range labels {
		lines += fmt.Sprintf("%d,%s%d\n", i, strings.Repeat("a", size), i)
	}
	truth := soundTruth(t, csvLabels, Sets, measuretest.File("truth", lines))
	counter := steps.New(1<<40, nil)
	truth.contents(counter)
	divided := 2 * labels * size * len(usualSeparators)
	if took := counter.Total(); took < int64(divided) || took > int64(2*divided) {
		t.Errorf("%d steps for %d bytes of labels", took, labels*size)
	}
	counter = steps.New(labels*size, func(context.Context) error { return errors.New("too many") })
	truth.contents(counter)
	if counter.Err() == nil {
		t.Error("the doubts took no more steps than the counter allows")
	}
}
