package server_test

import (
	"strings"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

func TestLease_RunsWaitForTheTruth(t *testing.T) {
	s := newFixture(t)
	file := inline("run.txt", "1 Q0 a 1 1.0 x\n")
	file["datasetId"] = s.dataset(byWorkers, recordtest.WithoutTruth, func(d *record.DatasetItem) { d.Truths[0].State = record.FilePending })
	id := s.submit("ada", map[string]any{"type": "upload", "files": []any{file}})[0]
	got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{
		Worker: "judge", Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_EVALUATION}})
	if err != nil || got.GetWork() != nil {
		t.Fatalf("a worker got %v, %v", got.GetWork(), err)
	}
	if r := s.run("ada", id); r.State != record.Queued || r.Attempts != 0 || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "waits for the truth") {
		t.Errorf("%s, %v", r.State, r.Diagnostics)
	}
}
