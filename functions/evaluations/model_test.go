package evaluations_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"assay/functions/evaluations"
	"assay/shared/api/servertest"
	"assay/shared/record"

	"pgregory.net/rapid"
)

// modelPlace is a line of the board that the model makes.
type modelPlace struct {
	rank int
	id   string
}

// modelBoard is the leaderboard by the plainest rules: filter, sort, count.
func modelBoard(all []*record.EvaluationItem, measure string, best bool, user, onlyUser string) []modelPlace {
	id := servertest.UserID(user)
	organizer := user == "olga" || user == "root"
	var seen []*record.EvaluationItem
	for _, e := range all {
		shown := e.Standing.Published && !e.Standing.Blinded
		if organizer || shown || e.UserID == id && !e.Standing.Blinded {
			seen = append(seen, e)
		}
	}
	worth := func(e *record.EvaluationItem) float64 {
		if v := e.Measures[measure]; v != nil {
			return *v
		}
		return -1
	}
	slices.SortFunc(seen, func(x, y *record.EvaluationItem) int {
		return cmp.Or(cmp.Compare(worth(y), worth(x)), cmp.Compare(x.SubmissionID, y.SubmissionID))
	})
	teams := map[string]int{}
	seen = slices.DeleteFunc(seen, func(e *record.EvaluationItem) bool {
		team := e.UserID
		if e.Standing.Baseline {
			team = e.SubmissionID // baselines of organizers are of no team
		}
		teams[team]++
		return best && teams[team] > 1
	})
	var board []modelPlace
	for _, e := range seen {
		better := 0
		for _, o := range seen {
			if worth(o) > worth(e) {
				better++
			}
		}
		named := !e.Standing.Anonymous || organizer || e.UserID == id
		if onlyUser == "" || named && e.UserID == servertest.UserID(onlyUser) {
			board = append(board, modelPlace{better + 1, e.ID})
		}
	}
	return board
}

func TestBoardsAreThoseOfANaiveModel(t *testing.T) {
	server := servertest.New(t, evaluations.Operations...)
	users := []string{"ada", "bob", "cid", "olga"}
	rapid.Check(t, func(rt *rapid.T) {
		s := newScene(t, server, false)
		var all []*record.EvaluationItem
		values := rapid.SampledFrom([]float64{-1, 0, 0.25, 0.5})
		for range rapid.IntRange(0, 14).Draw(rt, "evaluations") {
			user := rapid.SampledFrom(users).Draw(rt, "user")
			all = append(all, s.add(result{
				user: user, value: values.Draw(rt, "value"), ap: values.Draw(rt, "ap"), baseline: user == "olga",
				hidden: rapid.Bool().Draw(rt, "hidden"), blinded: rapid.Bool().Draw(rt, "blinded"), anonymous: user != "olga" && rapid.Bool().Draw(rt, "anonymous"),
			}))
		}
		s.flush()
		for range 4 {
			user := rapid.SampledFrom([]string{"", "ada", "reg", "olga", "root"}).Draw(rt, "caller")
			order := rapid.SampledFrom([]string{"rank", "nDCG@10", "AP"}).Draw(rt, "sort")
			best, only := rapid.Bool().Draw(rt, "best"), rapid.SampledFrom([]string{"", "ada", "bob"}).Draw(rt, "only")
			offset, limit := rapid.IntRange(0, 6).Draw(rt, "offset"), rapid.IntRange(1, 5).Draw(rt, "limit")
			path := s.board(fmt.Sprintf("sort=%s&best=%v&offset=%d&limit=%d", order, best, offset, limit))
			if only != "" {
				path += "&filter[userId]=" + servertest.UserID(only)
			}
			measure := map[string]string{"rank": "nDCG@10", "nDCG@10": "nDCG@10", "AP": "AP"}[order]
			want := modelBoard(all, measure, best, user, only)
			rest := want[min(offset, len(want)):]
			page := rest[:min(limit, len(rest))]
			got := s.get(user, path)
			var places []modelPlace
			for _, e := range got.Data {
				places = append(places, modelPlace{e.Rank, e.ID})
			}
			if !slices.Equal(places, page) || (got.Links.Next != "") != (len(rest) > limit) {
				rt.Fatalf("%s as %q\n got %v, next %q\nwant %v of %v", path, user, places, got.Links.Next, page, want)
			}
		}
	})
}

// BenchmarkBoard reads pages of a leaderboard of 10,000 evaluations over HTTP.
func BenchmarkBoard(b *testing.B) {
	s := newScene(b, servertest.New(b, evaluations.Operations...), false)
	for i := range 10_000 {
		s.add(result{user: fmt.Sprint("user", i%500), value: float64(i*7919%10_000) / 10_000, ap: float64(i*104729%10_000) / 10_000})
	}
	s.flush()
	dataset := "&limit=50&filter[datasetId]=" + s.dataset.ID
	for _, query := range []string{"sort=rank", "sort=rank&offset=5000", "best=true", "sort=AP"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if n := len(s.get("", s.board(query+dataset)).Data); n != 50 {
					b.Fatal(n)
				}
			}
		})
	}
}
