package record_test

import (
	"reflect"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
)

// columnsOf returns the columns as text: keys in order, with an arrow where lower values are better.
func columnsOf(columns []record.Column) string {
	return strings.Join(lists.Map(columns, func(c record.Column) string {
		if c.Lower() {
			return c.Key + "↓"
		}
		return c.Key
	}), " ")
}

func draftOf(kind string, measures []string, columns ...record.Column) *record.DatasetDraft {
	return &record.DatasetDraft{Evaluator: record.Evaluator{Kind: kind, Measures: measures}, Columns: columns}
}

func TestColumns_FollowTheMeasures(t *testing.T) {
	cost := record.Column{Key: "Cost", LowerIsBetter: new(true)}
	for name, c := range map[string]struct {
		draft *record.DatasetDraft
		want  string
	}{
		"none":                 {draftOf("regression", []string{"R2", "MSE"}), "R2 MSE↓"},
		"another order":        {draftOf("regression", []string{"R2", "MSE"}, record.Column{Key: "MSE"}), "MSE↓ R2"},
		"another name":         {draftOf("retrieval", []string{"MAP", "RR"}, record.Column{Key: "recip_rank"}), "RR AP"},
		"of a worker":          {draftOf(record.EvaluatorWorker, []string{"Cost", "MSE"}, cost), "Cost↓ MSE"},
		"of a worker, without": {draftOf(record.EvaluatorWorker, []string{"Cost", "MSE"}), "Cost MSE"},
	} {
		c.draft.UseCanonicalNames()
		if columnsOf(c.draft.ShownColumns()) != c.want || c.draft.Primary().Key != strings.Trim(strings.Fields(c.want)[0], "↓") {
			t.Errorf("%s: %s, want %s", name, columnsOf(c.draft.ShownColumns()), c.want)
		}
	}
	d := draftOf("regression", []string{"R2", "MSE"}, record.Column{Key: "R2"}, record.Column{Key: "MSE"})
	d.UseCanonicalNames()
	if d.Columns != nil {
		t.Errorf("columns that say nothing else than the measures stay: %+v", d.Columns)
	}
}

// TestKeepColumns_FollowsAChangeOfMeasures changes only the measures of a dataset whose columns the client sends back as it got them.
func TestKeepColumns_FollowsAChangeOfMeasures(t *testing.T) {
	titled := record.Column{Key: "MSE", Title: "Error", LowerIsBetter: new(true)}
	for name, c := range map[string]struct {
		old      *record.DatasetDraft
		measures []string
		want     string
	}{
		"derived":       {draftOf("regression", []string{"R2", "MSE"}), []string{"MAE", "R2"}, "MAE↓ R2"},
		"named":         {draftOf("regression", []string{"R2", "MSE"}, titled), []string{"R2", "MSE", "MAE"}, "MSE↓ R2 MAE↓"},
		"without it":    {draftOf("regression", []string{"R2", "MSE"}, titled), []string{"R2", "MAE"}, "R2 MAE↓"},
		"the same ones": {draftOf("regression", []string{"R2", "MSE"}, titled), []string{"R2", "MSE"}, "MSE↓ R2"},
	} {
		d := draftOf("regression", c.measures, c.old.ShownColumns()...)
		d.KeepColumns(c.old)
		d.UseCanonicalNames()
		if columnsOf(d.ShownColumns()) != c.want || len(d.CheckColumns()) > 0 {
			t.Errorf("%s: %s and %v, want %s", name, columnsOf(d.ShownColumns()), d.CheckColumns(), c.want)
		}
	}
	old := draftOf("regression", []string{"R2", "MSE"}, titled)
	d := draftOf("regression", []string{"R2", "MSE"}, record.Column{Key: "R2"})
	d.KeepColumns(old)
	if !reflect.DeepEqual(d.Columns, []record.Column{{Key: "R2"}}) {
		t.Errorf("columns that the change names are %+v", d.Columns)
	}
}

// TestBoardColumns_OfAnEarlierEvaluator shows results of an evaluator that has one measure in common with the dataset's.
func TestBoardColumns_OfAnEarlierEvaluator(t *testing.T) {
	d := new(record.DatasetItem)
	d.DatasetDraft = *draftOf("regression", []string{"MAE", "R2"}, record.Column{Key: "R2", Title: "new"})
	d.BoardTruth = &record.BoardTruth{Evaluator: record.Evaluator{Kind: "regression", Measures: []string{"MSE", "R2"}},
		Columns: []record.Column{{Key: "MSE", Title: "error", LowerIsBetter: new(true)}, {Key: "R2", Title: "old"}}}
	got := d.BoardColumns()
	if columnsOf(got) != "R2 MSE↓" || got[0].Title != "new" || got[1].Title != "error" || !d.LowerIsBetter("MSE") || d.LowerIsBetter("R2") {
		t.Errorf("%+v", got)
	}
}
