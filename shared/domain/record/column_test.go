package record_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/access"
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
	hidden := draftOf("regression", []string{"R2", "MSE"}, record.Column{Key: "R2", From: record.FromClose})
	for measures, want := range map[string]string{"MAE": "MAE close", "MSE": "MSE organizers", "MAE MSE": "MSE organizers MAE close"} {
		d := draftOf("regression", strings.Fields(measures), hidden.ShownColumns()...)
		d.KeepColumns(hidden)
		d.UseCanonicalNames()
		var got []string
		for _, c := range d.ShownColumns() {
			got = append(got, c.Key, string(c.From)+string(c.Audience))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with %s in place of the columns' measures: %v, want %s", measures, got, want)
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

// TestMeasuresWithoutAColumn_AreForOrganizers shows an evaluation with a measure that the dataset no longer has. The measure may have had a
// column for organizers.
func TestMeasuresWithoutAColumn_AreForOrganizers(t *testing.T) {
	e := &record.EvaluationItem{Measured: []string{"R2", "MSE"}}
	e.Measures = map[string]*float64{"R2": new(0.5), "MSE": new(0.25)}
	e.Access.Published = true
	for name, columns := range map[string][]record.Column{"without columns": nil, "with a column": {{Key: "R2", Title: "titled"}}} {
		d := new(record.DatasetItem)
		d.DatasetDraft = *draftOf("regression", []string{"R2"}, columns...)
		for roles, want := range map[access.Role]string{access.Anyone: "R2", access.Anyone | access.Owner: "R2", access.Organizer: "R2 MSE"} {
			v := e.For(d.ValueRules(nil, nil).For(e.Access, roles, time.Now()))
			if got := strings.Join(v.Columns, " "); got != want || len(v.Measures) != len(v.Columns) {
				t.Errorf("%s, with roles %v: columns %s and values of %v, want %s", name, roles, got, slices.Sorted(maps.Keys(v.Measures)), want)
			}
		}
	}
}

// TestShow_KeepsColumnsOfAnEvaluatorInBetween shows the results of a second evaluator after the dataset has changed to a third one.
func TestShow_KeepsColumnsOfAnEvaluatorInBetween(t *testing.T) {
	evaluator := func(name string) record.Evaluator {
		return record.Evaluator{Kind: "regression", Measures: []string{name}}
	}
	d := &record.DatasetItem{BoardTruth: &record.BoardTruth{TruthVersion: 1, Evaluator: evaluator("MAE")}}
	d.Evaluator, d.TruthVersion = evaluator("MSE"), 2
	d.BoardTruth.Columns = []record.Column{{Key: "MAE"}}
	d.Columns = []record.Column{{Key: "MSE", Audience: record.ForTeam}}
	board := d.KeptBoard()
	d.BoardTruth = &board
	d.Columns = nil
	d.Evaluator = evaluator("R2")
	if got := columnsOf(d.BoardColumns()); got != "MAE↓" {
		t.Errorf("before: %s", got)
	}
	d.Show(&record.TruthVersion{Number: 2, Evaluator: evaluator("MSE")})
	if got := d.BoardColumns(); columnsOf(got) != "MSE↓" || got[0].Audience != record.ForTeam {
		t.Errorf("after: %+v", got)
	}
	d.BoardTruth.Evaluator = evaluator("MAE")
	if got := d.BoardColumns(); columnsOf(got) != "MAE↓" || got[0].Audience != record.ForOrganizers {
		t.Errorf("without a column: %+v", got)
	}
}

// TestSight_HidesWhatANewEvaluatorComputes: before leaderboards show results of a new evaluator, its hidden measures already keep teams
// from diagnostics and logs that depend on the ground truth.
func TestSight_HidesWhatANewEvaluatorComputes(t *testing.T) {
	d := new(record.DatasetItem)
	d.DatasetDraft = *draftOf("regression", []string{"MSE"}, record.Column{Key: "MSE", Audience: record.ForOrganizers})
	owner := access.Anyone | access.User | access.Owner
	for _, board := range []string{"R2", ""} {
		d.BoardTruth = nil
		if board != "" {
			d.BoardTruth = &record.BoardTruth{Evaluator: record.Evaluator{Kind: "regression", Measures: []string{board}},
				Columns: []record.Column{{Key: board}}}
		}
		sight := d.ValueRules(nil, nil).For(record.AccessAttributes{}, owner, time.Now())
		if sight.All() || sight.Sees("R2") != (board == "R2") {
			t.Errorf("with a board of %q, the team sees all %t and R2 %t", board, sight.All(), sight.Sees("R2"))
		}
	}
}
