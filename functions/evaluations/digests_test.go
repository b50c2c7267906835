package evaluations_test

import (
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
)

// TestDigests_PlainIsForOrganizersAlone looks wherever evaluations are shown: only organizers and administrators read the plain digest
// of the truth, and of a private submission only they and its owner that of the run, which tells the team by the same file elsewhere.
func TestDigests_PlainIsForOrganizersAlone(t *testing.T) {
	s := serve(t)
	plain := strings.Repeat("1", 64)
	added := s.dataset.Run("ada", recordtest.Published, func(r *recordtest.Run) {
		r.Evaluation.Digests = record.Digests{Run: "r", Truth: record.NewTruthSecret(s.dataset.ID, s.Now()).Digest(plain), PlainTruth: plain}
	}).Evaluation
	for _, user := range []string{"", "bob", "reg", "ada", "olga", "root"} {
		want := added.Digests
		if user != "olga" && user != "root" {
			want.PlainTruth = ""
			if user != "ada" {
				want.Run = ""
			}
		}
		check := func(path string, e record.Evaluation) {
			t.Helper()
			if e.Digests != want {
				t.Errorf("%s as %q: %+v, want %+v", path, user, e.Digests, want)
			}
		}
		for _, path := range []string{
			"/v1/evaluations", "/v1/tasks/" + s.dataset.TaskID + "/evaluations", s.board("sort=rank"), s.board("sort=AP"), s.board("best=true"),
			"/v1/evaluations?sort=rank&filter[datasetId]=" + s.dataset.ID,
		} {
			for _, e := range s.get(user, path) {
				check(path, e)
			}
		}
		path := "/v1/evaluations/" + added.ID
		check(path, servertest.Get[record.Evaluation](s.Server, user, path))
	}
}
