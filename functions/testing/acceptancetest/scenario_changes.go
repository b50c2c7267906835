package acceptancetest

import (
	"fmt"
	"net/http"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
)

// patches changes all kinds of resources with the entity tag of a GET. Afterwards the old tag is refused, and the answer has the
// new tag.
func (st *scenario) patches() {
	run := st.benBoth.runs[0]
	for _, c := range []struct {
		caller user
		path   string
		change map[string]any
	}{
		{st.olivia, st.organizerPath, map[string]any{"website": "https://matched.example"}},
		{st.olivia, st.limited, map[string]any{"description": "Matched"}},
		{st.olivia, "/v1/datasets/" + st.little, map[string]any{"description": "Matched"}},
		{st.ben, st.benRegistration, map[string]any{"affiliation": "Matched"}},
		{st.ben, st.benBoth.path, map[string]any{"title": "Matched"}},
		{st.ben, run, map[string]any{"label": "Matched"}},
		{st.olivia, run + "/review", map[string]any{"comment": "Matched"}},
	} {
		tag := st.get(c.caller, c.path, nil).header.Get("ETag")
		changed := st.want(http.StatusOK, nil, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		st.refused(problem.PreconditionFailed, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		if is := st.get(c.caller, c.path, nil).header.Get("ETag"); is == tag || is != changed.header.Get("ETag") {
			st.t.Errorf("%s has the tag %s, its change answered %s, and it had %s", c.path, is, changed.header.Get("ETag"), tag)
		}
	}
}

func (st *scenario) changedTruth() {
	dataset := "/v1/datasets/" + st.news
	truths := func(content []byte) map[string]any { return map[string]any{"truths": []any{inline("qrels", content)}} }
	var news record.Dataset
	st.patch(st.olivia, dataset, &news, truths(read(st.t, "news/graded.qrels")))
	if news.TruthVersion != 2 {
		st.t.Fatalf("truthVersion is %d after a change of the truth, want 2", news.TruthVersion)
	}

	first := st.firstEvaluation
	second := st.reevaluated(st.annNews.runs[0], 2)
	st.equal(second, "news/graded.values")
	if second.ID == first.ID || second.Digests.Truth == first.Digests.Truth || second.Digests.Run != first.Digests.Run {
		st.t.Errorf("%+v, want another evaluation of the same run", second)
	}
	truncated := st.reevaluated(st.benBoth.runs[0], 2)
	st.boardShows(2)
	alias, otter := st.alias(), "Otter "+st.tail
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
	st.listed(st.anyone, "/v1/evaluations?filter[datasetId]="+st.news, newestFirst(second.ID, truncated.ID)...)

	var old record.Evaluation
	st.get(st.anyone, "/v1/evaluations/"+first.ID, &old)
	st.equal(old, "news/results.values")
	if old.TruthVersion != 1 || old.Team != alias {
		st.t.Errorf("%+v, want the evaluation as it was", old)
	}
	st.reevaluated(st.annCACM.runs[0], 1)

	st.patch(st.olivia, dataset, &news, map[string]any{
		"evaluator": map[string]any{"measures": []string{"AP", "P@10"}},
		"columns":   []any{map[string]any{"key": "P@10"}, map[string]any{"key": "AP"}},
	})
	third := st.reevaluated(st.annNews.runs[0], 3)
	if !slices.Equal(third.Columns, []string{"P@10", "AP"}) || *third.Measures["P@10"] != *second.Measures["P@10"] {
		st.t.Errorf("%+v, want the two measures and the values as they were", third)
	}
	st.boardShows(3)
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
}

// boardShows waits until leaderboards and lists show the results against the truth version.
func (st *scenario) boardShows(version int64) {
	st.t.Helper()
	st.await(fmt.Sprintf("leaderboards of version %d of the truth", version), func() error {
		var d record.Dataset
		st.get(st.anyone, "/v1/datasets/"+st.news, &d)
		if d.BoardVersion != version || d.Reevaluation != nil {
			return fmt.Errorf("they show version %d: %+v", d.BoardVersion, d.Reevaluation)
		}
		return nil
	})
}

// reevaluated waits until a run has an evaluation against the truth version.
func (st *scenario) reevaluated(run string, version int64) (e record.Evaluation) {
	st.t.Helper()
	st.await(fmt.Sprintf("the evaluation of %s by truth %d", run, version), func() error {
		e = record.Evaluation{}
		st.get(st.olivia, "/v1/evaluations/"+st.evaluationOf(run), &e)
		if e.TruthVersion != version {
			return fmt.Errorf("the newest is by truth %d", e.TruthVersion)
		}
		return nil
	})
	return e
}

func newestFirst(ids ...string) []string {
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

func (st *scenario) deletions() {
	gone := func(path string) {
		st.t.Helper()
		st.await("the absence of "+path, func() error {
			for _, caller := range []user{st.anyone, st.ann, st.ben, st.olivia} {
				if a := st.ask(caller, http.MethodGet, path, nil); a.status != http.StatusNotFound {
					return fmt.Errorf("status %d for %s", a.status, caller.name)
				}
			}
			return nil
		})
	}
	evaluation := "/v1/evaluations/" + st.evaluationOf(st.annCACM.runs[0])
	st.remove(st.olivia, st.annCACM.runs[0])
	gone(st.annCACM.runs[0])
	gone(evaluation)
	st.remove(st.olivia, "/v1/deletions/"+st.list(st.olivia, "/v1/deletions")[0]) // undoes the deletion
	st.get(st.olivia, st.annCACM.runs[0], new(record.Run))
	st.remove(st.olivia, st.annCACM.runs[0])
	gone(st.annCACM.runs[0])
	gone(st.annCACM.runs[0] + "/review")
	gone(evaluation)
	otter := "Otter " + st.tail
	st.ranked(st.anyone, st.board(st.cacm), rankedRun{1, otter, st.benCACM.runs[0]}, rankedRun{2, otter, st.benBoth.runs[1]})
	st.remove(st.ann, st.annCACM.path)
	gone(st.annCACM.path)

	for _, task := range []string{st.public, st.private, st.limited} {
		for _, submission := range st.list(st.olivia, task+"/submissions") {
			st.remove(st.olivia, task+"/submissions/"+submission)
		}
	}
	for _, e := range []entry{st.annNews, st.benBoth, st.benCACM} {
		gone(e.path)
		for _, run := range e.runs {
			gone(run)
		}
	}
	gone("/v1/evaluations/" + st.firstEvaluation.ID)
	st.remove(st.ann, st.annRegistration)
	gone(st.annRegistration)
	st.await("the deletion of the dataset", func() error {
		if a := st.ask(st.olivia, http.MethodDelete, "/v1/datasets/"+st.news, nil); a.status != http.StatusNoContent {
			return fmt.Errorf("status %d\n%s", a.status, a.body)
		}
		return nil
	})
	gone("/v1/datasets/" + st.news)
	st.remove(st.olivia, st.deletePhased())
	gone(st.phased)
	for _, task := range []string{st.public, st.private, st.limited} {
		st.remove(st.olivia, task)
		gone(task)
		gone(task + "/submissions")
	}
	gone("/v1/datasets/" + st.cacm)
	gone(st.benRegistration)
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+id(st.organizerPath))
	st.remove(st.olivia, st.organizerPath)
	gone(st.organizerPath)
	st.listed(st.anyone, "/v1/organizers?filter[name]="+st.tail)
}
