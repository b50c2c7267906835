package evaluations_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"assay/functions/evaluations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// modelEntry is a line of the model's leaderboard.
type modelEntry struct {
	rank     int
	id, team string
}

// modelBoard computes the leaderboard by simple rules: filter, sort, count.
func modelBoard(all []*record.EvaluationItem, measure string, best bool, user, onlyUser string) []modelEntry {
	id := recordtest.UserID(user)
	organizer := user == "olga" || user == "root"
	var seen []*record.EvaluationItem
	for _, e := range all {
		shown := e.Access.Published && !e.Access.Blinded
		if organizer || shown || e.UserID == id && !e.Access.Blinded {
			seen = append(seen, e)
		}
	}
	scoreOf := func(e *record.EvaluationItem) float64 {
		if v := e.Measures[measure]; v != nil {
			return *v
		}
		return -1
	}
	slices.SortFunc(seen, func(x, y *record.EvaluationItem) int {
		return cmp.Or(cmp.Compare(scoreOf(y), scoreOf(x)), cmp.Compare(x.SubmissionID, y.SubmissionID))
	})
	teams := map[string]int{}
	seen = slices.DeleteFunc(seen, func(e *record.EvaluationItem) bool {
		team := e.UserID
		if e.Access.Baseline {
			team = e.SubmissionID // Baselines of organizers have no team.
		}
		teams[team]++
		return best && teams[team] > 1
	})
	var board []modelEntry
	for _, e := range seen {
		better := 0
		for _, o := range seen {
			if scoreOf(o) > scoreOf(e) {
				better++
			}
		}
		named, team := !e.Access.Anonymous || organizer || e.UserID == id, e.Team
		if !named {
			team = e.Access.Alias
		}
		rank := better + 1
		if e.Measures[measure] == nil {
			rank = 0
		}
		if onlyUser == "" || named && e.UserID == recordtest.UserID(onlyUser) {
			board = append(board, modelEntry{rank, e.ID, team})
		}
	}
	return board
}

func drawResult(rt *rapid.T, values *rapid.Generator[float64]) result {
	user := rapid.SampledFrom([]string{"ada", "bob", "olga"}).Draw(rt, "user")
	return result{
		user: user, value: values.Draw(rt, "value"), ap: values.Draw(rt, "ap"), baseline: user == "olga",
		hidden: rapid.Bool().Draw(rt, "hidden"), blinded: rapid.Bool().Draw(rt, "blinded"), anonymous: user != "olga" &&
			rapid.Bool().Draw(rt, "anonymous"),
	}
}

func TestLeaderboard_IsThatOfANaiveModel(t *testing.T) {
	server := servertest.New(t, evaluations.Operations...)
	nightlytest.Check(t, func(rt *rapid.T) {
		var s *fixture
		var all []*record.EvaluationItem
		values := rapid.SampledFrom([]float64{-1, 0, 0.25, 0.5})
		b := server.Records()
		b.Batch(func() {
			s = newFixture(server, b)
			for range rapid.IntRange(0, 14).Draw(rt, "evaluations") {
				all = append(all, s.add(drawResult(rt, values)))
			}
		})
		for range 4 {
			user := rapid.SampledFrom([]string{"", "ada", "reg", "olga", "root"}).Draw(rt, "caller")
			order := rapid.SampledFrom([]string{"", "rank", "nDCG@10", "AP"}).Draw(rt, "sort")
			best := rapid.Bool().Draw(rt, "best")
			only := rapid.SampledFrom([]string{"", "ada", "bob"}).Draw(rt, "only")
			offset := rapid.IntRange(0, 6).Draw(rt, "offset")
			limit := rapid.IntRange(1, 5).Draw(rt, "limit")
			path := s.board(fmt.Sprint("limit=", limit))
			dataset := "&filter[datasetId]=" + s.dataset.ID
			switch rapid.IntRange(0, 2).Draw(rt, "list") {
			case 1:
				path += dataset
			case 2:
				path, best = fmt.Sprint("/v1/evaluations?limit=", limit)+dataset, false
			}
			if best {
				path += "&best=true"
			} else {
				order = cmp.Or(order, "rank") // Only lists with best or sort are leaderboards.
			}
			if order == "" {
				offset = 0 // Only sorted lists have an offset.
			} else {
				path += fmt.Sprintf("&sort=%s&offset=%d", order, offset)
			}
			if only != "" {
				path += "&filter[userId]=" + recordtest.UserID(only)
			}
			measure := "nDCG@10"
			if order == "AP" {
				measure = order
			}
			want := modelBoard(all, measure, best, user, only)
			rest := want[min(offset, len(want)):]
			for next := path; next != ""; {
				page := rest[:min(limit, len(rest))]
				var got []record.Evaluation
				got, next = servertest.Page[record.Evaluation](s.Server, user, next)
				if len(rest) > limit != (next != "") {
					rt.Fatalf("%s as %q goes on at %q, want %v", path, user, next, rest)
				}
				entries := lists.Map(got, func(e record.Evaluation) modelEntry { return modelEntry{e.Rank, e.ID, e.Team} })
				if !slices.Equal(entries, page) {
					rt.Fatalf("%s as %q\n got %v\nwant %v of %v", path, user, entries, page, want)
				}
				rest = rest[len(page):]
			}
		}
	})
}

// The public view is the same for every reader: entries, ranks, names, CSV and pages equal those of an anonymous reader, or, in a private
// task, those of a registrant without runs. Other views mark entries that only the reader sees.
func TestPublicView_IsTheSameForAllReaders(t *testing.T) {
	server := servertest.New(t, evaluations.Operations...)
	linked := regexp.MustCompile(`"links":.*`)
	nightlytest.Check(t, func(rt *rapid.T) {
		private := rapid.Bool().Draw(rt, "private")
		public := ""
		readers := []string{"unrelated", "reg", "ada", "bob", "olga", "root"}
		var options []func(*record.TaskItem)
		if private {
			options = append(options, recordtest.Private)
			public, readers = "reg", readers[4:]
		}
		shown, withheld := map[string]bool{}, map[string]string{}
		var s *fixture
		b := server.Records()
		b.Batch(func() {
			s = newFixture(server, b, options...)
			for range rapid.IntRange(1, 8).Draw(rt, "evaluations") {
				r := drawResult(rt, rapid.SampledFrom([]float64{-1, 0.25, 0.5}))
				e := s.add(r)
				shown[e.ID] = !r.hidden && !r.blinded
				if r.anonymous {
					withheld[e.ID] = "alias of " + r.user
				}
			}
		})
		dataset := "filter[datasetId]=" + s.dataset.ID
		filter := rapid.SampledFrom([]string{"", "&filter[userId]=" + recordtest.UserID("ada")}).Draw(rt, "filter")
		paths := rapid.Permutation([]string{
			s.board("sort=rank&limit=2"), s.board("sort=rank&limit=2&offset=1"), s.board("sort=AP"), s.board("best=true"), s.board(dataset),
			"/v1/evaluations?sort=rank&" + dataset, "/v1/evaluations?" + dataset, "/v1/evaluations?filter[taskId]=" + s.dataset.TaskID,
		}).Draw(rt, "paths")
		for _, path := range paths[:2] {
			path += filter
			for _, media := range []string{"application/json", "text/csv"} {
				want := s.Do(public, http.MethodGet, path, nil, "Accept", media)
				for _, reader := range append(readers, public) {
					got := s.Do(reader, http.MethodGet, path+"&view=public", nil, "Accept", media)
					if got.Status != want.Status || linked.ReplaceAllString(string(got.Body), "") != linked.ReplaceAllString(string(want.Body), "") {
						rt.Fatalf("%s as %q in the public view: %d %s\nwant as %q: %d %s", path, reader, got.Status, got.Body, public, want.Status, want.Body)
					}
					own := s.Do(reader, http.MethodGet, path+"&view=caller", nil, "Accept", media)
					if tag := own.Header.Get("ETag"); tag != "" && tag == got.Header.Get("ETag") && !bytes.Equal(own.Body, got.Body) {
						rt.Fatalf("%s as %q: two views have the entity tag %s", path, reader, tag)
					}
				}
			}
			for _, e := range s.get("olga", path) {
				if marked := e.Hidden != ""; marked == shown[e.ID] || e.Alias != withheld[e.ID] {
					rt.Fatalf("%s: organizers are shown %+v", path, e.Entry)
				}
			}
		}
	})
}

// BenchmarkLeaderboard reads pages of a leaderboard of 10,000 evaluations over HTTP.
func BenchmarkLeaderboard(b *testing.B) {
	s := serve(b)
	s.builder.Batch(func() {
		for i := range 10_000 {
			s.add(result{user: fmt.Sprint("user", i%500), value: float64(i*7919%10_000) / 10_000, ap: float64(i*104729%10_000) / 10_000})
		}
	})
	dataset := "&limit=50&filter[datasetId]=" + s.dataset.ID
	for _, query := range []string{"sort=rank", "sort=rank&offset=5000", "best=true", "sort=AP"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if n := len(s.get("", s.board(query+dataset))); n != 50 {
					b.Fatal(n)
				}
			}
		})
	}
	b.Run("page", func(b *testing.B) {
		var usage store.Usage
		s.Env.Store = counted{s.Store, &usage}
		for b.Loop() {
			s.Want(http.StatusOK, nil, "", http.MethodGet, s.board(dataset[1:]), nil, "Accept", "text/html")
		}
		b.ReportMetric(float64(usage.Calls.Load())/float64(b.N), "calls/op")
	})
}
