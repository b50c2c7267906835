package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

// announce has a dataset whose truth the organizers upload later, and returns where to.
func (l *leaderboards) announce(content string) *record.Upload {
	l.t.Helper()
	l.newDataset(map[string]any{"truths": []any{servertest.Announced("truth.csv", content)}})
	return l.shown("olga").Truths[0].Upload
}

// A submission is taken as soon as the truth is announced, and waits until it was uploaded and read.
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
	l.nextMinute() // the truth is read
	l.nextMinute() // the runs are queued
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

// A truth that was refused is none that could be waited for.
func TestSubmission_DoesNotWaitForARefusedTruth(t *testing.T) {
	l := newLeaderboards(t)
	const truth = "id,label\n1,a\n1,b\n"
	l.Upload(l.announce(truth), []byte(truth))
	l.nextMinute()
	body := servertest.Upload(servertest.ID(l.dataset), servertest.Inline("run.csv", "id,label\n1,a\n"))
	l.Want(http.StatusConflict, nil, "ada", http.MethodPost, l.task+"/submissions", body)
}
