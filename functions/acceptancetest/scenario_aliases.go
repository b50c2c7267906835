package acceptancetest

import (
	"net/http"
	"strings"

	"assay/shared/problem"
	"assay/shared/record"
)

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
