//go:build !race

package functions_test

import (
	"bytes"
	"flag"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
)

var (
	firstSeed = flag.Uint64("seed", 0, "seed of the first model of what is withheld")
	seeds     = flag.Uint64("seeds", 1, "how many models of what is withheld are tried, each with a seed of its own")
)

// TestAnswers_AreEqualWhateverIsWithheld sends requests to one server with pairs of stores. The stores differ only in data that
// the caller may not see. Status, headers and body of each answer must be equal byte for byte. That covers counts, order, ranks,
// pages, cursors, links and entity tags. The requests come from the table of operations, so a new operation is covered
// automatically.
func TestAnswers_AreEqualWhateverIsWithheld(t *testing.T) {
	s := servertest.New(t, functions.Operations()...)
	s.Now = func() time.Time { return modelTime }
	asked, answered := 0, map[int]int{}
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		m := newModel(seed)
		m.putObjects(t, s)
		requests := sampled(t, m.requests(s))
		for _, caller := range modelCallers {
			full, withheld := m.store(t, caller, false), m.store(t, caller, true)
			differing := 0
			for _, r := range requests {
				want, got := r.ask(s, full, caller), r.ask(s, withheld, caller)
				asked++
				answered[statusOf(want)]++
				if differing < 3 && (!bytes.Equal(want, got) || statusOf(want) >= http.StatusInternalServerError) {
					differing++
					t.Errorf("seed %d, %s %s %s %q as %q: with what is withheld\n%s\nwithout\n%s", seed, r.method, r.path, r.body, r.headers,
						caller, want, got)
				}
			}
		}
	}
	t.Logf("%d pairs of answers from %d seeds after %d, by status %v", asked, *seeds, *firstSeed, answered)
	for _, status := range []int{http.StatusOK, http.StatusNoContent, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest} {
		if answered[status] == 0 {
			t.Errorf("no answer has the status %d", status)
		}
	}
}

// putObjects stores the files of the model.
func (m *model) putObjects(t *testing.T, s *servertest.Server) {
	t.Helper()
	for key, content := range m.objects() {
		f := modelFile("", content)
		o := blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}
		if err := s.Files.Put(t.Context(), o, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *model) store(t *testing.T, caller string, withhold bool) store.Store {
	t.Helper()
	s := recordtest.OpenStore(t, embedded.Options{})
	b := recordtest.New(t, s)
	b.Batch(func() { b.Put(m.records(caller, withhold)...) })
	return s
}
