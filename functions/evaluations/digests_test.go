package evaluations_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/evaluations"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
)

// TestDigests_PlainIsForOrganizersAlone looks wherever evaluations are shown: only organizers and administrators read the
// plain digest.
func TestDigests_PlainIsForOrganizersAlone(t *testing.T) {
	s := newScene(t, servertest.New(t, evaluations.Operations...), false)
	plain := strings.Repeat("1", 64)
	s.flush()
	added := s.add(result{user: "ada", value: 0.5})
	added.Digests = record.Digests{Run: "r", Truth: record.NewTruthSecret(s.dataset.ID, s.Now()).Digest(plain), PlainTruth: plain} // before it is stored
	s.pending = new(records.Tx)
	s.Put(added)
	for _, user := range []string{"", "bob", "reg", "ada", "olga", "root"} {
		want := added.Digests
		if user != "olga" && user != "root" {
			want.PlainTruth = ""
		}
		check := func(path string, e record.Evaluation) {
			t.Helper()
			if e.Digests != want {
				t.Errorf("%s as %q: %+v, want %+v", path, user, e.Digests, want)
			}
		}
		for _, path := range []string{
			"/v1/evaluations", "/v1/tasks/" + s.task.ID + "/evaluations", s.board("sort=rank"), s.board("sort=AP"), s.board("best=true"),
			"/v1/evaluations?sort=rank&filter[datasetId]=" + s.dataset.ID,
		} {
			for _, e := range s.get(user, path).Data {
				check(path, e)
			}
		}
		var e record.Evaluation
		path := "/v1/evaluations/" + added.ID
		s.Want(http.StatusOK, &e, user, http.MethodGet, path, nil)
		check(path, e)
	}
}
