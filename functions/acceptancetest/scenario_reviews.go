package acceptancetest

import (
	"fmt"
	"net/http"

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
