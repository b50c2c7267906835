package acceptancetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"assay/shared/problem"
	"assay/shared/record"
)

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

	st.patch(st.olivia, st.annNews.runs[0]+"/review", nil, map[string]any{"blinded": true})
	for _, evaluation := range []string{first.ID, second.ID} {
		st.await("evaluations that were blinded again", func() error {
			if a := st.ask(st.ann, http.MethodGet, "/v1/evaluations/"+evaluation, nil); a.status != http.StatusNotFound {
				return fmt.Errorf("%s is answered with %d", evaluation, a.status)
			}
			return nil
		})
	}
	st.publish(st.annNews.runs[0])

	st.patch(st.olivia, dataset, &news, map[string]any{
		"evaluator": map[string]any{"measures": []string{"AP", "P@10"}, "primaryMeasure": "P@10"}})
	third := st.reevaluated(st.annNews.runs[0], 3)
	if third.PrimaryMeasure != "P@10" || len(third.Measures) != 2 || *third.Measures["P@10"] != *second.Measures["P@10"] {
		st.t.Errorf("%+v, want the two measures and the values as they were", third)
	}
	st.boardShows(3)
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
}

// boardShows waits until leaderboards and lists show the results against the version of the truth.
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

// reevaluated waits until a run has an evaluation against the version of the truth.
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

// audit requires that entries have what was done to the tasks, with the values before and after it.
func (st *scenario) audit() {
	st.refused(problem.Unauthorized, st.anyone, http.MethodGet, st.public+"/audit-entries", nil)
	st.refused(problem.Forbidden, st.ben, http.MethodGet, st.public+"/audit-entries", nil)
	st.refused(problem.NotFound, st.sam, http.MethodGet, st.private+"/audit-entries", nil)
	dataset := "/v1/datasets/" + st.news
	for _, want := range []struct {
		task, action, subject, before, after string // what the sides must have
		user                                 string // whom it concerns; "" for a row that does not check it
	}{
		{st.public, "registration.decided", st.benRegistration, `"state":"pending"`, `"state":"accepted"`, ""},
		{st.public, "registration.decided", st.carlRegistration, `"state":"pending"`, `"state":"rejected"`, ""},
		{st.public, "review.updated", st.annCACM.runs[0] + "/review", `"blinded":true`, `"blinded":false`, ""},
		{st.public, "review.updated", st.annNews.runs[0] + "/review", `"blinded":false`, `"blinded":true`, ""},
		{st.public, "truth.changed", dataset, digestOf(read(st.t, "news/qrels")), digestOf(read(st.t, "news/graded.qrels")), ""},
		{st.public, "evaluator.changed", dataset, `"primaryMeasure":"AP"`, `"primaryMeasure":"P@10"`, ""},
		{st.public, "task.rules-changed", st.public, `"mode":"open"`, `"mode":"approval"`, ""},
		{st.limited, "task.rules-changed", st.limited, `"perDay":3`, `"perDay":0`, ""},
		{st.private, "registration.created", "", "", `"state":"accepted"`, st.pia.id},
	} {
		st.await(want.action, func() error {
			var p struct{ Data []record.AuditEntry }
			st.get(st.olivia, want.task+"/audit-entries?limit=200", &p)
			found := slices.ContainsFunc(p.Data, func(e record.AuditEntry) bool {
				return e.Action == want.action && e.ActorID == st.olivia.id && "/v1/tasks/"+e.TaskID == want.task &&
					(e.Subject == want.subject || want.subject == "") &&
					(want.user == "" || slices.Equal(e.UserIDs, []string{want.user})) && has(e.Before, want.before) && has(e.After, want.after)
			})
			if !found {
				return fmt.Errorf("no audit entry has %+v", want)
			}
			return nil
		})
	}
}

// has reports whether a side of an entry has the part; no part stands for no side.
func has(side json.RawMessage, part string) bool {
	return (part == "") == (side == nil) && bytes.Contains(side, []byte(part))
}
