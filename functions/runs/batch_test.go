package runs_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"assay/functions/runs"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

// review sends a batch as olga, and returns the statuses of the runs and the cursor.
func (f *fixture) review(body map[string]any) (statuses map[string]int, next string) {
	f.t.Helper()
	var answer runs.ReviewedRuns
	f.Want(http.StatusOK, &answer, "olga", http.MethodPatch, f.dataset.Path()+"/reviews", body)
	statuses = map[string]int{}
	for _, r := range answer.Data {
		statuses[r.RunID] = r.Status
		if (r.Problem == nil) != (r.Status == http.StatusOK) || (r.Review == nil) == (r.Problem == nil) {
			f.t.Errorf("%+v", r)
		}
	}
	return statuses, answer.Next
}

func (f *fixture) audits() int {
	f.t.Helper()
	return len(recordtest.AuditEntries(f.t, f.Store, f.dataset.OrganizerID))
}

var publish = map[string]any{"published": true}

func TestReviews_AnswersForEachRun(t *testing.T) {
	s := serve(t)
	ok, wrong := s.add("ada", recordtest.Blinded), s.add("dan")
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path(wrong)+"/review", map[string]any{"hasErrorOutput": true})
	elsewhere, missing := s.newDataset().Run("ada"), record.NewID(s.Now())
	others := s.newDataset(func(task *record.TaskItem) { task.OrganizerID = record.NewID(s.Now()) }).Run("ada")
	before := s.audits()
	body := map[string]any{"runIds": []string{missing, ok.ID, wrong.ID, elsewhere.ID, others.ID},
		"review": map[string]any{"published": true, "noErrors": true}}
	want := map[string]int{missing: http.StatusNotFound, ok.ID: http.StatusOK, wrong.ID: http.StatusUnprocessableEntity,
		elsewhere.ID: http.StatusConflict, others.ID: http.StatusNotFound}
	for range 2 { // The second request changes nothing.
		got, next := s.review(body)
		for id, status := range want {
			if got[id] != status || len(got) != len(want) || next != "" {
				t.Fatalf("%v, want %v, and %q", got, want, next)
			}
		}
	}
	if n := s.audits() - before; n != 1 {
		t.Errorf("%d audit entries, want one of the one change", n)
	}
	for _, published := range []bool{true, false} {
		var preview struct{ Resource runs.ReviewedRuns }
		s.Want(http.StatusOK, &preview, "olga", http.MethodPatch, s.dataset.Path()+"/reviews?preview=true",
			map[string]any{"runIds": []string{missing, ok.ID}, "review": map[string]any{"published": published}})
		if of := preview.Resource.Data; of[0].Changed || of[1].Changed == published {
			t.Errorf("published %t again: %+v", published, of)
		}
	}
	run := recordtest.Get[record.RunItem](t, s.Store, ok.Key())
	e := recordtest.Get[record.EvaluationItem](t, s.Store, ok.Evaluation.Key())
	if !run.Access.Published || !run.Access.Blinded || e.Access != run.Access {
		t.Errorf("the run has %+v, its evaluation %+v", run.Access, e.Access)
	}
	if r := servertest.Get[record.Review](s.Server, "olga", path(wrong)+"/review"); r.Published || r.NoErrors {
		t.Errorf("what was refused is changed: %+v", r)
	}
}

func TestReviews_SelectsRuns(t *testing.T) {
	s := serve(t)
	ada := s.add("ada")
	queued := s.add("ada", recordtest.Queued)
	reg := s.add("reg", func(r *recordtest.Run) { r.Label = "My Best" })
	for name, c := range map[string]struct {
		filter map[string]any
		want   []*recordtest.Run
	}{
		"all":     {map[string]any{}, []*recordtest.Run{reg, queued, ada}},
		"states":  {map[string]any{"states": []string{"completed"}}, []*recordtest.Run{reg, ada}},
		"users":   {map[string]any{"userIds": []string{recordtest.UserID("ada")}}, []*recordtest.Run{queued, ada}},
		"label":   {map[string]any{"label": "best"}, []*recordtest.Run{reg}},
		"several": {map[string]any{"states": []string{"queued"}, "userIds": []string{recordtest.UserID("reg")}}, nil},
		"team":    {map[string]any{"registrationIds": []string{reg.Access.RegistrationID}}, []*recordtest.Run{reg}},
	} {
		var preview struct{ Resource runs.ReviewedRuns }
		s.Want(http.StatusOK, &preview, "olga", http.MethodPatch, s.dataset.Path()+"/reviews?preview=true", map[string]any{
			"filter": c.filter, "review": publish})
		got := lists.Map(preview.Resource.Data, func(r runs.ReviewedRun) string { return r.RunID })
		if want := lists.Map(c.want, func(r *recordtest.Run) string { return r.ID }); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if r := servertest.Get[record.Review](s.Server, "olga", path(ada)+"/review"); r.Published {
		t.Error("a preview published a review")
	}
}

// A filter selects no runs of rejected teams to be published or unblinded, unless it names the team. Other changes concern these runs too,
// and so do changes that publish a run which is published already.
func TestReviews_LeaveOutRejectedTeams(t *testing.T) {
	s := serve(t)
	kept := s.add("ada")
	rejected := s.add("reg", recordtest.Blinded)
	team := rejected.Access.RegistrationID
	r := recordtest.Get[record.RegistrationItem](t, s.Store, record.RegistrationKey(s.dataset.TaskID, team))
	r.State = record.Rejected
	s.Records().Replace(r)
	for _, c := range []struct {
		filter, review map[string]any
		want           []string
	}{
		{map[string]any{}, publish, []string{kept.ID}},
		{map[string]any{"userIds": []string{recordtest.UserID("reg")}}, publish, nil},
		{map[string]any{}, map[string]any{"blinded": false}, []string{kept.ID}},
		{map[string]any{"registrationIds": []string{team}}, publish, []string{rejected.ID}},
		{map[string]any{}, publish, []string{rejected.ID, kept.ID}},
		{map[string]any{}, map[string]any{"comment": "Seen."}, []string{rejected.ID, kept.ID}},
		{map[string]any{}, map[string]any{"published": false}, []string{rejected.ID, kept.ID}},
	} {
		var answer runs.ReviewedRuns
		s.Want(http.StatusOK, &answer, "olga", http.MethodPatch, s.dataset.Path()+"/reviews",
			map[string]any{"filter": c.filter, "review": c.review})
		got := lists.Map(answer.Data, func(r runs.ReviewedRun) string { return r.RunID })
		leftOut := 1
		if slices.Contains(c.want, rejected.ID) {
			leftOut = 0
		}
		if !slices.Equal(got, c.want) || answer.LeftOut != leftOut {
			t.Errorf("%v by %v: %v, and %d left out", c.review, c.filter, got, answer.LeftOut)
		}
	}
}

// Organizers reject a team while a request publishes runs by a filter. It leaves out the runs that it has not published before.
func TestReviews_LeaveOutTeamsRejectedMeanwhile(t *testing.T) {
	s := serve(t)
	r := s.add("reg")
	inner := s.Store
	reject := sync.OnceFunc(func() {
		team := recordtest.Get[record.RegistrationItem](t, inner, record.RegistrationKey(s.dataset.TaskID, r.Access.RegistrationID))
		team.State = record.Rejected
		s.Records().Replace(team)
	})
	s.Store = &storetest.Hooked{Store: inner, Before: func(c storetest.Call) error {
		if slices.ContainsFunc(c.Writes, func(w store.Write) bool { return w.Item.Key == record.ReviewKey(r.ID) }) {
			reject()
		}
		return nil
	}}
	var answer runs.ReviewedRuns
	s.Want(http.StatusOK, &answer, "olga", http.MethodPatch, s.dataset.Path()+"/reviews",
		map[string]any{"filter": map[string]any{}, "review": publish})
	review := recordtest.Get[record.ReviewItem](t, inner, record.ReviewKey(r.ID))
	if len(answer.Data) > 0 || answer.LeftOut != 1 || review.Published {
		t.Errorf("%+v, and the review is %+v", answer, review.ReviewDraft)
	}
}

// A request ends after 100 runs, and the next request continues at its cursor. Repeated requests review each run only once.
func TestReviews_GoesOnAtItsCursor(t *testing.T) {
	s := serve(t)
	const all = 130
	s.Records().Batch(func() {
		for range all {
			s.add("ada")
		}
	})
	body := map[string]any{"filter": map[string]any{}, "review": publish}
	first, next := s.review(body)
	again, _ := s.review(body)
	body["cursor"] = next
	rest, end := s.review(body)
	if len(first) != 100 || len(again) != 100 || len(rest) != all-100 || next == "" || end != "" {
		t.Fatalf("%d and %d runs, and then %d; cursors %q and %q", len(first), len(again), len(rest), next, end)
	}
	if n := s.audits(); n != all {
		t.Errorf("%d audit entries of %d runs", n, all)
	}
	for id := range rest {
		if _, twice := first[id]; twice {
			t.Errorf("the run %s is on both pages", id)
		}
	}
}

func TestReviews_IsRefused(t *testing.T) {
	s := serve(t)
	at, run := s.dataset.Path()+"/reviews", s.add("ada")
	for _, body := range []map[string]any{
		{"review": publish}, {"runIds": []string{run.ID}}, {"runIds": []string{run.ID}, "review": map[string]any{}},
		{"runIds": []string{run.ID, run.ID}, "review": publish}, {"runIds": []string{run.ID}, "filter": map[string]any{}, "review": publish},
		{"runIds": []string{run.ID}, "cursor": run.ID, "review": publish},
		{"filter": map[string]any{"states": []string{"done"}}, "review": publish},
	} {
		s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, at, body)
	}
	body := map[string]any{"runIds": []string{run.ID}, "review": publish}
	for user, status := range map[string]int{"": http.StatusUnauthorized, "ada": http.StatusForbidden, "reg": http.StatusForbidden,
		"robot": http.StatusForbidden} {
		s.Want(status, nil, user, http.MethodPatch, at, body)
	}
	s.Want(http.StatusPreconditionFailed, nil, "olga", http.MethodPatch, at, body, "If-Match", `"0-0"`)
	s.Want(http.StatusBadRequest, nil, "olga", http.MethodPatch, at, map[string]any{"filter": map[string]any{},
		"cursor": record.NewID(s.Now()), "review": publish})
	s.Quotas.Quotas.User.PerDay = map[string]int64{record.MadeAudits: 1}
	two := []string{s.add("ada").ID, s.add("ada").ID}
	got, _ := s.review(map[string]any{"runIds": two, "review": publish})
	if got[two[0]] != http.StatusOK || got[two[1]] != http.StatusTooManyRequests {
		t.Errorf("with a quota of one audit entry: %v", got)
	}
}
