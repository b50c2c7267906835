package server_test

import (
	"net/http"
	"slices"
	"testing"

	"assay/grpc/assayv1"
)

// A worker that names no kinds of work may be one that builds without a sandbox: it gets no repository.
func TestRepositoriesGoToWorkersThatNameThem(t *testing.T) {
	s := newScene(t)
	d := s.dataset(map[string]any{"pool": "gpu", "builds": true})
	s.create("ada", "/v1/tasks/"+s.task+"/submissions", map[string]any{
		"type": "repository", "url": "https://git.example.org/lab/ranker.git", "datasetIds": []string{d},
	})
	builds := func() []string {
		t.Helper()
		var info struct{ Builds []string }
		s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
		return info.Builds
	}
	none, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: "old", Pools: []string{"gpu"}})
	if err != nil || none.GetWork() != nil {
		t.Errorf("a worker that names no kinds got %v, %v", none.GetWork(), err)
	}
	if of := builds(); of == nil || len(of) > 0 {
		t.Errorf("before a builder asks, repositories are built in %q", of)
	}
	for range 2 { // the second is not noted again
		got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: "new", Pools: []string{"gpu", "default"}, Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_REPOSITORY}})
		if err != nil {
			t.Fatal(err)
		}
		if w := got.GetWork(); w != nil && (w.GetKind() != assayv1.WorkKind_WORK_KIND_REPOSITORY || w.GetRepositoryUrl() == "") {
			t.Errorf("work %v", w)
		}
	}
	if of := builds(); !slices.Equal(of, []string{"default", "gpu"}) {
		t.Errorf("repositories are built in %q", of)
	}
}
