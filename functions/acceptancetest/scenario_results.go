package acceptancetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"assay/shared/problem"
	"assay/shared/record"
)

// evaluationOf returns the id of the evaluation of a run, as its organizer is shown it.
func (st *scenario) evaluationOf(run string) string {
	st.t.Helper()
	return st.run(run, record.Completed).EvaluationID
}

// evaluations lists those of a run.
func evaluations(run string) string { return "/v1/evaluations?filter[runId]=" + id(run) }

// board is the leaderboard of a dataset of the public task.
func (st *scenario) board(dataset string) string {
	return st.public + "/evaluations?sort=rank&filter[datasetId]=" + dataset
}

func (st *scenario) blinded() {
	run := st.annCACM.runs[0]
	evaluation := st.evaluationOf(run)
	st.get(st.olivia, "/v1/evaluations/"+evaluation, nil)
	st.listed(st.olivia, evaluations(run), evaluation)
	blind := func() {
		st.t.Helper()
		for _, caller := range []user{st.ann, st.ben, st.sam, st.anyone} {
			st.refused(problem.NotFound, caller, http.MethodGet, "/v1/evaluations/"+evaluation, nil)
			st.listed(caller, evaluations(run))
			st.listed(caller, st.board(st.cacm))
			var r record.Run
			if st.get(caller, run, &r); r.EvaluationID != "" || r.State != record.Completed {
				st.t.Errorf("%s sees %+v, want it completed, without its evaluation", caller.name, r)
			}
		}
	}
	blind()
	var review record.Review
	st.get(st.ann, run+"/review", &review)
	if !review.Blinded || review.Published || review.ReviewedAt != nil {
		st.t.Errorf("%+v, want the review of a test split to begin blinded", review)
	}
	st.refused(problem.Forbidden, st.ann, http.MethodPatch, run+"/review", map[string]any{"blinded": false})
	st.refused(problem.NotFound, st.ben, http.MethodPatch, st.annNews.runs[0]+"/review", map[string]any{"blinded": false})
	st.patch(st.olivia, run+"/review", &review, map[string]any{"published": true})
	if !review.Published || review.ReviewerID != st.olivia.id || review.ReviewedAt == nil {
		st.t.Errorf("%+v, want it published by olivia", review)
	}
	blind()

	st.get(st.ben, st.benBoth.runs[0]+"/review", &review)
	if review.Blinded || review.Published {
		st.t.Errorf("%+v, want the review of a training split to begin open to the owner alone", review)
	}
	first := st.firstEvaluation.ID
	st.listed(st.ann, evaluations(st.annNews.runs[0]), first)
	for _, caller := range []user{st.ben, st.sam, st.anyone} {
		st.refused(problem.NotFound, caller, http.MethodGet, "/v1/evaluations/"+first, nil)
		st.listed(caller, evaluations(st.annNews.runs[0]))
	}
}

// publish shows the evaluation of a run to everyone.
func (st *scenario) publish(run string) {
	st.t.Helper()
	st.patch(st.olivia, run+"/review", nil, map[string]any{"published": true, "blinded": false, "noErrors": true, "comment": "Well done."})
	st.await("the evaluation of "+run, func() error {
		if got := st.list(st.anyone, evaluations(run)); len(got) != 1 {
			return fmt.Errorf("nobody sees %v, want one", got)
		}
		return nil
	})
}

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

// aliases asks for everything in which the anonymous team has a part; ask requires that no answer names it.
func (st *scenario) aliases() {
	evaluation := st.evaluationOf(st.annCACM.runs[0])
	lists := []string{
		st.public + "/submissions", st.public + "/evaluations", st.board(st.cacm), st.board(st.news) + "&best=true",
		"/v1/runs?filter[taskId]=" + id(st.public), "/v1/runs?filter[datasetId]=" + st.cacm, "/v1/runs?filter[submissionId]=" +
			id(st.annCACM.path),
		"/v1/evaluations?filter[taskId]=" + id(st.public), "/v1/evaluations?filter[datasetId]=" + st.cacm,
	}
	outsiders := []user{st.anyone, st.sam, st.ben, st.carl, st.pia}
	for _, caller := range outsiders {
		for _, path := range append(lists, st.annCACM.path, st.annCACM.runs[0], "/v1/evaluations/"+evaluation) {
			if a := st.get(caller, path, nil); !strings.Contains(string(a.body), st.alias()) {
				st.t.Errorf("GET %s as %s does not have the alias\n%s", path, caller.name, a.body)
			}
			st.get(caller, path+separator(path)+"fields=id,team,userId", nil)
		}
		for _, path := range []string{st.public + "/evaluations", st.board(st.cacm), "/v1/evaluations?filter[taskId]=" + id(st.public)} {
			st.want(http.StatusOK, nil, caller, http.MethodGet, path, nil, "Accept", "text/csv")
		}
		for _, path := range lists {
			path += separator(path) + "filter[userId]=" + st.ann.id
			if !strings.Contains(path, "/v1/runs?filter[submissionId]") {
				st.want(http.StatusNoContent, nil, caller, http.MethodGet, path, nil)
			}
		}
		st.want(http.StatusNoContent, nil, caller, http.MethodGet, "/v1/users/"+st.ann.id+"/submissions", nil)
		st.want(http.StatusNoContent, nil, caller, http.MethodGet, "/v1/users/"+st.missing()+"/submissions", nil)
	}
	st.refused(problem.Unauthorized, st.anyone, http.MethodGet, "/v1/users/"+st.ann.id, nil)
	st.refused(problem.Forbidden, st.ben, http.MethodGet, "/v1/users/"+st.ann.id, nil)
	st.refused(problem.Forbidden, st.ben, http.MethodGet, "/v1/users", nil)
	for _, caller := range []user{st.ann, st.admin} {
		st.listed(caller, "/v1/users/"+st.ann.id+"/submissions", id(st.annCACM.path), id(st.annNews.path))
	}
	st.listed(st.olivia, "/v1/runs?filter[userId]="+st.ann.id, id(st.annCACM.runs[0]), id(st.annNews.runs[0]))
	var run record.Run
	if st.get(st.anyone, st.annCACM.runs[0], &run); run.Files[0].URL == "" {
		st.t.Error("the bytes of a published run of a public submission have no link")
	}
	st.renamed()
}

func separator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// renamed changes name and anonymity of a team: everything that it submitted follows.
func (st *scenario) renamed() {
	st.t.Helper()
	ann := rankedRun{1, st.alias(), st.annCACM.runs[0]}
	board := func(team string) []rankedRun {
		return []rankedRun{ann, {1, team, st.benCACM.runs[0]}, {3, team, st.benBoth.runs[1]}}
	}
	var ben record.Registration
	renamed := st.want(http.StatusOK, &ben, st.ben, http.MethodPatch, st.benRegistration, map[string]any{"anonymous": true})
	if got := st.get(st.ben, st.benRegistration, nil).header.Get("ETag"); got != renamed.header.Get("ETag") {
		st.t.Errorf("the registration has the tag %s, the answer to its change has %s", got, renamed.header.Get("ETag"))
	}
	st.ranked(st.sam, st.board(st.cacm), board(ben.Alias)...)
	st.patch(st.ben, st.benRegistration, nil, map[string]any{"anonymous": false, "team": "River Otter"})
	st.ranked(st.sam, st.board(st.cacm), board("River Otter")...)
	st.refused(problem.Conflict, st.ben, http.MethodPatch, st.benRegistration, map[string]any{"team": "cOOT " + st.tail})
	st.patch(st.ben, st.benRegistration, nil, map[string]any{"team": "Otter " + st.tail})
	st.ranked(st.sam, st.board(st.cacm), board("Otter "+st.tail)...)
}
