package main

import (
	"fmt"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/plural"
)

// tellFinals says after a submission which of its datasets take final runs, how many of the team's runs count on them, and until when and
// how the team marks these. It says nothing of datasets whose window has closed for the team, and nothing of baselines.
func (c *call) tellFinals(task object, datasets []object, runs []string) {
	if c.err != nil || c.json || c.yes("baseline") || !slices.ContainsFunc(datasets, takesFinals) {
		return
	}
	run := "RUN"
	if len(runs) == 1 {
		run = runs[0]
	}
	q := memberAs[record.Quota](c.knownRegistration(task), "quota")
	for _, d := range datasets {
		of, known := ofDataset(q, d)
		if !known || !takesFinals(d) || of.ClosedReason == record.ClosedLate {
			continue
		}
		n := memberAs[int](d, "finalRuns")
		c.note("Of each team, %s on %s %s. Your team can mark %s%s with: assay final %s", plural.Count(n, "final run"), d.text("name"),
			plural.Verb(n, "counts", "count"), plural.Verb(n, "it", "them"), until(of.ClosesAt), run)
	}
}

func takesFinals(dataset object) bool { return memberAs[int](dataset, "finalRuns") > 0 }

// finalsColumn returns the column with the numbers of final runs, for the end of the columns of datasets. It is empty if none of the
// datasets takes final runs.
func (c *call) finalsColumn(datasets []object) string {
	if c.json || !slices.ContainsFunc(datasets, takesFinals) {
		return ""
	}
	for _, d := range datasets {
		if takesFinals(d) {
			d["finals"] = fmt.Sprintf("%d of each team", memberAs[int](d, "finalRuns"))
		}
	}
	return "|FINAL RUNS finals"
}
