package evaluations_test

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/functions/evaluations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

func TestLeaderboard_IsOfOneDataset(t *testing.T) {
	s := serve(t)
	s.add(result{user: "ada", value: 0.3})
	other := newFixture(s.Server, s.builder)
	other.add(result{user: "bob", value: 0.3})
	hidden := newFixture(s.Server, s.builder, recordtest.Private)
	hidden.add(result{user: "bob", value: 0.3})
	for path, status := range map[string]int{
		"/v1/evaluations?sort=rank": http.StatusBadRequest,
		"/v1/evaluations?sort=rank&filter[datasetId]=" + s.dataset.ID + "," + other.dataset.ID:          http.StatusBadRequest,
		"/v1/evaluations?sort=bogus&filter[datasetId]=" + s.dataset.ID:                                  http.StatusBadRequest,
		"/v1/evaluations?sort=rank&filter[datasetId]=" + hidden.dataset.ID:                              http.StatusNoContent,
		"/v1/evaluations?sort=rank&filter[datasetId]=" + record.NewID(time.Now()):                       http.StatusNoContent,
		s.board("sort=rank&offset=1"):                                                                   http.StatusNoContent,
		s.board("sort=rank&filter[datasetId]=" + other.dataset.ID):                                      http.StatusNoContent,
		s.board("filter[datasetId]=" + other.dataset.ID):                                                http.StatusNoContent,
		s.board("filter[datasetId]=" + hidden.dataset.ID):                                               http.StatusNoContent,
		s.board("best=true&cursor=" + record.NewID(time.Now())):                                         http.StatusBadRequest,
		s.board("best=perhaps"):                                                                         http.StatusBadRequest,
		hidden.board("sort=rank"):                                                                       http.StatusNotFound,
		"/v1/evaluations?filter[datasetId]=" + s.dataset.ID + "&filter[taskId]=" + other.dataset.TaskID: http.StatusNoContent,
	} {
		s.Want(status, nil, "", http.MethodGet, path, nil)
	}
	s.dataset.Task.Dataset(recordtest.Measures("AP"))
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, s.board("sort=rank"), nil)
	s.Want(http.StatusOK, nil, "", http.MethodGet, s.board("sort=rank&filter[datasetId]="+s.dataset.ID), nil)
	if got := ranks(hidden.get("reg", hidden.board("sort=rank"))); got != "1:bob" {
		t.Errorf("a registrant of a private task gets %s", got)
	}
}

// counted is a store that counts its calls.
type counted struct {
	store.Store
	usage *store.Usage
}

func (c counted) Get(ctx context.Context, consistency store.Consistency, keys ...store.Key) ([]store.Item, error) {
	return c.Store.Get(store.WithUsage(ctx, c.usage), consistency, keys...)
}

func (c counted) Query(ctx context.Context, q store.Query) ([]store.Item, error) {
	return c.Store.Query(store.WithUsage(ctx, c.usage), q)
}

// TestLeaderboard_CostIsBounded requires that a page of a kept board takes one call, after the first page. Without kept boards it takes two
// calls and reads no more items than it needs.
func TestLeaderboard_CostIsBounded(t *testing.T) {
	s := serve(t)
	s.builder.Batch(func() {
		for i := range 300 {
			s.add(result{user: "ada", value: float64(i) / 1000})
		}
	})
	var usage store.Usage
	s.Env.Store = counted{s.Store, &usage}
	for range 2 {
		usage = store.Usage{}
		s.get("", s.board("sort=rank&limit=20&offset=100&filter[datasetId]="+s.dataset.ID))
	}
	if calls, items := usage.Calls.Load(), usage.Read.Load(); calls != 1 || items != 2 {
		t.Errorf("%d calls, %d items read for a kept board", calls, items)
	}
	s.Env.Boards = nil
	usage = store.Usage{}
	s.get("", s.board("sort=rank&limit=20&offset=100&filter[datasetId]="+s.dataset.ID))
	if calls, items := usage.Calls.Load(), usage.Read.Load(); calls != 2 || items != 2+100+20+1 {
		t.Errorf("%d calls, %d items read", calls, items)
	}
	usage = store.Usage{} // A page of the best runs counts all runs of each team, in reads of 11, 22, 44, 88 and 176 entries.
	page := s.Want(http.StatusOK, nil, "", http.MethodGet, s.board("limit=10&filter[datasetId]="+s.dataset.ID), nil, "Accept", "text/html")
	if calls := usage.Calls.Load(); calls != 7 || !strings.Contains(string(page.Body), "best of 300 runs here") {
		t.Errorf("%d calls for a page: %s", calls, page.Body)
	}
}

// TestLeaderboard_SortsByTheMeasureAskedFor asks while the dataset names other measures than its truth in use. The index has only
// the order of the truth in use. This lasts until new truth files have arrived and are accepted.
func TestLeaderboard_SortsByTheMeasureAskedFor(t *testing.T) {
	for name, work := range map[string]*record.PendingWork{
		"awaited or refused": nil, "due": record.NewPendingWork(record.AcceptTruth, time.Now())} {
		s := serve(t)
		first := s.add(result{user: "ada", value: 0.9, ap: 0.1})
		second := s.add(result{user: "bob", value: 0.2, ap: 0.8})
		s.dataset.BoardTruth = &record.BoardTruth{TruthVersion: 1, Evaluator: s.dataset.Evaluator, Columns: s.dataset.ShownColumns()}
		s.dataset.PendingWork = work
		s.dataset.Evaluator.Measures = []string{"RR"}
		s.builder.Replace(s.dataset)
		for order, best := range map[string]*record.EvaluationItem{"rank": first, "nDCG@10": first, "ndcg_cut_10": first, "AP": second,
			"map": second} {
			got := s.get("", s.board("sort="+order))
			if len(got) != 2 || got[0].ID != best.ID || got[0].Rank != 1 || got[1].Rank != 2 {
				t.Errorf("%s, by %s: %+v", name, order, got)
			}
		}
	}
}

// TestPage_PromisesInputsThatEveryoneGets shows the link to a dataset without inputs, with inputs, and with inputs for registrants.
func TestPage_PromisesInputsThatEveryoneGets(t *testing.T) {
	s := servertest.New(t, evaluations.Operations...)
	b := s.Records()
	task := b.Task()
	none := func(*record.DatasetItem) {}
	inputs := b.Inputs("topics.tsv", "1\tlakes\n")
	for _, tt := range []struct {
		inputs func(*record.DatasetItem)
		of     record.InputsFor
		want   string
	}{
		{none, "", ">The dataset</a>"}, {inputs, "", ">The dataset, with links to its inputs</a>"},
		{inputs, record.InputsForRegistrants, ">The dataset</a>"},
	} {
		d := task.Dataset(tt.inputs, func(d *record.DatasetItem) { d.InputsFor = tt.of })
		f := &fixture{s, b, d}
		path := f.board("filter[datasetId]=" + d.ID)
		page := string(s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
		if !strings.Contains(page, tt.want) {
			t.Errorf("%d inputs for %q: the page lacks %s", len(d.Inputs), tt.of, tt.want)
		}
	}
}

// TestPage_LeadsFromFinalRunsToOtherDatasets follows the links from the final runs of a dataset to a dataset that takes none, and to one
// that takes some.
func TestPage_LeadsFromFinalRunsToOtherDatasets(t *testing.T) {
	s := servertest.New(t, evaluations.Operations...)
	b := s.Records()
	task := b.Task()
	takes := func(n int) func(*record.DatasetItem) { return func(d *record.DatasetItem) { d.FinalRuns = n } }
	first := task.Dataset(takes(1))
	second := task.Dataset(takes(2))
	none := task.Dataset(takes(0))
	read := func(path string) string {
		return string(s.Want(http.StatusOK, nil, "", http.MethodGet, path, nil, "Accept", "text/html").Body)
	}
	page := read("/v1/tasks/" + task.ID + "/evaluations?final=true&best=false&filter[datasetId]=" + first.ID)
	for _, tt := range []struct{ id, current string }{{second.ID, "Final runs of each team"}, {none.ID, "Best run of each team"}} {
		link := regexp.MustCompile(`href="(/v1/tasks/\w+/evaluations\?[^"]*` + tt.id + `[^"]*)"`).FindStringSubmatch(page)
		if link == nil {
			t.Fatalf("no link to %s in %s", tt.id, page)
		}
		if got := read(html.UnescapeString(link[1])); !strings.Contains(got, `aria-current="page">`+tt.current+"</a>") {
			t.Errorf("%s does not show %q: %s", link[1], tt.current, got)
		}
	}
}
