package acceptancetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/shared/record"
)

// rankedRun is what a leaderboard says of one run.
type rankedRun struct {
	rank int
	team string
	run  string
}

// ranked waits until a leaderboard has these places, and returns its evaluations.
func (st *scenario) ranked(caller user, path string, want ...rankedRun) []record.Evaluation {
	st.t.Helper()
	var p struct{ Data []record.Evaluation }
	st.await("GET "+path+" as "+caller.name, func() error {
		st.get(caller, path, &p)
		var got []rankedRun
		for _, e := range p.Data {
			got = append(got, rankedRun{e.Rank, e.Team, "/v1/runs/" + e.RunID})
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		return nil
	})
	return p.Data
}

func (st *scenario) leaderboard() {
	for _, run := range []string{st.annNews.runs[0], st.annCACM.runs[0], st.benBoth.runs[0], st.benBoth.runs[1], st.benCACM.runs[0]} {
		st.publish(run)
	}
	alias, otter := st.alias(), "Otter "+st.tail
	places := []rankedRun{{1, alias, st.annCACM.runs[0]}, {1, otter, st.benCACM.runs[0]}, {3, otter, st.benBoth.runs[1]}}
	all := st.ranked(st.anyone, st.board(st.cacm), places...)
	st.equal(all[0], "cacm/bm25.values")
	st.equal(all[1], "cacm/bm25.values")
	var single record.Evaluation
	st.get(st.anyone, "/v1/evaluations/"+all[1].ID, &single)
	st.equal(single, "cacm/bm25.values")
	if all[0].UserID != "" || all[1].UserID != st.ben.id || all[0].PerTopic != nil || all[0].TruthVersion != 1 {
		st.t.Errorf("%+v", all)
	}
	st.ranked(st.sam, "/v1/evaluations?sort=rank&filter[datasetId]="+st.cacm, places...)
	st.ranked(st.anyone, st.board(st.cacm)+"&best=true", places[:2]...)
	st.ranked(st.anyone, st.board(st.cacm)+"&filter[userId]="+st.ben.id, places[1:]...)
	st.ranked(st.olivia, st.board(st.cacm), append([]rankedRun{{1, st.annTeam(), places[0].run}}, places[1:]...)...)
	st.ranked(st.ann, st.board(st.cacm), append([]rankedRun{{1, st.annTeam(), places[0].run}}, places[1:]...)...)
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})

	st.cached("/v1/evaluations/"+all[0].ID, "id")
	st.cached(st.public, "id")
	st.cached(st.board(st.cacm), "id")
	st.cached(st.board(st.cacm), "id", "Accept", "text/csv")
	st.cached("/v1/tools", "name")
}

// alias is what everybody else calls ann's team.
func (st *scenario) alias() string {
	st.t.Helper()
	var r record.Registration
	st.get(st.ann, st.annRegistration, &r)
	return r.Alias
}

// cached requires that an entity tag saves the transfer, and only that of the same.
func (st *scenario) cached(path, field string, headers ...string) {
	st.t.Helper()
	a := st.want(http.StatusOK, nil, st.anyone, http.MethodGet, path, nil, headers...)
	tag := a.header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || len(tag) < 4 || a.header.Get("Cache-Control") == "" {
		st.t.Fatalf("%s: ETag %s, Cache-Control %q", path, tag, a.header.Get("Cache-Control"))
	}
	for _, list := range []string{tag, `"other", ` + tag, "W/" + tag, "*"} {
		b := st.want(http.StatusNotModified, nil, st.anyone, http.MethodGet, path, nil, append(headers, "If-None-Match", list)...)
		if b.header.Get("ETag") != tag {
			st.t.Errorf("%s: 304 with the ETag %s, want %s", path, b.header.Get("ETag"), tag)
		}
	}
	st.want(http.StatusOK, nil, st.anyone, http.MethodGet, path, nil, append(headers, "If-None-Match", `"other"`)...)
	if len(headers) == 0 { // a table has all its columns
		st.want(http.StatusOK, nil, st.anyone, http.MethodGet, path+separator(path)+"fields="+field, nil, "If-None-Match", tag)
	}
}
