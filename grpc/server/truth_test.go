package server_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/record"
)

// A run that an organizer's own evaluator is to evaluate waits for the truth, as those of the built-in evaluators do.
func TestLease_RunsWaitForTheTruth(t *testing.T) {
	s := newScene(t)
	d := s.dataset(map[string]any{"evaluator": judge, "truths": []any{map[string]any{"name": "qrels", "size": 10, "sha256": strings.Repeat("a", 64)}}})
	file := inline("run.txt", "1 Q0 a 1 1.0 x\n")
	file["datasetId"] = d
	var made record.Submission
	s.Want(http.StatusCreated, &made, "ada", http.MethodPost, "/v1/tasks/"+s.task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
	got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: "judge", Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_EVALUATION}})
	if err != nil || got.GetWork() != nil {
		t.Fatalf("a worker got %v, %v", got.GetWork(), err)
	}
	if r := s.run("ada", made.RunIDs[0]); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 1 || !strings.Contains(r.Diagnostics[0].Message, "waits for the truth") {
		t.Errorf("%s, %v", r.State, r.Diagnostics)
	}
}
