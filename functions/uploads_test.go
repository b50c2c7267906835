package functions_test

import (
	"net/http"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
)

// newRanking makes a dataset of retrieval with the truth file, for which ada is registered.
func newRanking(t *testing.T, truth servertest.File) *platform {
	t.Helper()
	p := newPlatform(t, nil)
	p.register("ada", nil)
	p.newDataset(map[string]any{
		"split": "validation", "truths": []any{truth}, "runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"RR"}},
	})
	return p
}

func TestUploads_AreReevaluatedWhenTheTruthChanges(t *testing.T) {
	const (
		first  = "q1 0 d1 1\nq1 0 d2 0\n"
		second = "q1 0 d1 0\nq1 0 d2 1\n"
		run    = "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\n"
	)
	p := newRanking(t, servertest.Announced("qrels.txt", first))
	uploadTruth := func(content string) {
		t.Helper()
		d := servertest.Get[record.Dataset](p.Server, "olga", p.dataset)
		p.Upload(d.Truths[0].Upload, []byte(content))
	}
	runDue := func() { // also what is due once more, seconds later
		t.Helper()
		for range 3 {
			p.runDue()
			p.advance(10 * time.Second)
		}
	}
	evaluated := func(runID string, version int64, value float64) {
		t.Helper()
		p.evaluate(runID)
		r := p.run("ada", runID)
		if r.State != record.Completed || r.Attempts != 1 {
			t.Fatalf("%+v", r)
		}
		if e := servertest.Get[record.Evaluation](p.Server, "ada", "/v1/evaluations/"+r.EvaluationID); e.TruthVersion != version ||
			*e.Measures["RR"] != value {
			t.Errorf("%+v", e)
		}
	}
	clean := func(want int) {
		t.Helper()
		if err := p.evaluator.DeleteAbandonedFiles(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := p.FileCount(); left != want {
			t.Fatalf("%d files are left, want %d", left, want)
		}
	}
	uploadTruth(first)
	runDue()
	one := p.submit("ada", servertest.Upload(servertest.ID(p.dataset), servertest.Announced("run.txt", run)))
	p.Upload(one.Files[0].Upload, []byte(run))
	evaluated(one.RunIDs[0], 1, 1)

	// A truth that is announced, but has not come, changes nothing: runs and their files stay as they are, however late.
	p.change("olga", p.dataset, map[string]any{"truths": []any{servertest.Announced("new.txt", second)}})
	runDue()
	p.advance(72 * time.Hour)
	clean(2) // the truth in use and a run
	two := p.submit("ada", servertest.Upload(servertest.ID(p.dataset), servertest.Inline("run.txt", run)))
	evaluated(two.RunIDs[0], 1, 1)

	uploadTruth(second)
	p.advance(72 * time.Hour)
	clean(4) // both truths and both runs
	runDue()
	evaluated(one.RunIDs[0], 2, 0.5)
	evaluated(two.RunIDs[0], 2, 0.5)
	clean(3) // the new truth and both runs
}

func TestRun_FailsWithoutItsDataset(t *testing.T) {
	p := newRanking(t, servertest.Inline("qrels.txt", "q1 0 d1 1\n"))
	id := servertest.ID(p.dataset)
	s := p.submit("ada", servertest.Upload(id, servertest.Inline("run.txt", "q1 Q0 d1 1 2.0 tag\n")))
	// As when the dataset is deleted in the same instant as the run is made.
	if err := new(records.Tx).DeleteKey(record.DatasetKey(id)).DeleteKey(record.TruthKey(id)).Commit(t.Context(), p.Store); err != nil {
		t.Fatal(err)
	}
	p.evaluate(s.RunIDs[0])
	if r := p.run("ada", s.RunIDs[0]); r.State != record.Failed || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
	p.Want(http.StatusOK, nil, "ada", http.MethodGet, p.task+"/submissions/"+s.ID, nil)
	p.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, p.task+"/submissions/"+s.ID, nil)
}
