package acceptancetest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/shared/problem"
	"assay/shared/record"
)

// rankedRun is what a leaderboard says of one run.
type rankedRun struct {
	rank int
	team string
	run  string
}

// ranked waits until a leaderboard has these places, and returns its evaluations.
func (st *story) ranked(who person, path string, want ...rankedRun) []record.Evaluation {
	st.t.Helper()
	var p struct{ Data []record.Evaluation }
	st.await("GET "+path+" as "+who.name, func() error {
		st.get(who, path, &p)
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

func (st *story) leaderboard() {
	for _, run := range []string{st.annNews.runs[0], st.annCACM.runs[0], st.benBoth.runs[0], st.benBoth.runs[1], st.benCACM.runs[0]} {
		st.publish(run)
	}
	alias, otter := st.alias(), "Otter "+st.tail
	places := []rankedRun{{1, alias, st.annCACM.runs[0]}, {1, otter, st.benCACM.runs[0]}, {3, otter, st.benBoth.runs[1]}}
	all := st.ranked(st.nobody, st.board(st.cacm), places...)
	st.equal(all[0], "cacm/bm25.values")
	st.equal(all[1], "cacm/bm25.values")
	var single record.Evaluation
	st.get(st.nobody, "/v1/evaluations/"+all[1].ID, &single)
	st.equal(single, "cacm/bm25.values")
	if all[0].UserID != "" || all[1].UserID != st.ben.id || all[0].PerTopic != nil || all[0].TruthVersion != 1 {
		st.t.Errorf("%+v", all)
	}
	for _, measure := range []string{"AP", "nDCG@10", "P@10"} {
		st.ranked(st.sam, st.public+"/evaluations?filter[datasetId]="+st.cacm+"&sort="+measure, places...)
	}
	st.ranked(st.sam, "/v1/evaluations?sort=rank&filter[datasetId]="+st.cacm, places...)
	st.ranked(st.nobody, st.board(st.cacm)+"&best=true", places[:2]...)
	st.ranked(st.nobody, st.public+"/evaluations?best=true&filter[datasetId]="+st.cacm, places[:2]...)
	st.ranked(st.nobody, st.board(st.cacm)+"&filter[userId]="+st.ben.id, places[1:]...)
	st.ranked(st.olivia, st.board(st.cacm), append([]rankedRun{{1, st.annTeam(), places[0].run}}, places[1:]...)...)
	st.ranked(st.ann, st.board(st.cacm), append([]rankedRun{{1, st.annTeam(), places[0].run}}, places[1:]...)...)
	st.ranked(st.nobody, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})

	st.offsets(places)
	st.asCSV(all)
	st.selected()
	st.cached("/v1/evaluations/"+all[0].ID, "id")
	st.cached(st.public, "id")
	st.cached(st.board(st.cacm), "id")
	st.cached(st.board(st.cacm), "id", "Accept", "text/csv")
	st.cached("/v1/tools", "name")
}

// alias is what everybody else calls ann's team.
func (st *story) alias() string {
	st.t.Helper()
	var r record.Registration
	st.get(st.ann, st.annRegistration, &r)
	return r.Alias
}

// offsets pages through the leaderboard.
func (st *story) offsets(places []rankedRun) {
	st.t.Helper()
	next := st.board(st.cacm) + "&limit=1"
	for i, want := range places {
		var p page
		st.ranked(st.nobody, next, want)
		a := st.get(st.nobody, next, &p)
		if i == len(places)-1 {
			if p.Links.Next != "" || a.header.Get("Link") != "" {
				st.t.Errorf("after the last page comes %s", p.Links.Next)
			}
			break
		}
		if a.header.Get("Link") != "<"+p.Links.Next+`>; rel="next"` {
			st.t.Errorf("Link is %s, links.next %s", a.header.Get("Link"), p.Links.Next)
		}
		next = p.Links.Next
	}
	st.ranked(st.nobody, st.board(st.cacm)+"&offset=1&limit=2", places[1:]...)
	for _, offset := range []string{"3", "4", "100000"} {
		st.want(http.StatusNoContent, nil, st.nobody, http.MethodGet, st.board(st.cacm)+"&offset="+offset, nil)
	}
	for _, query := range []string{"&offset=-1", "&offset=x", "&cursor=" + st.missing(), "&limit=0", "&best=perhaps"} {
		st.refused(problem.InvalidParameter, st.nobody, http.MethodGet, st.board(st.cacm)+query, nil)
	}
	of := st.public + "/evaluations"
	for _, query := range []string{"?offset=1", "?sort=rank", "?sort=Beauty&filter[datasetId]=" + st.cacm, "?best=true"} {
		st.refused(problem.InvalidParameter, st.nobody, http.MethodGet, of+query, nil)
	}
	st.refused(problem.InvalidParameter, st.nobody, http.MethodGet, "/v1/evaluations?sort=rank", nil)
}

// asCSV requires that the leaderboard is the same as a table of text.
func (st *story) asCSV(all []record.Evaluation) {
	st.t.Helper()
	a := st.want(http.StatusOK, nil, st.nobody, http.MethodGet, st.board(st.cacm), nil, "Accept", "text/csv")
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
		st.t.Errorf("Content-Type is %q", a.header.Get("Content-Type"))
	}
	rows, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	if err != nil || len(rows) != 1+len(all) {
		st.t.Fatalf("%v, %d rows, want a header and %d\n%s", err, len(rows), len(all), a.body)
	}
	column := func(row []string, name string) string {
		if i := slices.Index(rows[0], name); i >= 0 {
			return row[i]
		}
		st.t.Fatalf("no column %q in %v", name, rows[0])
		return ""
	}
	for i, e := range all {
		row := rows[i+1]
		if column(row, "rank") != strconv.Itoa(e.Rank) || column(row, "team") != e.Team || column(row, "userId") != e.UserID || column(row, "runId") != e.RunID {
			st.t.Errorf("row %v, want %+v", row, e)
		}
		for name, value := range e.Measures {
			if got, err := strconv.ParseFloat(column(row, name), 64); err != nil || got != *value {
				st.t.Errorf("%s is %v in the table, %v in JSON (%v)", name, got, *value, err)
			}
		}
	}
}

// selected requires that fields select members, and nothing but members.
func (st *story) selected() {
	st.t.Helper()
	var p struct{ Data []map[string]json.RawMessage }
	st.get(st.nobody, st.board(st.cacm)+"&fields=rank,team,measures", &p)
	var task map[string]json.RawMessage
	st.get(st.nobody, st.public+"?fields=name,id,submissions", &task)
	if got := slices.Sorted(maps.Keys(task)); !slices.Equal(got, []string{"id", "name", "submissions"}) {
		st.t.Errorf("a task has the members %v", got)
	}
	for _, e := range p.Data {
		if got := slices.Sorted(maps.Keys(e)); !slices.Equal(got, []string{"measures", "rank", "team"}) {
			st.t.Errorf("an entry has the members %v", got)
		}
	}
	st.says(st.refused(problem.InvalidParameter, st.nobody, http.MethodGet, st.board(st.cacm)+"&fields=team,password", nil), "password", "measures")
	st.refused(problem.InvalidParameter, st.nobody, http.MethodGet, st.public+"?fields=", nil)
}

// cached requires that an entity tag saves the transfer, and only that of the same.
func (st *story) cached(path, field string, headers ...string) {
	st.t.Helper()
	a := st.want(http.StatusOK, nil, st.nobody, http.MethodGet, path, nil, headers...)
	tag := a.header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) || len(tag) < 4 || a.header.Get("Cache-Control") == "" {
		st.t.Fatalf("%s: ETag %s, Cache-Control %q", path, tag, a.header.Get("Cache-Control"))
	}
	for _, list := range []string{tag, `"other", ` + tag, "W/" + tag, "*"} {
		b := st.want(http.StatusNotModified, nil, st.nobody, http.MethodGet, path, nil, append(headers, "If-None-Match", list)...)
		if b.header.Get("ETag") != tag {
			st.t.Errorf("%s: 304 with the ETag %s, want %s", path, b.header.Get("ETag"), tag)
		}
	}
	st.want(http.StatusOK, nil, st.nobody, http.MethodGet, path, nil, append(headers, "If-None-Match", `"other"`)...)
	if len(headers) == 0 { // a table has all its columns
		st.want(http.StatusOK, nil, st.nobody, http.MethodGet, path+separator(path)+"fields="+field, nil, "If-None-Match", tag)
	}
}
