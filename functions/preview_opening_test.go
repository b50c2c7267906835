package functions_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/problem"
)

// windowed returns a change of a window. Each instant is a time from the start of the test; nil removes it.
func windowed(f *phases, members map[string]any) map[string]any {
	rules := map[string]any{}
	for name, value := range members {
		if d, ok := value.(time.Duration); ok {
			value = f.in(d)
		}
		rules[name] = value
	}
	return map[string]any{"submissions": rules}
}

// TestPreview_SaysWhenWindowsAreOpen previews windows that are open, closed, early, or never open, before and after a change.
func TestPreview_SaysWhenWindowsAreOpen(t *testing.T) {
	const (
		past  = -time.Hour
		soon  = time.Hour
		later = 2 * time.Hour
		last  = 3 * time.Hour
	)
	patched := func(task bool, members map[string]any) func(*phases) (string, string, map[string]any) {
		return func(f *phases) (string, string, map[string]any) {
			if task {
				return http.MethodPatch, f.task.Path(), windowed(f, members)
			}
			return http.MethodPatch, f.dataset.Path(), windowed(f, members)
		}
	}
	cases := map[string]previewCase{}
	for name, c := range map[string]struct {
		was, is map[string]any
		want    string // follows "Submissions to Rivers"; "" for no sentence
	}{
		"closes": {nil, map[string]any{"closesAt": soon}, " close at SOON for teams without a later close " +
			"of their own. They had no end before."},
		"closes later": {map[string]any{"closesAt": soon}, map[string]any{"closesAt": later},
			" close at LATER instead of SOON for teams without a later close of their own."},
		"closes no more": {map[string]any{"closesAt": soon}, map[string]any{"closesAt": nil},
			" have no end any more, instead of closing at SOON."},
		"closes now": {map[string]any{"closesAt": soon}, map[string]any{"closesAt": past},
			" are closed from now on for teams without a later close of their own."},
		"opens again": {map[string]any{"closesAt": past}, map[string]any{"closesAt": nil}, " are open from now on, without an end."},
		"opens again later": {map[string]any{"closesAt": past}, map[string]any{"opensAt": soon, "closesAt": later},
			" open at SOON, and close at LATER for teams without a later close of their own."},
		"opens again without an end": {map[string]any{"closesAt": past}, map[string]any{"opensAt": soon, "closesAt": nil},
			" open at SOON, without an end."},
		"opens later":     {map[string]any{"opensAt": soon}, map[string]any{"opensAt": later}, " open at LATER instead of SOON."},
		"opens now":       {map[string]any{"opensAt": soon}, map[string]any{"opensAt": nil}, " are open from now on instead of from SOON on."},
		"is closed again": {nil, map[string]any{"opensAt": soon}, ", which are open now, are closed for all teams until SOON."},
		"stays closed":    {map[string]any{"closesAt": past}, map[string]any{"closesAt": 2 * past}, ""},
		"early, closes then": {map[string]any{"opensAt": soon}, map[string]any{"closesAt": last},
			" close at LAST for teams without a later close of their own. They had no end before."},
	} {
		cases[name] = previewCase{
			state: func(f *phases) {
				if c.was != nil {
					f.patch(http.StatusOK, olga, f.dataset.Path(), windowed(f, c.was))
				}
			},
			change: patched(false, c.is),
			want: func(f *phases) (texts []string) {
				if c.want == "" {
					return nil
				}
				at := strings.NewReplacer("SOON", f.in(soon).String(), "LATER", f.in(later).String(), "LAST", f.in(last).String())
				return []string{"Submissions to Rivers" + at.Replace(c.want)}
			},
		}
	}
	cases["never opens"] = previewCase{
		state:  func(f *phases) { f.closeDataset(soon)() },
		change: patched(true, map[string]any{"opensAt": later}),
		want: func(f *phases) []string {
			return []string{"The dataset \"Rivers\" opens at " + f.in(later).String() + " and closes at " + f.in(soon).String() +
				", which is no later: it takes no runs unless one of the two changes."}
		},
	}
	cases["never opened, opens"] = previewCase{
		state: func(f *phases) {
			f.closeDataset(soon)()
			f.patch(http.StatusOK, olga, f.task.Path(), windowed(f, map[string]any{"opensAt": later}))
		},
		change: patched(true, map[string]any{"opensAt": nil}),
		want: func(f *phases) []string {
			return []string{"Submissions to Rivers are open from now on, until " + f.in(soon).String() + " for teams without a later close " +
				"of their own."}
		},
	}
	cases["several datasets"] = previewCase{
		state: func(f *phases) {
			for _, name := range []string{"Seas", "Ponds", "Gone"} {
				f.task.Dataset(func(d *record.DatasetItem) {
					d.Name = name
					if name == "Ponds" {
						d.Submissions.ClosesAt = new(f.in(last))
					}
					if name == "Gone" {
						d.PendingWork = record.NewPendingWork(record.DeleteDataset, f.Now())
					}
				})
			}
		},
		change: patched(true, map[string]any{"closesAt": soon}),
		want: func(f *phases) []string {
			return []string{"Submissions to Rivers, Seas close at " + f.in(soon).String() + " for teams without a later close " +
				"of their own. They had no end " +
				"before."}
		},
	}
	checkPreviews(t, cases)
}

// TestPreview_SaysWhatAnExceptionLacks previews a later close for teams that need something else, too, before they can submit. A later
// close that changes nothing is refused.
func TestPreview_SaysWhatAnExceptionLacks(t *testing.T) {
	later := func(f *phases) (string, string, map[string]any) {
		return exceptionFor(map[string]any{"closesAt": f.in(2 * time.Hour)})(f)
	}
	closes := func(more ...string) func(*phases) []string {
		return func(f *phases) []string {
			return append([]string{"For the team team of bob, submissions to Rivers close at " + f.in(2*time.Hour).String() + "."}, more...)
		}
	}
	in := func(s record.RegistrationState) func(*phases) {
		return func(f *phases) {
			f.closeTask(time.Hour)()
			f.decide(f.bob, s)
		}
	}
	checkPreviews(t, map[string]previewCase{
		"accepted": {state: func(f *phases) { f.closeTask(time.Hour)() }, change: later, want: closes()},
		"rejected": {state: in(record.Rejected), change: later,
			want: closes("The team team of bob is rejected: it can submit only once the organizers accept it.")},
		"pending": {state: in(record.Pending), change: later,
			want: closes("The team team of bob is pending: it can submit only once the organizers accept it.")},
		"without terms": {state: func(f *phases) {
			f.closeTask(time.Hour)()
			f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"terms": map[string]any{"text": "Be fair."}})
		}, change: later, want: closes("The team team of bob has not accepted the present terms of the task: it can submit only once it does.")},
		"opens no earlier": {state: func(f *phases) {
			f.closeTask(time.Hour)()
			f.patch(http.StatusOK, olga, f.dataset.Path(), windowed(f, map[string]any{"opensAt": 3 * time.Hour}))
		}, change: later, want: closes("Even so, the team cannot submit to Rivers, because submissions open no earlier than they close.")},
	})
	f := newPhases(t)
	refusedAt := func(pointer string, body map[string]any, want string) {
		t.Helper()
		body["reason"] = "Illness."
		for _, query := range []string{"", "?preview=true"} {
			var p problem.Document
			f.Want(http.StatusUnprocessableEntity, &p, olga, http.MethodPost, f.exceptions(f.bob)+query, body)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer || p.Errors[0].Detail != want {
				t.Errorf("%v%s: %+v, want %q", body, query, p.Errors, want)
			}
		}
	}
	refusedAt("/total", map[string]any{"total": 1}, "changes nothing, because the task has no such limit: leave it out")
	refusedAt("/perDay", map[string]any{"perDay": 1, "datasetId": f.dataset.ID},
		"changes nothing, because the dataset has no such limit: leave it out")
	refused := func(body map[string]any, want string) {
		t.Helper()
		refusedAt("/closesAt", body, want)
	}
	const none = "changes nothing, because no window that it concerns closes: leave it out"
	early := func(d time.Duration) string {
		return "changes nothing, because the windows that it concerns close for the team at " + f.in(d).String() + " or later: choose a later " +
			"time, or leave it out"
	}
	refused(map[string]any{"closesAt": f.in(time.Hour)}, none)
	f.closeDataset(3 * time.Hour)()
	refused(map[string]any{"closesAt": f.in(time.Hour), "datasetId": f.dataset.ID}, early(3*time.Hour))
	f.closeTask(2 * time.Hour)()
	refused(map[string]any{"closesAt": f.in(2 * time.Hour)}, early(3*time.Hour))
	refused(map[string]any{"closesAt": f.in(-time.Hour)}, "must lie in the future")
	f.grant(f.bob, map[string]any{"closesAt": f.in(5 * time.Hour), "datasetId": f.dataset.ID})
	refused(map[string]any{"closesAt": f.in(4 * time.Hour), "datasetId": f.dataset.ID}, early(5*time.Hour))
	f.grant(f.ada, map[string]any{"closesAt": f.in(4 * time.Hour), "datasetId": f.dataset.ID})
}

// TestPreview_SaysWhatMoreRunsLack previews more runs for a team that still cannot submit.
func TestPreview_SaysWhatMoreRunsLack(t *testing.T) {
	used := func(more func(f *phases)) func(*phases) {
		return func(f *phases) {
			f.patch(http.StatusOK, olga, f.dataset.Path(), map[string]any{"submissions": map[string]any{"perDay": 1, "total": 1}})
			f.submit(http.StatusCreated, "bob")
			more(f)
		}
	}
	total := func(f *phases) (string, string, map[string]any) {
		return exceptionFor(map[string]any{"datasetId": f.dataset.ID, "total": 2})(f)
	}
	refund := func(f *phases) (string, string, map[string]any) {
		runs := servertest.List[record.Run](f.Server, "bob", "/v1/runs")
		return exceptionFor(map[string]any{"runId": runs[0].ID})(f)
	}
	perDay := func(f *phases) (string, string, map[string]any) {
		return exceptionFor(map[string]any{"datasetId": f.dataset.ID, "perDay": 1, "total": 1})(f)
	}
	const (
		moreInAll = "The team team of bob can have 1 run in 24 hours and 3 runs in all on Rivers instead of 1 run in 24 hours and 1 run in all."
		more      = "The team team of bob can have 2 runs in 24 hours and 2 runs in all on Rivers instead of 1 run in 24 hours and 1 run in all."
		none      = "The team team of bob has used up its quota, so no run is left now on: Rivers."
		never     = "Waiting does not give the team another run."
		counts    = "The quota of the team counts 1 run less."
		closed    = "Even so, the team cannot submit to Rivers, because submissions have closed for the team: only a later close " +
			"opens them again."
	)
	checkPreviews(t, map[string]previewCase{
		"a run is left": {state: used(func(*phases) {}), change: perDay, want: of(more)},
		"no run is left today": {state: used(func(*phases) {}), change: total, want: func(f *phases) []string {
			return []string{moreInAll, none, "The team can submit its next run at " + f.in(record.Day).String() + ", to: Rivers."}
		}},
		"no run before the close": {state: used(func(f *phases) { f.closeTask(time.Hour)() }), change: total, want: of(moreInAll, none, never)},
		"closed":                  {state: used(func(f *phases) { f.closeTask(-time.Hour)() }), change: total, want: of(moreInAll, closed)},
		"a refund":                {state: used(func(*phases) {}), change: refund, want: of(counts)},
		"a refund after close":    {state: used(func(f *phases) { f.closeTask(-time.Hour)() }), change: refund, want: of(closed, counts)},
		"no run of the task": {state: used(func(f *phases) {
			f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"submissions": map[string]any{"total": 1}})
		}), change: perDay, want: of(more, "The quota of the task still applies to the team: 1 run in all.", none, never)},
		"more runs of the task": {state: used(func(f *phases) {
			f.patch(http.StatusOK, olga, f.task.Path(), map[string]any{"submissions": map[string]any{"total": 1}})
		}), change: exceptionFor(map[string]any{"total": 1}), want: of("The team team of bob can have 2 runs in all in the task "+
			"instead of 1 run in all.", "The quotas of these datasets still apply to the team: Rivers.", none, never)},
	})
}
