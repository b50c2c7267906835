package acceptancetest

import (
	"fmt"
	"slices"
	"strings"

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
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
}

// alias is what everybody else calls ann's team.
func (st *scenario) alias() string {
	st.t.Helper()
	var r record.Registration
	st.get(st.ann, st.annRegistration, &r)
	return r.Alias
}

func separator(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// renamed hides a team behind its alias, and gives it back its name: leaderboards follow.
func (st *scenario) renamed() {
	var ben record.Registration
	for _, anonymous := range []bool{true, false} {
		st.patch(st.ben, st.benRegistration, &ben, map[string]any{"anonymous": anonymous})
		team := map[bool]string{true: ben.Alias, false: ben.Team}[anonymous]
		st.ranked(st.sam, st.board(st.cacm), rankedRun{1, st.alias(), st.annCACM.runs[0]}, rankedRun{1, team, st.benCACM.runs[0]},
			rankedRun{3, team, st.benBoth.runs[1]})
	}
}
