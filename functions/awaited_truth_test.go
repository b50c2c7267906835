package functions_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"assay/shared/record"
)

// announce announces a truth, which the organizers upload later.
func (b *boards) announce(content string) *record.Upload {
	b.t.Helper()
	sum := sha256.Sum256([]byte(content))
	body := newDatasetBody(b.task[len("/v1/tasks/"):])
	body["truths"] = []any{map[string]any{"name": "truth.csv", "size": len(content), "sha256": hex.EncodeToString(sum[:])}}
	var d record.Dataset
	b.Want(http.StatusCreated, &d, "olga", http.MethodPost, "/v1/datasets", body)
	b.dataset = d.ID
	return d.Truths[0].Upload
}

func (b *boards) state(user, runID string) (r record.Run) {
	b.t.Helper()
	b.Want(http.StatusOK, &r, user, http.MethodGet, "/v1/runs/"+runID, nil)
	return r
}

// A submission is taken as soon as the truth is announced, and waits until it was uploaded and read.
func TestSubmission_WaitsForTheTruth(t *testing.T) {
	b := newBoards(t)
	const truth = "id,label\n1,a\n2,b\n"
	link := b.announce(truth)
	early := b.submit("ada", "1,a\n2,b\n")
	if r := b.state("ada", early); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 1 || !strings.Contains(r.Diagnostics[0].Message, "waits for the truth") {
		t.Fatalf("before the upload: %s, %v", r.State, r.Diagnostics)
	}
	b.Upload(link, []byte(truth))
	late := b.submit("bob", "1,b\n2,b\n")
	b.due() // the truth is read
	b.due() // the runs are queued
	for user, id := range map[string]string{"ada": early, "bob": late} {
		b.evaluate(id)
		if r := b.state(user, id); r.State != record.Completed || r.Attempts != 1 || len(r.Diagnostics) != 0 {
			t.Errorf("the run of %s: %s, %v", user, r.State, r.Diagnostics)
		}
	}
}

func TestSubmission_WaitsForATruthNoLongerThanADay(t *testing.T) {
	b := newBoards(t)
	b.announce("id,label\n1,a\n")
	id := b.submit("ada", "1,a\n")
	b.ahead.Add(int64(record.UploadTime))
	b.due()
	b.evaluate(id)
	if r := b.state("ada", id); r.State != record.Failed || !strings.Contains(r.Diagnostics[0].Message, "no truth") {
		t.Errorf("%s, %v", r.State, r.Diagnostics)
	}
}

// A truth that was refused is none that could be waited for.
func TestSubmission_DoesNotWaitForARefusedTruth(t *testing.T) {
	b := newBoards(t)
	const truth = "id,label\n1,a\n1,b\n"
	b.Upload(b.announce(truth), []byte(truth))
	b.due()
	file := inlineFile("run.csv", "id,label\n1,a\n")
	file["datasetId"] = b.dataset
	b.Want(http.StatusConflict, nil, "ada", http.MethodPost, b.task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
}
