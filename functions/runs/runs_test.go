package runs_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/runs"
	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// fixture serves the runs of a dataset. The user olga organizes its task, and reg is registered for it.
type fixture struct {
	*servertest.Server
	t       *testing.T
	dataset *recordtest.Dataset
}

func serve(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Server: servertest.New(t, runs.Operations...), t: t}
	f.dataset = f.newDataset()
	return f
}

func (f *fixture) newDataset(options ...func(*record.TaskItem)) *recordtest.Dataset {
	f.t.Helper()
	task := f.Records().Task(options...)
	task.Register("reg")
	return task.Dataset()
}

// add makes a run of the user with a file.
func (f *fixture) add(user string, options ...recordtest.RunOption) *recordtest.Run {
	f.t.Helper()
	return f.dataset.Run(user, append(options, recordtest.Content("run.txt", "the run of "+user))...)
}

// diagnosed gives the run diagnostics.
func diagnosed(diagnostics ...measure.Diagnostic) recordtest.RunOption {
	return func(r *recordtest.Run) { r.AddDiagnostics(diagnostics...) }
}

func path(r *recordtest.Run) string { return "/v1/runs/" + r.ID }

func TestList_HasWhatTheCallerMaySeeAndAskedFor(t *testing.T) {
	s := serve(t)
	hidden := s.newDataset(recordtest.Private)
	own := s.add("ada")
	shown := s.add("ada", recordtest.Public, recordtest.Queued)
	masked := s.add("dan", recordtest.Public, recordtest.Anonymous)
	inPrivate := hidden.Run("ada", recordtest.Public)
	for _, tt := range []struct {
		user, query string
		want        []*recordtest.Run
	}{
		{"", "", []*recordtest.Run{masked, shown}},
		{"ada", "", []*recordtest.Run{inPrivate, masked, shown, own}},
		{"reg", "", []*recordtest.Run{inPrivate, masked, shown}},
		{"olga", "?filter[taskId]=" + s.dataset.TaskID, []*recordtest.Run{masked, shown, own}},
		{"root", "", []*recordtest.Run{inPrivate, masked, shown, own}},
		{"", "?filter[taskId]=" + s.dataset.TaskID + "," + hidden.TaskID, []*recordtest.Run{masked, shown}},
		{"reg", "?filter[taskId]=" + hidden.TaskID, []*recordtest.Run{inPrivate}},
		{"ada", "?filter[taskId]=" + hidden.TaskID, []*recordtest.Run{inPrivate}},
		{"bob", "?filter[taskId]=" + hidden.TaskID, nil},
		{"", "?filter[datasetId]=" + s.dataset.ID, []*recordtest.Run{masked, shown}},
		{"ada", "?filter[datasetId]=" + s.dataset.ID, []*recordtest.Run{masked, shown, own}},
		{"bob", "?filter[datasetId]=" + hidden.ID, nil},
		{"", "?filter[userId]=" + recordtest.UserID("ada"), []*recordtest.Run{shown}},
		{"", "?filter[userId]=" + recordtest.UserID("dan"), nil},
		{"", "?filter[taskId]=" + s.dataset.TaskID + "&filter[userId]=" + recordtest.UserID("dan"), nil},
		{"dan", "?filter[userId]=" + recordtest.UserID("dan"), []*recordtest.Run{masked}},
		{"reg", "?filter[userId]=" + recordtest.UserID("ada"), []*recordtest.Run{inPrivate, shown}},
		{"olga", "?filter[userId]=" + recordtest.UserID("dan"), []*recordtest.Run{masked}},
		{"", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID, []*recordtest.Run{shown}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID, []*recordtest.Run{shown, own}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID + "&limit=1", []*recordtest.Run{shown}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID + "&limit=1&cursor=" + own.ID, []*recordtest.Run{own}},
		{"ada", "?filter[state]=queued", []*recordtest.Run{shown}},
		{"ada", "?filter[state]=queued,completed&filter[userId]=" + recordtest.UserID("ada"), []*recordtest.Run{inPrivate, shown, own}},
	} {
		var want []string
		for _, r := range tt.want {
			want = append(want, r.ID)
		}
		if got := s.IDs(tt.user, "/v1/runs"+tt.query); !slices.Equal(got, want) {
			t.Errorf("%s as %q: %d runs, want %d\n%v\n%v", tt.query, tt.user, len(got), len(want), got, want)
		}
	}
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, "/v1/runs?filter[state]=done", nil)
}

func TestShow_HasLinksForThoseWhoMayRead(t *testing.T) {
	s := serve(t)
	r := s.add("ada", recordtest.Public)
	out := s.add("ada", recordtest.Public, recordtest.Published)
	dark := s.add("ada", recordtest.Public, recordtest.Published, recordtest.Blinded)
	waits := s.dataset.Run("ada", recordtest.Public, recordtest.InState(record.AwaitingUpload), recordtest.Content("run.txt", "a file"),
		func(r *recordtest.Run) {
			r.Files = append(r.Files, recordtest.File("more.txt", "another", record.FilePending))
		})
	for _, tt := range []struct {
		user   string
		run    *recordtest.Run
		links  bool
		upload bool
	}{
		{"", r, false, false}, {"ada", r, true, false}, {"olga", r, true, false}, {"root", r, true, false},
		{"", out, true, false}, {"", dark, false, false}, {"ada", dark, true, false},
		{"", waits, false, false}, {"olga", waits, true, false}, {"ada", waits, true, true},
	} {
		got := servertest.Get[record.Run](s.Server, tt.user, path(tt.run))
		last := got.Files[len(got.Files)-1]
		if (got.Files[0].URL != "") != tt.links || (last.Upload != nil) != tt.upload {
			t.Errorf("as %q: %+v", tt.user, got.Files)
		}
	}
	first := s.Want(http.StatusOK, nil, "ada", http.MethodGet, path(r), nil)
	s.Want(http.StatusNotModified, nil, "ada", http.MethodGet, path(r), nil, "If-None-Match", first.Header.Get("ETag"))
}

// The same file in another place would reveal its team.
func TestShow_NamesNoFilesOfAnAnonymousTeam(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		run   *recordtest.Run
		names int
	}{
		{s.add("ada", recordtest.Public, recordtest.Anonymous, recordtest.Blinded), 0},
		{s.add("ada", recordtest.Public, recordtest.Anonymous), 0},
		{s.add("ada", recordtest.Public, recordtest.Anonymous, recordtest.Published, recordtest.Blinded), 0},
		{s.add("ada", recordtest.Public, recordtest.Anonymous, recordtest.Published), 1},
		{s.add("ada", recordtest.Public, recordtest.Blinded), 1},
	} {
		for user, want := range map[string]int{"": tt.names, "bob": tt.names, "reg": tt.names, "ada": 1, "olga": 1} {
			var single record.Run
			a := s.Want(http.StatusOK, &single, user, http.MethodGet, path(tt.run), nil)
			list := servertest.List[record.Run](s.Server, user, "/v1/runs?filter[submissionId]="+tt.run.SubmissionID)
			if len(single.Files) != want || len(list[0].Files) != want || strings.Contains(string(a.Body), tt.run.Files[0].SHA256) != (want > 0) {
				t.Errorf("%+v as %q: %d and %d files, want %d", tt.run.Access, user, len(single.Files), len(list[0].Files), want)
			}
		}
	}
}

func TestShow_HidesDiagnosticsThatRevealTheTruth(t *testing.T) {
	s := serve(t)
	failed := func(more ...measure.Diagnostic) recordtest.RunOption {
		return func(r *recordtest.Run) {
			r.State, r.LogTail = record.Failed, "log"
			r.AddDiagnostics(more...)
		}
	}
	revealing := measure.Diagnostic{Severity: measure.Error, Message: "secret"}
	mixed := failed(measure.Diagnostic{Severity: measure.Warning, Message: "warning", SafeWhileBlinded: true}, revealing,
		measure.Diagnostic{Severity: measure.Error, Message: "line 3", SafeWhileBlinded: true})
	const (
		all      = "secret|line 3|warning"
		safe     = "line 3|warning"
		withheld = "ask the organizers"
	)
	for _, tt := range []struct {
		name string
		run  *recordtest.Run
		want map[string][2]string // diagnostics and log by caller
	}{
		{"unpublished", s.add("ada", recordtest.Public, mixed), map[string][2]string{
			"": {"", ""}, "bob": {"", ""}, "ada": {all, "log"}, "olga": {all, "log"}, "root": {all, "log"}}},
		{"blinded", s.add("ada", recordtest.Public, recordtest.Blinded, mixed), map[string][2]string{
			"": {"", ""}, "bob": {"", ""}, "ada": {safe, ""}, "olga": {all, "log"}, "root": {all, "log"}}},
		{"published and blinded", s.add("ada", recordtest.Public, recordtest.Published, recordtest.Blinded, mixed), map[string][2]string{
			"": {"", ""}, "ada": {safe, ""}, "olga": {all, "log"}}},
		{"shown", s.add("ada", recordtest.Public, recordtest.Published, mixed), map[string][2]string{
			"": {safe, "log"}, "bob": {safe, "log"}, "ada": {all, "log"}, "olga": {all, "log"}}},
		{"nothing safe", s.add("ada", recordtest.Public, recordtest.Blinded, failed(revealing)), map[string][2]string{
			"": {"", ""}, "ada": {withheld, ""}, "olga": {"secret", "log"}}},
		{"queued again", s.add("ada", recordtest.Public, recordtest.Blinded, recordtest.Queued, diagnosed(revealing)), map[string][2]string{
			"ada": {"", ""}, "olga": {"secret", ""}}},
	} {
		for user, want := range tt.want {
			var got record.Run
			body := s.Want(http.StatusOK, &got, user, http.MethodGet, path(tt.run), nil).Body
			var messages []string
			for _, d := range got.Diagnostics {
				messages = append(messages, d.Message)
			}
			text := strings.Join(messages, "|")
			if text != want[0] && (want[0] != withheld || !strings.Contains(text, withheld)) || got.LogTail != want[1] ||
				strings.Contains(string(body), "safeWhileBlinded") {
				t.Errorf("%s, as %q: %s", tt.name, user, body)
			}
		}
	}
}

// A review says who sees the results. It does not tell the team whether a blinded run has any.
func TestReview_SaysWhoSeesResults(t *testing.T) {
	s := serve(t)
	for want, run := range map[string]*recordtest.Run{
		"everyone": s.add("ada", recordtest.Published), "team": s.add("ada"),
		"organizers": s.add("ada", recordtest.Published, recordtest.Blinded), "": s.add("ada", recordtest.Published, recordtest.Queued),
	} {
		told := func(user string) string {
			return servertest.Get[record.Review](s.Server, user, path(run)+"/review").Audience
		}
		if got := told("olga"); got != want {
			t.Errorf("organizers are told %q, want %q", got, want)
		}
		if got := told("ada"); got != want && want != "organizers" || got == "organizers" {
			t.Errorf("the team is told %q, where organizers are told %q", got, want)
		}
	}
}

// A completed run says why the caller sees no values. Others than the team cannot tell from it whether the run is blinded.
func TestShow_SaysWhyThereAreNoValues(t *testing.T) {
	s := serve(t)
	open := s.add("ada", recordtest.Public)
	dark := s.add("ada", recordtest.Public, recordtest.Blinded)
	published := s.add("ada", recordtest.Public, recordtest.Blinded, recordtest.Published)
	waits := s.add("ada", recordtest.Public, recordtest.Blinded, recordtest.Queued)
	out := s.add("ada", recordtest.Public, recordtest.Published)
	worker := s.add("ada", recordtest.Public, recordtest.OfImage)
	const outside = "The run is completed. Others than its team and the organizers see the values that it has once it is published " +
		"and not blinded."
	for _, tt := range []struct {
		user   string
		run    *recordtest.Run
		notice string
	}{
		{"ada", dark, "to its team once the organizers have unblinded it, and to others once the organizers have published it"},
		{"olga", dark, ""}, {"root", dark, ""}, {"ada", open, ""},
		{"ada", published, "to its team and to others once the organizers have unblinded it."},
		{"", dark, outside}, {"", published, outside}, {"", open, outside}, {"ada", waits, ""}, {"ada", out, ""}, {"", out, ""},
		{"ada", worker, "waits for a worker of the pool default."}, {"olga", worker, "waits for a worker"}, {"", worker, ""},
	} {
		got := servertest.Get[record.Run](s.Server, tt.user, path(tt.run))
		page := string(s.Want(http.StatusOK, nil, tt.user, http.MethodGet, path(tt.run), nil, "Accept", "text/html").Body)
		if !strings.Contains(got.Notice, tt.notice) || (got.Notice == "") != (tt.notice == "") || !strings.Contains(page, tt.notice) {
			t.Errorf("as %q: %q, want %q", tt.user, got.Notice, tt.notice)
		}
	}
}

func TestChange_LabelsAndCancels(t *testing.T) {
	s := serve(t)
	r := s.add("ada", recordtest.Public, recordtest.Queued)
	a := &record.Allowance{Meta: record.MetaOf(r.UserID, s.Now()), TaskID: r.TaskID, Used: record.Used{Total: 1, Recent: []string{r.ID}}}
	s.Records().Put(a)
	var got record.Run
	s.Want(http.StatusOK, &got, "ada", http.MethodPatch, path(r), map[string]any{"label": "first"})
	if got.Label != "first" || got.State != record.Queued {
		t.Fatalf("%+v", got)
	}
	s.Want(http.StatusForbidden, nil, "bob", http.MethodPatch, path(r), map[string]any{"label": "mine"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path(r), map[string]any{"state": "completed"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path(r), map[string]any{"state": "done"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path(r), map[string]any{"attempts": 0, "userId": "x"})
	s.Want(http.StatusOK, &got, "ada", http.MethodPatch, path(r), map[string]any{"state": "cancelled", "label": "last"})
	if got.Label != "last" || got.State != record.Cancelled || got.FinishedAt == nil {
		t.Fatalf("%+v", got)
	}
	s.Want(http.StatusOK, nil, "ada", http.MethodPatch, path(r), map[string]any{"state": "cancelled"})
	if left := recordtest.Get[record.Allowance](t, s.Store, a.Key()); left.Total != 0 || len(left.Recent) != 0 {
		t.Fatalf("a cancelled run counts: %+v", left)
	}
	again := s.add("ada", recordtest.Public, func(r *recordtest.Run) { r.State = record.Queued }) // It was evaluated once before.
	s.Want(http.StatusConflict, nil, "ada", http.MethodPatch, path(again), map[string]any{"state": "cancelled"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path(again), map[string]any{"label": "two\nlines"})
	done := s.add("ada", recordtest.Public)
	s.Want(http.StatusConflict, nil, "ada", http.MethodPatch, path(done), map[string]any{"state": "cancelled"})
}

func TestRemove_LeavesNothing(t *testing.T) {
	s := serve(t)
	r := s.add("ada", recordtest.Public)
	out := s.add("ada", recordtest.Public, recordtest.Published)
	s.Want(http.StatusForbidden, nil, "bob", http.MethodDelete, path(r), nil)
	s.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, path(r), nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, path(r), nil)
	s.Want(http.StatusConflict, nil, "ada", http.MethodDelete, path(out), nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path(out), nil)
	for _, r := range []*recordtest.Run{r, out} {
		for _, key := range []store.Key{r.Key(), record.ReviewKey(r.ID), record.EvaluationKey(r.EvaluationID), record.TopicsKey(r.EvaluationID)} {
			if items, err := s.Store.Get(t.Context(), store.Strong, key); err != nil || items[0].Exists() {
				t.Errorf("%v is still there: %v", key, err)
			}
		}
		if s := recordtest.Get[record.SubmissionItem](t, s.Store, r.Submission.Key()); len(s.RunIDs) != 0 {
			t.Errorf("the submission names %v", s.RunIDs)
		}
		if _, err := s.Files.Stat(t.Context(), record.ObjectKey(record.HolderRuns, r.ID, r.Files[0].SHA256)); err != nil {
			t.Error("its file is gone while it can be restored")
		}
	}
	if n := len(recordtest.AuditEntries(t, s.Store, r.Access.OrganizerID)); n != 2 {
		t.Errorf("%d audit entries, want one of each deletion", n)
	}
}

func TestReview_DecidesWhoSeesResults(t *testing.T) {
	s := serve(t)
	r := s.add("ada", recordtest.Blinded)
	review := path(r) + "/review"
	s.Want(http.StatusOK, nil, "olga", http.MethodPatch, review, map[string]any{"comment": "late"})
	var got record.Review
	s.Want(http.StatusOK, &got, "olga", http.MethodPatch, review, map[string]any{"published": true, "blinded": false, "noErrors": true})
	if !got.Published || got.ReviewerID != recordtest.UserID("olga") || got.ReviewedAt == nil || got.Version < 2 {
		t.Fatalf("%+v", got)
	}
	run := recordtest.Get[record.RunItem](t, s.Store, r.Key())
	if !run.Access.Published || run.Access.Blinded {
		t.Fatalf("%+v", run.Access)
	}
	if e := recordtest.Get[record.EvaluationItem](t, s.Store, r.Evaluation.Key()); e.Access != run.Access {
		t.Fatalf("the evaluation has %+v", e.Access)
	}
	if n := len(recordtest.AuditEntries(t, s.Store, r.Access.OrganizerID)); n != 2 {
		t.Errorf("%d audit entries, want one of each change", n)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, review, map[string]any{"reviewerId": "x"})
}

// Organizers read all diagnostics, also while the run is blinded. The owner reads none in the review.
func TestReview_HasDiagnosticsForOrganizers(t *testing.T) {
	s := serve(t)
	of := func(name string, safe bool) measure.Diagnostic {
		return measure.Diagnostic{Severity: measure.Warning, Message: name, SafeWhileBlinded: safe}
	}
	r := s.add("ada", recordtest.Blinded, diagnosed(of("of the file", true), of("of the truth", false)))
	review := path(r) + "/review"
	for user, want := range map[string]int{"ada": 0, "olga": 2, "root": 2} {
		var got record.Review
		body := s.Want(http.StatusOK, &got, user, http.MethodGet, review, nil).Body
		if len(got.Diagnostics) != want || strings.Contains(string(body), "safeWhileBlinded") {
			t.Errorf("%s reads %s", user, body)
		}
	}
	var got record.Review
	s.Want(http.StatusOK, &got, "olga", http.MethodPatch, review, `{"noErrors":true}`, "Content-Type", "application/merge-patch+json")
	if stored := recordtest.Get[record.ReviewItem](t, s.Store, record.ReviewKey(r.ID)); len(got.Diagnostics) != 2 ||
		len(stored.Diagnostics) != 0 {
		t.Errorf("%+v, stored %+v", got, stored)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, review, `{"diagnostics":[]}`, "Content-Type",
		"application/merge-patch+json")
}
