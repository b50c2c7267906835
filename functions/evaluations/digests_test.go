package evaluations_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/evaluations"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/store"
	"assay/shared/table"
)

// TestThePlainDigestOfATruthIsTheOrganizers looks at evaluations from before digests were keyed and at a new one, wherever
// evaluations are shown: nobody else ever reads the plain digest, nor anything that it changes without the secret.
func TestThePlainDigestOfATruthIsTheOrganizers(t *testing.T) {
	s := newScene(t, servertest.New(t, evaluations.Operations...), false)
	secret := record.NewTruthSecret(s.dataset.ID, s.Now())
	first, second := strings.Repeat("1", 64), strings.Repeat("2", 64)
	add := func(d record.Digests) *record.EvaluationItem {
		e := s.add(result{user: "ada", value: 0.5})
		e.Digests = d // before it is stored
		s.pending = new(table.Tx)
		s.Put(e)
		return e
	}
	s.flush()
	old, other := add(record.Digests{Run: "r", Truth: first}), add(record.Digests{Run: "r", Truth: second})
	current := add(record.Digests{Run: "r", Truth: secret.Digest(first), PlainTruth: first})
	boards := []string{
		"/v1/evaluations", "/v1/tasks/" + s.task.ID + "/evaluations", s.board("sort=rank"), s.board("sort=AP"), s.board("best=true"),
		"/v1/evaluations?sort=rank&filter[datasetId]=" + s.dataset.ID,
	}
	look := func(wantOld, wantOther string) {
		t.Helper()
		want := map[string]string{old.ID: wantOld, other.ID: wantOther, current.ID: secret.Digest(first)}
		for _, user := range []string{"", "bob", "reg", "ada", "olga", "root"} {
			organizes := user == "olga" || user == "root"
			check := func(path string, e record.Evaluation) {
				t.Helper()
				plain := map[string]string{old.ID: first, other.ID: second, current.ID: first}[e.ID]
				if !organizes {
					plain = ""
				}
				if e.Digests.Truth != want[e.ID] || e.Digests.PlainTruth != plain {
					t.Errorf("%s as %q: %+v, want %q and %q", path, user, e.Digests, want[e.ID], plain)
				}
			}
			for _, path := range boards {
				for _, e := range s.get(user, path).Data {
					check(path, e)
				}
			}
			for _, id := range []string{old.ID, other.ID, current.ID} {
				var e record.Evaluation
				s.Want(http.StatusOK, &e, user, http.MethodGet, "/v1/evaluations/"+id, nil)
				check(id, e)
			}
		}
	}
	look("", "")
	s.Put(secret)
	look(secret.Digest(first), secret.Digest(second))
}

// TestKeyingADigestReadsTheSecretsOnce: a page reads all secrets that it needs in one call, and none when all digests are keyed.
func TestKeyingADigestReadsTheSecretsOnce(t *testing.T) {
	s := newScene(t, servertest.New(t, evaluations.Operations...), false)
	s.flush()
	calls := &secretReads{Store: s.Store}
	s.Store = calls
	for i, truth := range []record.Digests{{Truth: "k", PlainTruth: "p"}, {Truth: "p"}, {Truth: "q"}} {
		for range 2 {
			s.dataset = s.newDataset("nDCG@10", "AP")
			e := s.add(result{user: "ada", value: 0.5})
			e.Digests = truth
			s.pending = new(table.Tx)
			s.Put(s.dataset, e)
		}
		calls.n = 0
		s.get("", "/v1/evaluations")
		if want := min(i, 1); calls.n != want {
			t.Errorf("%d reads of secrets, want %d", calls.n, want)
		}
	}
}

// secretReads counts the calls that read secrets.
type secretReads struct {
	store.Store
	n int
}

// Get implements store.Store.
func (s *secretReads) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if slices.ContainsFunc(keys, func(k store.Key) bool { return k.Sort == "SECRET" }) {
		s.n++
	}
	return s.Store.Get(ctx, c, keys...)
}
