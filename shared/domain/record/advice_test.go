package record_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// About 14 runs reveal 40 examples. The cases allow different numbers of runs.
func TestAdvise_ComparesWithWhatTeamsMaySubmit(t *testing.T) {
	now := time.Now()
	in := func(days float64) *record.Instant {
		return new(record.At(now.Add(time.Duration(days * float64(record.Day)))))
	}
	type (
		task  = record.SubmissionRules
		draft = record.DatasetDraft
		rules = record.DatasetSubmissions
	)
	for name, c := range map[string]struct {
		task    task
		dataset draft
		runs    int // 0: no advice
		detail  string
	}{
		"no limit":                        {task{}, draft{}, 14, "a team may submit any number"},
		"a limit of each day without end": {task{PerDay: 1}, draft{}, 14, "may submit any number over the days, as the dataset has no close."},
		"enough in all":                   {task{Total: 14}, draft{}, 14, "a team may submit 14."},
		"too few in all":                  {task{Total: 13}, draft{}, 0, ""},
		"too few on the dataset":          {task{}, draft{Submissions: rules{Total: 13}}, 0, ""},
		"enough in a day":                 {task{PerDay: 20, ClosesAt: in(1)}, draft{}, 14, "a team may submit 20."},
		"too few in a week":               {task{PerDay: 1, ClosesAt: in(7)}, draft{}, 0, ""},
		"enough in a fortnight":           {task{PerDay: 1, ClosesAt: in(14)}, draft{}, 14, "a team may submit 14."},
		"a close after 900 years":         {task{PerDay: 1, ClosesAt: new(record.At(now.AddDate(900, 0, 0)))}, draft{}, 14, "may submit 106752."},
		"a later opening":                 {task{PerDay: 1, OpensAt: in(7), ClosesAt: in(14)}, draft{}, 0, ""},
		"an earlier close of the dataset": {task{PerDay: 1, ClosesAt: in(14)}, draft{Submissions: rules{ClosesAt: in(7)}}, 0, ""},
		"fewer a day on the dataset":      {task{PerDay: 5, ClosesAt: in(4)}, draft{Submissions: rules{PerDay: 3}}, 0, ""},
		"scores after the close":          {task{}, draft{Columns: recordtest.ColumnsFrom(record.FromClose, "Accuracy")}, 0, ""},
		"live scores":                     {task{}, draft{Columns: recordtest.ColumnsFrom(record.FromNow, "Accuracy")}, 14, ""},
		"blinded runs":                    {task{}, draft{Split: record.Test}, 0, ""},
		"a public truth":                  {task{}, draft{Split: record.Training, TruthsPublic: true}, 0, ""},
		"a hidden truth to train with":    {task{}, draft{Split: record.Training}, 14, ""},
	} {
		c.dataset.Evaluator = record.Evaluator{Kind: "classification", Measures: []string{"Accuracy"}}
		got := record.Advise(&c.dataset, &c.task, measure.Shape{Examples: 40, Labels: 2}, now)
		switch {
		case c.runs == 0 && got != nil:
			t.Errorf("%s: %+v", name, got)
		case c.runs > 0 && (got == nil || got.Runs != c.runs || got.Examples != 40 || !strings.Contains(got.Detail, c.detail) ||
			!strings.HasPrefix(got.Detail, "40 examples with exact live scores: about 14 runs reveal the ground truth")):
			t.Errorf("%s: %+v", name, got)
		}
	}
}
