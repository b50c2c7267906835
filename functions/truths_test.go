package functions_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
)

// newRanking makes a dataset of retrieval with the truth file. ada is registered for its task.
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
	runDue := func() { // includes work that becomes due seconds later
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
		if _, err := p.background.DeleteAbandonedFiles(t.Context(), ""); err != nil {
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

	// An announced truth that has not been uploaded changes nothing: runs and their files stay the same, for any time.
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
	// Simulates that the dataset is deleted at the moment when the run is made.
	if err := new(records.Tx).DeleteKeys(record.DatasetKey(id)).DeleteKeys(record.TruthKey(id)).Commit(t.Context(), p.Store); err != nil {
		t.Fatal(err)
	}
	p.evaluate(s.RunIDs[0])
	if r := p.run("ada", s.RunIDs[0]); r.State != record.Failed || len(r.Diagnostics) != 1 {
		t.Errorf("%+v", r)
	}
	p.Want(http.StatusOK, nil, "ada", http.MethodGet, p.task+"/submissions/"+s.ID, nil)
	p.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, p.task+"/submissions/"+s.ID, nil)
}

// announce changes the dataset to a truth that is uploaded later. It returns the upload.
func (l *leaderboards) announce(content string) *record.Upload {
	l.t.Helper()
	l.newDataset(map[string]any{"truths": []any{servertest.Announced("truth.csv", content)}})
	return l.shown("olga").Truths[0].Upload
}

// A submission is accepted as soon as the truth is announced. It waits until the truth has been uploaded and read.
func TestSubmission_WaitsForTheTruth(t *testing.T) {
	l := newLeaderboards(t)
	const truth = "id,label\n1,a\n2,b\n"
	link := l.announce(truth)
	early := l.enter("ada", "1,a\n2,b\n")
	if r := l.run("ada", early); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "waits for the truth") {
		t.Fatalf("before the upload: %s, %v", r.State, r.Diagnostics)
	}
	l.Upload(link, []byte(truth))
	late := l.enter("bob", "1,b\n2,b\n")
	l.nextMinute() // reads the truth
	l.nextMinute() // queues the runs
	for user, id := range map[string]string{"ada": early, "bob": late} {
		l.evaluate(id)
		if r := l.run(user, id); r.State != record.Completed || r.Attempts != 1 || len(r.Diagnostics) != 0 {
			t.Errorf("the run of %s: %s, %v", user, r.State, r.Diagnostics)
		}
	}
}

func TestSubmission_WaitsForATruthNoLongerThanADay(t *testing.T) {
	l := newLeaderboards(t)
	l.announce("id,label\n1,a\n")
	id := l.enter("ada", "1,a\n")
	l.advance(record.UploadTime)
	l.nextMinute()
	l.evaluate(id)
	if r := l.run("ada", id); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "no truth") {
		t.Errorf("%s, %v", r.State, r.Diagnostics)
	}
}

// Submissions do not wait for a refused truth.
func TestSubmission_DoesNotWaitForARefusedTruth(t *testing.T) {
	l := newLeaderboards(t)
	const truth = "id,label\n1,a\n1,b\n"
	l.Upload(l.announce(truth), []byte(truth))
	l.nextMinute()
	body := servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", "id,label\n1,a\n"))
	l.Want(http.StatusConflict, nil, "ada", http.MethodPost, l.task+"/submissions", body)
}

func TestDataset_TrainingTruthCanBePublic(t *testing.T) {
	const labels, others = "id,label\n1,a\n", "id,label\n1,a\n2,b\n"
	p := newPlatform(t, nil)
	withTruth := func(split string, public bool, content string) map[string]any {
		return map[string]any{"split": split, "truthsPublic": public, "truths": []any{servertest.Inline("labels.csv", content)}}
	}
	for _, split := range []string{"validation", "test"} {
		body := newDatasetBody(servertest.ID(p.task))
		maps.Copy(body, withTruth(split, true, labels))
		p.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/datasets", body)
	}
	path := p.newDataset(withTruth("training", false, labels))
	truths := func(user string) []record.File { return servertest.Get[record.Dataset](p.Server, user, path).Truths }
	evaluate := map[string]any{
		"runs":  []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": labels}}}},
		"truth": map[string]any{"datasetId": servertest.ID(path)}, "measures": []string{"Accuracy"},
	}
	const tool = "/v1/tools/evaluator"
	if shown := truths(""); shown != nil {
		t.Fatalf("a hidden truth is shown: %+v", shown)
	}
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	p.change("olga", path, map[string]any{"truthsPublic": true})
	for _, user := range []string{"", "tom", "olga"} {
		shown := truths(user)
		if len(shown) != 1 || shown[0].URL == "" {
			t.Fatalf("%q sees %+v", user, shown)
		}
		if a := p.Want(http.StatusOK, nil, "", http.MethodGet, shown[0].URL, nil); string(a.Body) != labels {
			t.Errorf("%q gets %s", user, a.Body)
		}
	}
	p.Want(http.StatusOK, nil, "tom", http.MethodPost, tool, evaluate)
	if e := p.auditEntries("olga", p.organizer+"/audit-entries?filter[action]=dataset.changed"); len(e) != 1 ||
		!strings.Contains(string(e[0].Before), `"truthsPublic":false`) || !strings.Contains(string(e[0].After), `"truthsPublic":true`) {
		t.Errorf("%+v", e)
	}
	// Public files cannot be hidden again, and therefore cannot become the truth of a test split.
	for _, patch := range []map[string]any{{"truthsPublic": false}, {"split": "test"}, {"split": "test", "truthsPublic": false}} {
		p.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, patch)
	}
	// While a new truth is pending, the truth in use was never public.
	hidden := p.newDataset(withTruth("training", false, others))
	p.change("olga", hidden, map[string]any{"truthsPublic": true, "truths": []any{servertest.Announced("labels.csv", labels)}})
	evaluate["truth"] = map[string]any{"datasetId": servertest.ID(hidden)}
	evaluate["runs"] = []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": others}}}}
	p.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	p.Want(http.StatusOK, nil, "olga", http.MethodPost, tool, evaluate)

	p.change("olga", path, withTruth("test", false, others))
	if shown := truths("tom"); shown != nil {
		t.Errorf("the truth of a test is shown: %+v", shown)
	}
}
