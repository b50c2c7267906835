package evaluations_test

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"assay/functions/evaluations"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/blob"
)

func TestList_FiltersWhatTheCallerMaySee(t *testing.T) {
	s := serve(t)
	a := s.add(result{user: "ada", value: 0.3})
	b := s.add(result{user: "dan", value: 0.4, anonymous: true})
	h := s.add(result{user: "eve", value: 0.4, hidden: true})
	x := s.add(result{user: "eve", value: 0.4, blinded: true})
	for _, tt := range []struct {
		user, query string
		want        []*record.EvaluationItem
	}{
		{"", "", []*record.EvaluationItem{b, a}},
		{"eve", "", []*record.EvaluationItem{h, b, a}},
		{"olga", "", []*record.EvaluationItem{x, h, b, a}},
		{"root", "", []*record.EvaluationItem{x, h, b, a}},
		{"", "filter[userId]=" + recordtest.UserID("ada"), []*record.EvaluationItem{a}},
		{"", "filter[userId]=" + recordtest.UserID("dan"), nil},
		{"reg", "filter[userId]=" + recordtest.UserID("dan"), nil},
		{"dan", "filter[userId]=" + recordtest.UserID("dan"), []*record.EvaluationItem{b}},
		{"olga", "filter[userId]=" + recordtest.UserID("dan"), []*record.EvaluationItem{b}},
		{"olga", "filter[userId]=" + recordtest.UserID("eve"), []*record.EvaluationItem{x, h}},
		{"root", "filter[userId]=" + recordtest.UserID("eve"), []*record.EvaluationItem{x, h}},
		{"eve", "filter[userId]=" + recordtest.UserID("eve"), []*record.EvaluationItem{h}},
		{"", "filter[runId]=" + a.RunID + "," + h.RunID, []*record.EvaluationItem{a}},
		{"eve", "filter[runId]=" + a.RunID + "," + h.RunID, []*record.EvaluationItem{h, a}},
		{"", "filter[datasetId]=" + s.dataset.ID, []*record.EvaluationItem{b, a}},
	} {
		for _, path := range []string{"/v1/evaluations?filter[taskId]=" + s.dataset.TaskID + "&" + tt.query, "/v1/evaluations?" + tt.query,
			s.board(tt.query)} {
			got := s.get(tt.user, path)
			if !slices.EqualFunc(got, tt.want, func(e record.Evaluation, want *record.EvaluationItem) bool { return e.ID == want.ID }) {
				t.Errorf("%s as %q: %d evaluations %v, want %d", path, tt.user, len(got), ranks(got), len(tt.want))
			}
		}
	}
}

func TestShow_HasValuesPerTopic(t *testing.T) {
	s := serve(t)
	small := s.add(result{user: "ada", value: 0.3, anonymous: true})
	hidden := s.add(result{user: "ada", value: 0.3, blinded: true})
	s.builder.Replace(&record.Topics{Meta: small.Meta, PerTopic: map[string]map[string]float64{"q1": {"AP": 0.25}}})
	var e record.Evaluation
	s.Want(http.StatusOK, &e, "", http.MethodGet, "/v1/evaluations/"+small.ID, nil)
	if e.PerTopic["q1"]["AP"] != 0.25 || e.UserID != "" || e.Team != "alias of ada" {
		t.Errorf("%+v", e)
	}
	for user, status := range map[string]int{"": 404, "ada": 404, "reg": 404, "olga": 200, "root": 200} {
		s.Want(status, nil, user, http.MethodGet, "/v1/evaluations/"+hidden.ID, nil)
	}
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, "/v1/evaluations/x", nil)
}

// TestShow_HidesValuesThatTellTheTruth stores values by example and classes of labels, in the record and in a file.
func TestShow_HidesValuesThatTellTheTruth(t *testing.T) {
	s := serve(t)
	s.builder.Task(recordtest.OwnedBy(s.builder.Organizer("rival")))
	s.dataset.Task.Register("ada", recordtest.With("mate"))
	e := s.add(result{user: "ada", value: 0.3})
	topics := &record.Topics{Meta: e.Meta, PerTopic: map[string]map[string]float64{"example": {"AP": 1}},
		Classes: &measure.Classes{Labels: []measure.Class{{Label: "spam", Support: 3}}, Matrix: [][]int{{3}}}}
	content := `{"example":{"AP":1}}`
	o := blob.Object{Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), MediaType: "application/json"}
	o.Key = record.ObjectKey(record.HolderEvaluations, e.ID, o.SHA256)
	if err := s.Files.Put(t.Context(), o, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"", o.Key} {
		topics.ObjectKey = key
		if key != "" {
			topics.PerTopic = nil
		}
		s.builder.Replace(topics)
		// Values of unknown kinds may reveal the truth. Organizers choose the values that their worker's image reports.
		for kind, shown := range map[string]bool{"classification": false, "probabilities": false, "regression": false, "clustering": false,
			"later": false, "retrieval": true, "text": true, record.EvaluatorWorker: true} {
			e.Evaluator.Kind = kind
			s.builder.Replace(e)
			for user, organizes := range map[string]bool{"": false, "stranger": false, "reg": false, "ada": false, "mate": false, "rival": false,
				"robot": false, "olga": true, "root": true} {
				var got record.Evaluation
				answer := s.Want(http.StatusOK, &got, user, http.MethodGet, "/v1/evaluations/"+e.ID, nil)
				if may := shown || organizes; (got.PerTopic["example"]["AP"] == 1) != may || (got.Classes != nil) != may ||
					!may && (strings.Contains(string(answer.Body), "example") || strings.Contains(string(answer.Body), "spam")) {
					t.Errorf("%s: %q is shown %s", kind, user, answer.Body)
				}
				list := s.Want(http.StatusOK, nil, user, http.MethodGet, s.board("sort=rank"), nil)
				if strings.Contains(string(list.Body), "spam") || strings.Contains(string(list.Body), "example\"") {
					t.Errorf("%s: a list shows %q %s", kind, user, list.Body)
				}
			}
		}
	}
}

func TestCSV_HasMeasuresInTheDatasetsOrder(t *testing.T) {
	s := serve(t)
	e := s.add(result{user: "ada", value: 0.3, ap: 0.125})
	s.add(result{user: "dan", value: 0.2, ap: -1, anonymous: true})
	s.add(result{user: "eve", value: -1})
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, s.board("sort=rank&fields=rank"), nil, "Accept", "text/csv")
	got := s.Want(http.StatusOK, nil, "", http.MethodGet, s.board("sort=rank"), nil, "Accept", "text/csv")
	rows, err := csv.NewReader(strings.NewReader(string(got.Body))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatal(err, string(got.Body))
	}
	if strings.Join(rows[0], ",") != "rank,team,userId,runId,submissionId,datasetId,taskId,createdAt,baseline,final,audience,"+
		"alias,affiliation,title,label,runTag,paperUrl,submittedAt,nDCG@10,AP" {
		t.Error(rows[0])
	}
	if strings.Join(rows[1], ",") != "1,team of ada,"+e.UserID+","+e.RunID+","+e.SubmissionID+","+e.DatasetID+","+e.TaskID+","+
		e.CreatedAt.String()+",false,false,everyone,,,,,,,"+e.SubmittedAt.String()+",0.3,0.125" {
		t.Error(rows[1])
	}
	if rows[2][1] != "alias of dan" || rows[2][2] != "" || rows[2][19] != "" {
		t.Error(rows[2])
	}
	if rows[3][0] != "" {
		t.Errorf("a run without a value has the rank %s", rows[3][0])
	}
}

// TestDigests_PlainIsOnlyForOrganizers looks at every answer that shows evaluations. Only organizers and administrators read the plain
// digest of the truth. Only they and the owner read the digest of a private submission's run, because the same file elsewhere would
// identify the team.
func TestDigests_PlainIsOnlyForOrganizers(t *testing.T) {
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

// blocked is an object store whose reads wait until enter is closed.
type blocked struct {
	blob.Store
	reading atomic.Int64
	enter   chan struct{}
}

func (b *blocked) Open(context.Context, string) (io.ReadCloser, error) {
	b.reading.Add(1)
	<-b.enter
	return io.NopCloser(strings.NewReader(`{"q1":{"AP":0.25}}`)), nil
}

// Values per topic in the object store are as large as a list, so a user reads at most four such objects at once.
func TestShow_SharesTheMemoryBudgetOfLists(t *testing.T) {
	s := serve(t)
	e := s.add(result{user: "ada", value: 0.3})
	s.builder.Replace(&record.Topics{Meta: e.Meta, ObjectKey: "topics"})
	synctest.Test(t, func(t *testing.T) {
		env := *s.Env
		files := &blocked{Store: env.Files, enter: make(chan struct{})}
		env.Files = files
		handler := api.New(&env, evaluations.Operations)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/evaluations/"+e.ID, nil)
				r.Header.Set("Authorization", "Bearer ada")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"q1"`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		if n := files.reading.Load(); n != 4 {
			t.Errorf("%d are read at once", n)
		}
		close(files.enter)
		all.Wait()
	})
}
