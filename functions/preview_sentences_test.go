package functions_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
)

var idInParentheses = regexp.MustCompile(` \([0-7][0-9A-HJKMNP-TV-Z]{25}\)`)

// TestPreview_SaysEffectsInSentences previews a change for every kind of effect, and compares what people read: in which words a preview
// says who sees what, what is charged, who is notified, and what a team gets.
func TestPreview_SaysEffectsInSentences(t *testing.T) {
	f := newPhases(t)
	f.Info.Mail = true
	f.dataset.Name = "Rivers"
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"name": "Rivers", "split": "training",
		"inputs": []any{servertest.Inline("topics.txt", "q1\n")}, "submissions": map[string]any{"perDay": 2}})
	f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"name": "Lakes", "submissions": map[string]any{"perDay": 5, "total": 9,
		"closesAt": f.in(time.Hour)}})
	f.Quotas.Quotas = record.DefaultQuotas()
	content := recordtest.Content("run.txt", "q1 Q0 d1 1 2 t\n")
	one := f.dataset.Run("ada", content)
	f.patch(http.StatusOK, "ada", f.task.Path()+"/submissions/"+one.SubmissionID, map[string]any{"title": "first"})
	two := f.dataset.Run("bob", content)
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"finalRuns": 1})
	f.patch(http.StatusOK, "bob", "/v1/runs/"+two.ID, map[string]any{"final": true})
	later := f.in(5 * record.Day)
	file := servertest.Inline("r.txt", "q1 Q0 d1 1 2 t\n")
	// one has an evaluation against an earlier version of the ground truth, too.
	earlier := *recordtest.Get[record.EvaluationItem](t, f.Store, record.EvaluationKey(one.EvaluationID))
	earlier.Meta = record.NewMeta(f.Now())
	run := recordtest.Get[record.RunItem](t, f.Store, record.RunKey(one.ID))
	run.Evaluations = append([]string{earlier.ID}, run.Evaluations...)
	f.Records().Put(&earlier)
	f.Records().Replace(run)
	team := map[string]string{"ada": f.ada.Team, "bob": f.bob.Team}
	exception := func(more map[string]any) map[string]any {
		more["reason"] = "The store was down."
		return more
	}
	reviews := func(ids ...string) map[string]any {
		return map[string]any{"runIds": ids, "review": map[string]any{"published": true, "blinded": false}}
	}
	said := map[api.EffectKind]bool{}
	for _, c := range []struct {
		user, method, path string
		body               map[string]any
		want               []string
	}{
		{olga, http.MethodPatch, f.dataset.Path() + "/reviews", reviews(one.ID), []string{
			"Who sees the evaluation of the run first of " + team["ada"] + ": the team and the organizers → everyone.",
			"The team is notified by e-mail that a review is published."}},
		{olga, http.MethodPatch, f.dataset.Path() + "/reviews", reviews(one.ID, two.ID), []string{
			"Who sees the evaluations of 2 runs: the team and the organizers → everyone.",
			"The teams are notified by e-mail that a review is published."}},
		{"ada", http.MethodPatch, f.task.Path() + "/submissions/" + one.SubmissionID, map[string]any{"visibility": "public"}, []string{
			"Who sees the submission first of " + team["ada"] + ": the team and the organizers → everyone."}},
		{olga, http.MethodPatch, f.task.Path(), map[string]any{"visibility": "private", "terms": map[string]any{"text": "Be fair."}}, []string{
			"Who sees the task Lakes: everyone → the organizers and the teams that they accepted.",
			"2 teams must accept the new terms before they can submit."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"inputsFor": "registrants", "truthsPublic": true}, []string{
			"Who gets the input files: everyone → the organizers and the teams that they accepted. Links that others have received already " +
				"work for some more minutes.",
			"Who gets the truth files: the organizers → the organizers and the teams that they accepted."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"columns": []any{map[string]any{"key": "RR"}}}, []string{
			"RR becomes the measure that ranks, instead of AP.", "The audit trail gets 1 entry."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"columns": []any{
			map[string]any{"key": "RR", "audience": "team"}, map[string]any{"key": "AP"}}}, []string{
			"RR becomes the measure that ranks for the organizers, instead of AP.",
			"Who sees RR of published runs on Rivers now: everyone → the team and the organizers."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"evaluator": map[string]any{"measures": []string{"RR"}}}, []string{
			"The platform evaluates 2 runs again once the truth files are read.", "The audit trail gets 1 entry."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"columns": fromClose(f.dataset)}, []string{
			"Who sees the scores of 2 unpublished runs on Rivers now: the team and the organizers → the organizers.",
			"Until " + f.in(time.Hour).String() + ", when the last window closes, only the organizers see scores on Rivers: teams learn only " +
				"whether their runs are valid."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"split": "test"}, []string{
			"Runs that are submitted from now on start blinded: only organizers see their scores until a review unblinds them. The change does " +
				"not blind 2 earlier runs."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"submissions": map[string]any{"closesAt": f.in(0), "total": 1}}, []string{
			"Submissions to Rivers are closed from now on for teams without a later close of their own.",
			"The quota of Rivers allows a team 1 run in all instead of any number of runs: teams without an exception to this quota " +
				"that have as many or more can submit no further run."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"submissions": map[string]any{"closesAt": later, "perDay": 4}}, []string{
			"Submissions to Rivers close at " + later.String() + " instead of " + f.in(time.Hour).String() + " for teams without a later close " +
				"of their own.",
			"The quota of Rivers allows a team 4 runs in 24 hours instead of 2 runs."}},
		{olga, http.MethodPatch, f.task.Path(), map[string]any{"submissions": map[string]any{"perDay": 8, "total": nil}}, []string{
			"The quota of Lakes allows a team 8 runs in 24 hours instead of 5 runs.",
			"The quota of Lakes allows a team any number of runs in all instead of 9 runs."}},
		{olga, http.MethodPatch, f.dataset.Path(), map[string]any{"finalRuns": 0}, []string{
			"Leaderboards show no final runs any more, although teams have marked 1 run as final."}},
		{olga, http.MethodPost, "/v1/tasks", map[string]any{"organizerId": f.task.OrganizerID, "name": "Seas"}, []string{
			"Who sees the task Seas: nobody → everyone.", "Your limit of tasks in 24 hours counts 1 more."}},
		{olga, http.MethodPatch, f.task.Path(), map[string]any{
			"submissions": map[string]any{"closesAt": later, "perDay": 1, "total": 9},
		}, []string{
			"Submissions to Rivers close at " + later.String() + " instead of " + f.in(time.Hour).String() + " for teams without a later close " +
				"of their own.",
			"The quota of Lakes allows a team 1 run in 24 hours instead of 5 runs: teams without an exception to this quota that have " +
				"as many or more wait until earlier runs are 24 hours old.",
			"The teams that take part are notified by e-mail at " + f.in(3*record.Day).String() + " that the window closes."}},
		{"ada", http.MethodPost, f.task.Path() + "/submissions", servertest.Upload(f.dataset.ID, file),
			[]string{"The quota of the team counts 1 run more.", "Your stored files take 15 bytes more.",
				"Your limit of runs in 24 hours counts 1 more."}},
		{olga, http.MethodPost, f.exceptions(f.bob), exception(map[string]any{"closesAt": later, "datasetId": f.dataset.ID,
			"perDay": 3}), []string{
			"For the team " + team["bob"] + ", submissions to Rivers close at " + later.String() + ".",
			"The team " + team["bob"] + " can have 5 runs in 24 hours on Rivers instead of 2 runs in 24 hours.",
			"The quota of the task still applies to the team: 5 runs in 24 hours and 9 runs in all."}},
		{olga, http.MethodPost, f.exceptions(f.bob), exception(map[string]any{"perDay": 1}), []string{
			"The team " + team["bob"] + " can have 6 runs in 24 hours and 9 runs in all in the task instead of 5 runs in 24 hours and 9 runs " +
				"in all.",
			"The quotas of these datasets still apply to the team: Rivers."}},
	} {
		var p previewAnswer
		f.Want(http.StatusOK, &p, c.user, c.method, c.path+"?preview=true", c.body)
		var texts []string
		for _, e := range p.Effects {
			texts = append(texts, idInParentheses.ReplaceAllString(e.Detail, ""))
			said[api.EffectKind(e.Kind)] = true
		}
		slices.Sort(texts)
		if len(slices.Compact(slices.Clone(texts))) < len(texts) {
			t.Errorf("%s %s %v says a sentence twice: %q", c.method, c.path, c.body, texts)
		}
		for _, want := range c.want {
			if !slices.Contains(texts, want) {
				t.Errorf("%s %s %v lacks %q in %q", c.method, c.path, c.body, want, texts)
			}
		}
	}
	kinds := []api.EffectKind{api.EffectAudience, api.EffectEvaluation, api.EffectQuota, api.EffectWindow, api.EffectAudit, api.EffectNews,
		api.EffectTerms}
	for _, kind := range kinds {
		if !said[kind] {
			t.Errorf("no preview had an effect on %s", kind)
		}
	}

	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"split": "test"})
	var p previewAnswer
	f.Want(http.StatusOK, &p, olga, http.MethodPatch, f.dataset.Path()+"?preview=true", map[string]any{"split": "validation"})
	const unblinded = "Runs that are submitted from now on no longer start blinded: their teams see the scores at once."
	if last := len(p.Effects) - 1; last < 0 || p.Effects[last].Detail != unblinded {
		t.Errorf("%v, want last %q", p.Effects, unblinded)
	}

	f.Info.Mail = false
	p = previewAnswer{}
	f.Want(http.StatusOK, &p, olga, http.MethodPatch, f.dataset.Path()+"/reviews?preview=true", reviews(one.ID))
	for _, e := range p.Effects {
		if e.Kind == string(api.EffectNews) {
			t.Errorf("without e-mails the preview says %q", e.Detail)
		}
	}
}

// TestPreview_NamesTheQuotaThatLeavesNoRunAfterALaterClose previews a later close for a team that has used up the quota of the task, and
// for one that has used up the quota of the dataset.
func TestPreview_NamesTheQuotaThatLeavesNoRunAfterALaterClose(t *testing.T) {
	for _, c := range []struct {
		limited func(*phases) string
		want    string
	}{
		{func(f *phases) string { return f.task.Path() }, "The quota of the task still applies to the team: 1 run in all."},
		{func(f *phases) string { return f.dataset.Path() }, "The quotas of these datasets still apply to the team: Rivers."},
	} {
		f := newPhases(t)
		f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"name": "Rivers"})
		f.patch(http.StatusOK, olga, c.limited(f), map[string]any{"submissions": map[string]any{"total": 1, "closesAt": f.in(time.Hour)}})
		made, _ := f.submit(http.StatusCreated, "bob")
		none := "The team " + f.bob.Team + " has used up its quota, so no run is left now on: Rivers."
		for _, of := range []struct {
			more map[string]any
			want []string
			not  string
		}{
			{map[string]any{}, []string{none, c.want}, ""},
			{map[string]any{"runId": made.RunIDs[0]}, nil, none},
		} {
			body := map[string]any{"reason": "Illness.", "closesAt": f.in(5 * record.Day)}
			maps.Copy(body, of.more)
			var p previewAnswer
			f.Want(http.StatusOK, &p, olga, http.MethodPost, f.exceptions(f.bob)+"?preview=true", body)
			var texts []string
			for _, e := range p.Effects {
				texts = append(texts, idInParentheses.ReplaceAllString(e.Detail, ""))
			}
			for _, want := range of.want {
				if !slices.Contains(texts, want) {
					t.Errorf("%v lacks %q in %q", body, want, texts)
				}
			}
			if slices.Contains(texts, of.not) {
				t.Errorf("%v says %q", body, of.not)
			}
		}
	}
}
