package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/grpc/assayv1"
	"assay/shared/record"
)

// A worker that names no kinds of work may build without a sandbox, so it gets no repository.
func TestLease_RepositoriesNeedWorkersThatNameThem(t *testing.T) {
	s := newFixture(t)
	s.repository(s.dataset(inPool, withBuilds))
	info := func() []string {
		t.Helper()
		var info struct{ Builds []string }
		s.Want(http.StatusOK, &info, "", http.MethodGet, "/info", nil)
		return info.Builds
	}
	none, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{Worker: "old", Pools: []string{"gpu"}})
	if err != nil || none.GetWork() != nil {
		t.Errorf("a worker that names no kinds got %v, %v", none.GetWork(), err)
	}
	if of := info(); of == nil || len(of) > 0 {
		t.Errorf("before a builder asks, repositories are built in %q", of)
	}
	for i, builds := range []bool{false, true, true} { // the third changes nothing
		if of := info(); i < 2 && len(of) > 0 {
			t.Errorf("before a builder asks, repositories are built in %q", of)
		}
		got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{
			Worker: "new", Pools: []string{"gpu", "default"}, Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_REPOSITORY}, Builds: builds,
		})
		if err != nil {
			t.Fatal(err)
		}
		if w := got.GetWork(); w != nil && (w.GetKind() != assayv1.WorkKind_WORK_KIND_REPOSITORY || w.GetRepositoryUrl() == "") {
			t.Errorf("work %v", w)
		}
	}
	if of := info(); !slices.Equal(of, []string{"default", "gpu"}) {
		t.Errorf("repositories are built in %q", of)
	}
}

func TestLease_FailsRepositoriesThatAreNoLongerBuilt(t *testing.T) {
	s := newFixture(t)
	d := s.dataset(withBuilds)
	id := s.repository(d)
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, "/v1/datasets/"+d, map[string]any{"builds": false})
	got, err := s.work.Lease(s.as("robot"), &assayv1.LeaseRequest{
		Worker: "builder", Kinds: []assayv1.WorkKind{assayv1.WorkKind_WORK_KIND_REPOSITORY}})
	if err != nil || got.GetWork() != nil {
		t.Errorf("a builder got %v, %v", got.GetWork(), err)
	}
	if r := s.run("ada", id); r.State != record.Failed || len(r.Diagnostics) != 1 ||
		!strings.Contains(r.Diagnostics[0].Message, "stopped having repositories built") {
		t.Errorf("%+v", r)
	}
}
