package functions_test

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// previewCase is a change in a state of the task, and the sentences that its preview says of what people see, submit and accept.
type previewCase struct {
	dataset func(*record.DatasetItem) // nil: a dataset without runs, whose window never closes
	state   func(*phases)
	change  func(*phases) (method, path string, body map[string]any)
	want    func(*phases) []string // in any order
	user    string                 // who changes it; "": olga
}

// ofDataset and ofTask change the dataset and the task.
func ofDataset(body map[string]any) func(*phases) (string, string, map[string]any) {
	return func(f *phases) (string, string, map[string]any) { return http.MethodPatch, f.dataset.Path(), body }
}

func ofTask(body map[string]any) func(*phases) (string, string, map[string]any) {
	return func(f *phases) (string, string, map[string]any) { return http.MethodPatch, f.task.Path(), body }
}

// exceptionFor grants an exception to bob's team.
func exceptionFor(body map[string]any) func(*phases) (string, string, map[string]any) {
	return func(f *phases) (string, string, map[string]any) {
		body["reason"] = "Illness."
		return http.MethodPost, f.exceptions(f.bob), body
	}
}

func of(texts ...string) func(*phases) []string { return func(*phases) []string { return texts } }

// said previews the case, and returns the sentences that are not about the audit trail, e-mails or what the caller's quotas count.
func (c previewCase) said(f *phases) (texts []string) {
	f.t.Helper()
	method, path, body := c.change(f)
	var p previewAnswer
	f.Want(http.StatusOK, &p, cmp.Or(c.user, olga), method, path+"?preview=true", body)
	for _, e := range p.Effects {
		if e.Kind != "audit" && e.Kind != "news" {
			texts = append(texts, idInParentheses.ReplaceAllString(e.Detail, ""))
		}
	}
	return texts
}

func checkPreviews(t *testing.T, cases map[string]previewCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newPhases(t, optional(c.dataset))
			f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"name": "Rivers"})
			f.dataset.Name = "Rivers"
			if c.state != nil {
				c.state(f)
			}
			got, want := c.said(f), c.want(f)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("the preview says\n%q, want\n%q", got, want)
			}
		})
	}
}

// TestPreview_SaysWhoseScoresAreWithheld previews changes that begin or end withholding scores, with runs in each state of their review.
func TestPreview_SaysWhoseScoresAreWithheld(t *testing.T) {
	until := func(f *phases, d time.Duration) string {
		return "Until " + f.in(d).String() + ", when the last window closes, only the organizers see scores on Rivers: teams learn only " +
			"whether their runs are valid."
	}
	const (
		endless = "No window closes, so only the organizers see scores on Rivers, without an end: teams learn only whether their runs are valid."
		ended   = "Scores on Rivers are no longer withheld. The review of each run says who sees them."
	)
	runs := func(f *phases) {
		f.dataset.Run("ada", recordtest.Published)
		f.dataset.Run("ada")
		f.dataset.Run("bob")
		f.dataset.Run("bob", recordtest.Blinded)
		f.dataset.Run("bob", recordtest.Queued)
		f.dataset.Run(olga, recordtest.Baseline)
	}
	closed := func(f *phases) { f.closeTask(-time.Hour)() }
	columns := func(of func(f *phases) []any) func(f *phases) (string, string, map[string]any) {
		return func(f *phases) (string, string, map[string]any) {
			return http.MethodPatch, f.dataset.Path(), map[string]any{"columns": of(f)}
		}
	}
	afterClose := columns(func(f *phases) []any { return fromClose(f.dataset) })
	live := columns(func(*phases) []any { return []any{} })
	checkPreviews(t, map[string]previewCase{
		"no run":            {change: afterClose, want: of(endless)},
		"a run waits":       {state: func(f *phases) { f.dataset.Run("ada", recordtest.Queued) }, change: afterClose, want: of(endless)},
		"a run is blinded":  {state: func(f *phases) { f.dataset.Run("ada", recordtest.Blinded) }, change: afterClose, want: of(endless)},
		"nothing to change": {dataset: recordtest.AfterClose, change: afterClose, want: of()},
		"runs": {state: runs, change: afterClose, want: of(endless,
			"Who sees the scores of 1 published run on Rivers now: everyone → the organizers.",
			"Who sees the scores of 2 unpublished runs on Rivers now: the team and the organizers → the organizers.")},
		"no longer, without runs": {dataset: recordtest.AfterClose, change: live, want: of(ended)},
		"no longer, with runs": {dataset: recordtest.AfterClose, state: runs, change: live, want: of(ended,
			"Who sees the scores of 1 published run on Rivers now: the organizers → everyone.",
			"Who sees the scores of 2 unpublished runs on Rivers now: the organizers → the team and the organizers.")},
		"after the close": {state: func(f *phases) {
			runs(f)
			closed(f)
		}, change: afterClose, want: of()},
		"the dataset opens again": {dataset: recordtest.AfterClose, state: func(f *phases) {
			f.dataset.Run("ada")
			closed(f)
		}, change: func(f *phases) (string, string, map[string]any) {
			return http.MethodPatch, f.dataset.Path(), windowed(f, map[string]any{"closesAt": time.Hour})
		}, want: func(f *phases) []string {
			return []string{until(f, time.Hour),
				"Who sees the scores of 1 unpublished run on Rivers now: the team and the organizers → the organizers.",
				"Submissions to Rivers are open from now on, until " + f.in(time.Hour).String() + " for teams without a later close of their own."}
		}},
		"an exception opens it again": {dataset: recordtest.AfterClose, state: func(f *phases) {
			f.dataset.Run("ada", recordtest.Published)
			closed(f)
		}, change: func(f *phases) (string, string, map[string]any) {
			return exceptionFor(map[string]any{"closesAt": f.in(time.Hour)})(f)
		}, want: func(f *phases) []string {
			return []string{until(f, time.Hour),
				"Who sees the scores of 1 published run on Rivers now: everyone → the organizers.",
				"For the team team of bob, submissions to Rivers close at " + f.in(time.Hour).String() + "."}
		}},
		"a split that unblinds": {dataset: func(d *record.DatasetItem) {
			recordtest.AfterClose(d)
			recordtest.OnTestSplit(d)
		}, state: func(f *phases) { f.dataset.Run("ada", recordtest.Blinded) }, change: ofDataset(map[string]any{"split": "validation"}),
			want: of("Runs that are submitted from now on no longer start blinded: their teams see the scores as soon as these are no longer " +
				"withheld. The change does not unblind 1 earlier run: reviews do.")},
		"a split that blinds": {dataset: recordtest.AfterClose, change: ofDataset(map[string]any{"split": "test"}),
			want: of("Runs that are submitted from now on start blinded: only organizers see their scores until a review unblinds them, also " +
				"once scores are no longer withheld.")},
	})
}

// TestPreview_SaysWhoGetsFiles previews who gets the inputs of a dataset with and without files.
func TestPreview_SaysWhoGetsFiles(t *testing.T) {
	const restricted = "the organizers and the teams that they accepted."
	const links = " Links that others have received already work for some more minutes."
	inputs := []any{servertest.Inline("topics.txt", "q1\n")}
	forTeams := map[string]any{"inputsFor": "registrants"}
	withInputs := func(f *phases) { f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"inputs": inputs}) }
	terms := func(f *phases) {
		f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"terms": map[string]any{"text": "Be fair."}})
	}
	checkPreviews(t, map[string]previewCase{
		"none":   {change: ofDataset(forTeams), want: of()},
		"stored": {state: withInputs, change: ofDataset(forTeams), want: of("Who gets the input files: everyone → " + restricted + links)},
		"arrive later": {change: ofDataset(map[string]any{"inputsFor": "registrants", "inputs": []any{servertest.Announced("t.txt", "q1\n")}}),
			want: of("Who gets the input files: nobody → "+restricted, "Your stored files take 3 bytes more.")},
		"in the change": {change: ofDataset(map[string]any{"inputsFor": "registrants", "inputs": inputs}),
			want: of("Who gets the input files: nobody → "+restricted, "Your stored files take 3 bytes more.")},
		"with terms": {state: func(f *phases) {
			withInputs(f)
			terms(f)
		}, change: ofDataset(forTeams), want: of("Who gets the input files: everyone → " + restricted + " Teams get them once they have " +
			"accepted the terms of the task." + links)},
		"wider, with terms": {state: func(f *phases) {
			withInputs(f)
			terms(f)
			f.patch(http.StatusOK, olga, f.dataset.Path(), forTeams)
		}, change: ofDataset(map[string]any{"inputsFor": "anyone"}),
			want: of("Who gets the input files: the organizers and the teams that they accepted → everyone.")},
		"new terms": {state: func(f *phases) {
			withInputs(f)
			f.patch(http.StatusOK, olga, f.dataset.Path(), forTeams)
			f.decide(f.bob, record.Rejected)
		}, change: ofTask(map[string]any{"terms": map[string]any{"text": "Be fair."}}),
			want: of("1 team must accept the new terms before they can submit, and before they get the input files of Rivers.")},
	})
}

// decide sets the state of the team.
func (f *phases) decide(r *record.RegistrationItem, s record.RegistrationState) {
	f.t.Helper()
	f.patch(http.StatusOK, olga, f.task.Path()+"/registrations/"+r.ID, map[string]any{"state": s})
}

// TestPreview_SaysWhichResultsStay rejects teams with results that others see, see later, or do not see.
func TestPreview_SaysWhichResultsStay(t *testing.T) {
	reject := func(f *phases) (string, string, map[string]any) {
		return http.MethodPatch, f.task.Path() + "/registrations/" + f.ada.ID, map[string]any{"state": "rejected"}
	}
	shown := func(options ...recordtest.RunOption) func(*phases) {
		return func(f *phases) {
			f.dataset.Run("ada", append(options, recordtest.Published)...)
			f.dataset.Run("bob", recordtest.Published)
		}
	}
	checkPreviews(t, map[string]previewCase{
		"none":        {change: reject, want: of()},
		"unpublished": {state: func(f *phases) { f.dataset.Run("ada") }, change: reject, want: of()},
		"blinded":     {state: shown(recordtest.Blinded), change: reject, want: of()},
		"published": {state: shown(), change: reject,
			want: of("Others still see the results of 1 run of team of ada on Rivers.")},
		"public": {state: shown(recordtest.Public), change: reject,
			want: of("Others still see the results of 1 run of team of ada on Rivers.")},
		"withheld": {dataset: recordtest.AfterClose, state: shown(), change: reject,
			want: of("Once the window of every team has closed, others still see the published results of 1 run of team of ada on Rivers.")},
	})
}

// TestPreview_SaysWhatOthersSee previews changes of the details of a team, of when reviews are published, and of the measure that ranks.
func TestPreview_SaysWhatOthersSee(t *testing.T) {
	team := func(body map[string]any) func(*phases) (string, string, map[string]any) {
		return func(f *phases) (string, string, map[string]any) {
			return http.MethodPatch, f.task.Path() + "/registrations/" + f.ada.ID, body
		}
	}
	cases := map[string]previewCase{
		"evaluator without runs": {change: ofDataset(map[string]any{"evaluator": map[string]any{"kind": "worker", "image": "judge:1",
			"measures": []any{"Score"}}}), want: of("Score becomes the measure that ranks, instead of AP.")},
		"publish": {change: ofDataset(map[string]any{"publish": "onCompletion"}), want: of("From now on, the review of a run is published when " +
			"the run completes for the first time, unless organizers have written it or rejected the team. Other reviews stay unchanged.")},
		"publish no more": {dataset: func(d *record.DatasetItem) { d.Publish = record.PublishOnCompletion },
			change: ofDataset(map[string]any{"publish": "onReview"}),
			want:   of("From now on, organizers publish the review of each run. Published reviews stay published.")},
		"name": {user: "ada", change: team(map[string]any{"team": "Otters"}),
			want: of("Others see the team as Otters instead of team of ada, also with its earlier runs.")},
		"affiliation": {user: "ada", change: team(map[string]any{"affiliation": "Lake Lab"}),
			want: of("Others see the team with the affiliation Lake Lab.")},
		"name of an anonymous team": {state: func(f *phases) {
			f.patch(http.StatusOK, "ada", f.task.Path()+"/registrations/"+f.ada.ID, map[string]any{"anonymous": true})
		}, user: "ada", change: team(map[string]any{"team": "Otters", "affiliation": "Lake Lab"}), want: of()},
	}
	checkPreviews(t, cases)
}

// TestPreview_CountsOnlyWhatQuotasLimit previews a submission with and without quotas.
func TestPreview_CountsOnlyWhatQuotasLimit(t *testing.T) {
	f := newPhases(t)
	submitted := func() (texts []string) {
		file := servertest.Inline("run.txt", "q1 Q0 d1 1 2.0 tag\n")
		file["datasetId"] = f.dataset.ID
		var p previewAnswer
		body := map[string]any{"type": "upload", "files": []any{file}}
		f.Want(http.StatusOK, &p, "ada", http.MethodPost, f.task.Path()+"/submissions?preview=true", body)
		for _, e := range p.Effects {
			if e.Kind == "quota" && e.Subject != "storedBytes" {
				texts = append(texts, e.Detail)
			}
		}
		return texts
	}
	if got := submitted(); got != nil {
		t.Errorf("without quotas: %q", got)
	}
	f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": map[string]any{"total": 3}})
	f.Quotas.Quotas = record.DefaultQuotas()
	want := []string{"The quota of the team counts 1 run more.", "Your limit of runs in 24 hours counts 1 more."}
	if got := submitted(); !slices.Equal(got, want) {
		t.Errorf("with quotas: %q, want %q", got, want)
	}
}

// TestPreview_NamesTheSubmitterOfABaseline publishes the review of a baseline, which has no team.
func TestPreview_NamesTheSubmitterOfABaseline(t *testing.T) {
	f := newPhases(t)
	baseline := f.dataset.Run(olga, recordtest.Baseline)
	var p previewAnswer
	f.Info.Mail = true
	f.Want(http.StatusOK, &p, olga, http.MethodPatch, "/v1/runs/"+baseline.ID+"/review?preview=true", map[string]any{"published": true})
	said := map[string]bool{}
	for _, e := range p.Effects {
		said[e.Detail] = true
	}
	for _, text := range []string{
		"Who sees the evaluation of the run " + baseline.ID + " (a baseline): the submitter and the organizers → everyone.",
		"The user who submitted the baseline is notified by e-mail that a review is published."} {
		if !said[text] {
			t.Errorf("the preview of a baseline's review says %q, and not %q", slices.Sorted(maps.Keys(said)), text)
		}
	}
}
