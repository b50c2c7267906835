package runs_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions/runs"
	"assay/shared/api/servertest"
	"assay/shared/blob"
	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// scene is a task with a dataset on a server; olga organizes it, and reg is registered for it.
type scene struct {
	*servertest.Server
	t         *testing.T
	organizer string
	task      *record.TaskItem
	dataset   *record.DatasetItem
}

func newScene(t *testing.T, s *servertest.Server, private bool) *scene {
	sc := &scene{Server: s, t: t, organizer: record.NewID(s.Now()), task: &record.TaskItem{}, dataset: &record.DatasetItem{}}
	sc.task.Meta, sc.task.OrganizerID, sc.task.Visibility = record.NewMeta(s.Now()), sc.organizer, record.Public
	if private {
		sc.task.Visibility = record.Private
	}
	sc.dataset.Meta, sc.dataset.TaskID = record.NewMeta(s.Now()), sc.task.ID
	sc.dataset.OrganizerID, sc.dataset.PrivateTask = sc.organizer, private
	s.Put(sc.task, sc.dataset,
		&record.Reservation{Meta: record.NewMeta(s.Now()), At: record.MembershipKey(servertest.UserID("olga"), sc.organizer)},
		&record.Registered{Meta: record.NewMeta(s.Now()), UserID: servertest.UserID("reg"), TaskID: sc.task.ID, OrganizerID: sc.organizer, PrivateTask: private, State: record.Accepted})
	return sc
}

// add makes a completed run of the user's with its submission, its review and one evaluation.
func (s *scene) add(user string, alter ...func(*record.RunItem)) *record.RunItem {
	s.t.Helper()
	r := &record.RunItem{Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.State = record.NewMeta(s.Now()), record.Completed
	r.SubmissionID, r.TaskID, r.DatasetID = record.NewID(s.Now()), s.task.ID, s.dataset.ID
	r.UserID, r.Team = servertest.UserID(user), "team of "+user
	r.Access = record.AccessAttributes{OrganizerID: s.organizer, PrivateTask: s.dataset.PrivateTask, Alias: "alias"}
	content := "the run of " + user
	sum := sha256.Sum256([]byte(content))
	f := record.File{Name: "run.txt", Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), State: record.FileStored}
	r.Files = []record.File{f}
	o := blob.Object{Key: record.ObjectKey(record.HolderRuns, r.ID, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := s.Files.Put(s.t.Context(), o, strings.NewReader(content)); err != nil {
		s.t.Fatal(err)
	}
	e := &record.EvaluationItem{}
	e.Meta = record.NewMeta(s.Now())
	r.EvaluationID, r.Evaluations = e.ID, []string{e.ID}
	for _, f := range alter {
		f(r)
	}
	at := record.At(s.Now())
	r.QueuedAt = &at
	e.Access = r.Access
	e.RunID, e.SubmissionID, e.TaskID, e.DatasetID, e.UserID = r.ID, r.SubmissionID, r.TaskID, r.DatasetID, r.UserID
	review := &record.ReviewItem{OrganizerID: s.organizer, TaskID: s.task.ID, UserID: r.UserID}
	review.Meta, review.RunID = record.NewMeta(s.Now()), r.ID
	review.Published, review.Blinded = r.Access.Published, r.Access.Blinded
	submission := &record.SubmissionItem{Access: r.Access}
	submission.Meta = record.NewMeta(s.Now())
	submission.ID, submission.TaskID, submission.UserID, submission.RunIDs = r.SubmissionID, r.TaskID, r.UserID, []string{r.ID}
	s.Put(r, e, &record.Topics{Meta: e.Meta}, review, submission)
	return r
}

func public(r *record.RunItem)    { r.Access.Public = true }
func anonymous(r *record.RunItem) { r.Access.Anonymous = true }
func published(r *record.RunItem) { r.Access.Published = true }
func blinded(r *record.RunItem)   { r.Access.Blinded = true }
func queued(r *record.RunItem)    { r.State = record.Queued }

func (s *scene) stored(key store.Key) store.Item {
	s.t.Helper()
	items, err := s.Store.Get(context.Background(), store.Strong, key)
	if err != nil {
		s.t.Fatal(err)
	}
	return items[0]
}

func (s *scene) ids(user, query string) []string {
	s.t.Helper()
	if s.Do(user, http.MethodGet, "/v1/runs"+query, nil).Status == http.StatusNoContent {
		return nil
	}
	var p struct{ Data []record.Run }
	s.Want(http.StatusOK, &p, user, http.MethodGet, "/v1/runs"+query, nil)
	var ids []string
	for _, r := range p.Data {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestList_HasWhatTheCallerMaySeeAndAskedFor(t *testing.T) {
	server := servertest.New(t, runs.Operations...)
	s, hidden := newScene(t, server, false), newScene(t, server, true)
	own := s.add("ada")
	shown := s.add("ada", public, queued)
	masked := s.add("dan", public, anonymous)
	inPrivate := hidden.add("ada", public)
	for _, tt := range []struct {
		user, query string
		want        []*record.RunItem
	}{
		{"", "", []*record.RunItem{masked, shown}},
		{"ada", "", []*record.RunItem{inPrivate, masked, shown, own}},
		{"reg", "", []*record.RunItem{inPrivate, masked, shown}},
		{"olga", "?filter[taskId]=" + s.task.ID, []*record.RunItem{masked, shown, own}},
		{"root", "", []*record.RunItem{inPrivate, masked, shown, own}},
		{"", "?filter[taskId]=" + s.task.ID + "," + hidden.task.ID, []*record.RunItem{masked, shown}},
		{"reg", "?filter[taskId]=" + hidden.task.ID, []*record.RunItem{inPrivate}},
		{"ada", "?filter[taskId]=" + hidden.task.ID, []*record.RunItem{inPrivate}},
		{"bob", "?filter[taskId]=" + hidden.task.ID, nil},
		{"", "?filter[datasetId]=" + s.dataset.ID, []*record.RunItem{masked, shown}},
		{"ada", "?filter[datasetId]=" + s.dataset.ID, []*record.RunItem{masked, shown, own}},
		{"bob", "?filter[datasetId]=" + hidden.dataset.ID, nil},
		{"", "?filter[userId]=" + servertest.UserID("ada"), []*record.RunItem{shown}},
		{"", "?filter[userId]=" + servertest.UserID("dan"), nil},
		{"", "?filter[taskId]=" + s.task.ID + "&filter[userId]=" + servertest.UserID("dan"), nil},
		{"dan", "?filter[userId]=" + servertest.UserID("dan"), []*record.RunItem{masked}},
		{"reg", "?filter[userId]=" + servertest.UserID("ada"), []*record.RunItem{inPrivate, shown}},
		{"olga", "?filter[userId]=" + servertest.UserID("dan"), []*record.RunItem{masked}},
		{"", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID, []*record.RunItem{shown}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID, []*record.RunItem{shown, own}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID + "&limit=1", []*record.RunItem{shown}},
		{"ada", "?filter[submissionId]=" + own.SubmissionID + "," + shown.SubmissionID + "&limit=1&cursor=" + own.ID, []*record.RunItem{own}},
		{"ada", "?filter[state]=queued", []*record.RunItem{shown}},
		{"ada", "?filter[state]=queued,completed&filter[userId]=" + servertest.UserID("ada"), []*record.RunItem{inPrivate, shown, own}},
	} {
		var want []string
		for _, r := range tt.want {
			want = append(want, r.ID)
		}
		if got := s.ids(tt.user, tt.query); !slices.Equal(got, want) {
			t.Errorf("%s as %q: %d runs, want %d\n%v\n%v", tt.query, tt.user, len(got), len(want), got, want)
		}
	}
	s.Want(http.StatusBadRequest, nil, "", http.MethodGet, "/v1/runs?filter[state]=done", nil)
}

func TestShow_HasLinksForThoseWhoMayRead(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	r, out := s.add("ada", public), s.add("ada", public, published)
	dark := s.add("ada", public, published, blinded)
	waits := s.add("ada", public, func(r *record.RunItem) {
		r.State = record.AwaitingUpload
		r.Files = append(r.Files, record.File{Name: "more.txt", Size: 1, SHA256: strings.Repeat("a", 64), MediaType: "text/plain", State: record.FilePending})
	})
	for _, tt := range []struct {
		user   string
		run    *record.RunItem
		links  bool
		upload bool
	}{
		{"", r, false, false}, {"ada", r, true, false}, {"olga", r, true, false}, {"root", r, true, false},
		{"", out, true, false}, {"", dark, false, false}, {"ada", dark, true, false},
		{"", waits, false, false}, {"olga", waits, true, false}, {"ada", waits, true, true},
	} {
		var got record.Run
		s.Want(http.StatusOK, &got, tt.user, http.MethodGet, "/v1/runs/"+tt.run.ID, nil)
		last := got.Files[len(got.Files)-1]
		if (got.Files[0].URL != "") != tt.links || (last.Upload != nil) != tt.upload {
			t.Errorf("as %q: %+v", tt.user, got.Files)
		}
	}
	first := s.Want(http.StatusOK, nil, "ada", http.MethodGet, "/v1/runs/"+r.ID, nil)
	s.Want(http.StatusNotModified, nil, "ada", http.MethodGet, "/v1/runs/"+r.ID, nil, "If-None-Match", first.Header.Get("ETag"))
}

// TestShow_NamesNoFilesOfAnAnonymousTeam: the same file elsewhere would tell whose it is.
func TestShow_NamesNoFilesOfAnAnonymousTeam(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	for _, tt := range []struct {
		run   *record.RunItem
		names int
	}{
		{s.add("ada", public, anonymous, blinded), 0}, {s.add("ada", public, anonymous), 0},
		{s.add("ada", public, anonymous, published, blinded), 0}, {s.add("ada", public, anonymous, published), 1},
		{s.add("ada", public, blinded), 1},
	} {
		for user, want := range map[string]int{"": tt.names, "bob": tt.names, "reg": tt.names, "ada": 1, "olga": 1} {
			var single record.Run
			a := s.Want(http.StatusOK, &single, user, http.MethodGet, "/v1/runs/"+tt.run.ID, nil)
			var list struct{ Data []record.Run }
			s.Want(http.StatusOK, &list, user, http.MethodGet, "/v1/runs?filter[submissionId]="+tt.run.SubmissionID, nil)
			if len(single.Files) != want || len(list.Data[0].Files) != want || strings.Contains(string(a.Body), tt.run.Files[0].SHA256) != (want > 0) {
				t.Errorf("%+v as %q: %d and %d files, want %d", tt.run.Access, user, len(single.Files), len(list.Data[0].Files), want)
			}
		}
	}
}

func TestShow_HidesDiagnosticsThatRevealTheTruth(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	failed := func(more ...measure.Diagnostic) func(*record.RunItem) {
		return func(r *record.RunItem) {
			r.State, r.LogTail = record.Failed, "log"
			r.AddDiagnostics(more...)
		}
	}
	revealing := measure.Diagnostic{Severity: measure.Error, Message: "secret"}
	mixed := failed(measure.Diagnostic{Severity: measure.Warning, Message: "warning", SafeWhileBlinded: true}, revealing,
		measure.Diagnostic{Severity: measure.Error, Message: "line 3", SafeWhileBlinded: true})
	const all, safe, withheld = "secret|line 3|warning", "line 3|warning", "ask the organizers"
	for _, tt := range []struct {
		name string
		run  *record.RunItem
		want map[string][2]string // diagnostics and log, by caller
	}{
		{"unpublished", s.add("ada", public, mixed), map[string][2]string{"": {"", ""}, "bob": {"", ""}, "ada": {all, "log"}, "olga": {all, "log"}, "root": {all, "log"}}},
		{"blinded", s.add("ada", public, blinded, mixed), map[string][2]string{"": {"", ""}, "bob": {"", ""}, "ada": {safe, ""}, "olga": {all, "log"}, "root": {all, "log"}}},
		{"published and blinded", s.add("ada", public, published, blinded, mixed), map[string][2]string{"": {"", ""}, "ada": {safe, ""}, "olga": {all, "log"}}},
		{"shown", s.add("ada", public, published, mixed), map[string][2]string{"": {safe, "log"}, "bob": {safe, "log"}, "ada": {all, "log"}, "olga": {all, "log"}}},
		{"nothing safe", s.add("ada", public, blinded, failed(revealing)), map[string][2]string{"": {"", ""}, "ada": {withheld, ""}, "olga": {"secret", "log"}}},
		{"queued again", s.add("ada", public, blinded, queued, func(r *record.RunItem) { r.AddDiagnostics(revealing) }), map[string][2]string{"ada": {"", ""}, "olga": {"secret", ""}}},
	} {
		for user, want := range tt.want {
			var got record.Run
			body := s.Want(http.StatusOK, &got, user, http.MethodGet, "/v1/runs/"+tt.run.ID, nil).Body
			var told []string
			for _, d := range got.Diagnostics {
				told = append(told, d.Message)
			}
			text := strings.Join(told, "|")
			if text != want[0] && (want[0] != withheld || !strings.Contains(text, withheld)) || got.LogTail != want[1] || strings.Contains(string(body), "safeWhileBlinded") {
				t.Errorf("%s, as %q: %s", tt.name, user, body)
			}
		}
	}
}

// A run that is completed says why it has no values for who is shown none.
func TestShow_SaysWhyThereAreNoValues(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	open, dark := s.add("ada", public), s.add("ada", public, blinded)
	waits, out := s.add("ada", public, blinded, queued), s.add("ada", public, published)
	for _, tt := range []struct {
		user   string
		run    *record.RunItem
		notice string
	}{
		{"ada", dark, "its owner is once the organizers unblind it"}, {"", dark, "others once they have published it"}, {"olga", dark, ""}, {"root", dark, ""},
		{"ada", open, ""}, {"", open, "others once they have published it"}, {"ada", waits, ""}, {"ada", out, ""}, {"", out, ""},
	} {
		var got record.Run
		s.Want(http.StatusOK, &got, tt.user, http.MethodGet, "/v1/runs/"+tt.run.ID, nil)
		page := string(s.Want(http.StatusOK, nil, tt.user, http.MethodGet, "/v1/runs/"+tt.run.ID, nil, "Accept", "text/html").Body)
		if !strings.Contains(got.Notice, tt.notice) || (got.Notice == "") != (tt.notice == "") || !strings.Contains(page, tt.notice) {
			t.Errorf("as %q: %q, want %q", tt.user, got.Notice, tt.notice)
		}
	}
}

func TestChange_LabelsAndCancels(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	r := s.add("ada", public, queued, func(r *record.RunItem) { r.Counted, r.Evaluations, r.EvaluationID = true, nil, "" })
	a := &record.Allowance{Meta: record.NewMeta(s.Now()), TaskID: s.task.ID, Total: 1, Recent: []string{r.ID}}
	a.ID = r.UserID
	s.Put(a)
	path := "/v1/runs/" + r.ID
	var got record.Run
	s.Want(http.StatusOK, &got, "ada", http.MethodPatch, path, map[string]any{"label": "first"})
	if got.Label != "first" || got.State != record.Queued {
		t.Fatalf("%+v", got)
	}
	s.Want(http.StatusForbidden, nil, "bob", http.MethodPatch, path, map[string]any{"label": "mine"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path, map[string]any{"state": "completed"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path, map[string]any{"state": "done"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, path, map[string]any{"attempts": 0, "userId": "x"})
	s.Want(http.StatusOK, &got, "ada", http.MethodPatch, path, map[string]any{"state": "cancelled", "label": "last"})
	if got.Label != "last" || got.State != record.Cancelled || got.FinishedAt == nil {
		t.Fatalf("%+v", got)
	}
	s.Want(http.StatusOK, nil, "ada", http.MethodPatch, path, map[string]any{"state": "cancelled"})
	left, err := records.Decode[record.Allowance](s.stored(a.Key()))
	if err != nil || left.Total != 0 || len(left.Recent) != 0 {
		t.Fatalf("a cancelled run counts: %+v", left)
	}
	again := s.add("ada", public, queued)
	s.Want(http.StatusConflict, nil, "ada", http.MethodPatch, "/v1/runs/"+again.ID, map[string]any{"state": "cancelled"})
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPatch, "/v1/runs/"+again.ID, map[string]any{"label": "two\nlines"})
	done := s.add("ada", public)
	s.Want(http.StatusConflict, nil, "ada", http.MethodPatch, "/v1/runs/"+done.ID, map[string]any{"state": "cancelled"})
}

func TestRemove_LeavesNothing(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	r := s.add("ada", public)
	out := s.add("ada", public, published)
	s.Want(http.StatusForbidden, nil, "bob", http.MethodDelete, "/v1/runs/"+r.ID, nil)
	s.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, "/v1/runs/"+r.ID, nil)
	s.Want(http.StatusNotFound, nil, "ada", http.MethodGet, "/v1/runs/"+r.ID, nil)
	s.Want(http.StatusConflict, nil, "ada", http.MethodDelete, "/v1/runs/"+out.ID, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/runs/"+out.ID, nil)
	for _, r := range []*record.RunItem{r, out} {
		for _, key := range []store.Key{r.Key(), record.ReviewKey(r.ID), record.EvaluationKey(r.EvaluationID), record.TopicsKey(r.EvaluationID)} {
			if it := s.stored(key); it.Exists() {
				t.Errorf("%v is still there", key)
			}
		}
		submission, err := records.Decode[record.SubmissionItem](s.stored(record.SubmissionKey(r.SubmissionID)))
		if err != nil || len(submission.RunIDs) != 0 {
			t.Errorf("the submission names %v, %v", submission.RunIDs, err)
		}
		if _, err := s.Files.Stat(t.Context(), record.ObjectKey(record.HolderRuns, r.ID, r.Files[0].SHA256)); err == nil {
			t.Error("its file is still there")
		}
	}
	if n := len(s.audit()); n != 2 {
		t.Errorf("%d audit entries, want one of each deletion", n)
	}
}

func (s *scene) audit() []store.Item {
	s.t.Helper()
	items, err := s.Store.Query(s.t.Context(), store.Query{Partition: record.AuditPartition(s.task.OrganizerID), Limit: 10})
	if err != nil {
		s.t.Fatal(err)
	}
	return items
}

func TestReview_DecidesWhoSeesResults(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	r := s.add("ada", blinded)
	path := "/v1/runs/" + r.ID + "/review"
	for user, want := range map[string][2]int{"": {404, 404}, "bob": {404, 404}, "ada": {200, 403}, "olga": {200, 200}, "root": {200, 200}} {
		s.Want(want[0], nil, user, http.MethodGet, path, nil)
		s.Want(want[1], nil, user, http.MethodPatch, path, map[string]any{"comment": "by " + user})
	}
	var got record.Review
	s.Want(http.StatusOK, &got, "olga", http.MethodPatch, path, map[string]any{"published": true, "blinded": false, "noErrors": true})
	if !got.Published || got.ReviewerID != servertest.UserID("olga") || got.ReviewedAt == nil || got.Version < 2 {
		t.Fatalf("%+v", got)
	}
	run, err := records.Decode[record.RunItem](s.stored(r.Key()))
	if err != nil || !run.Access.Published || run.Access.Blinded {
		t.Fatalf("%+v %v", run.Access, err)
	}
	e, err := records.Decode[record.EvaluationItem](s.stored(record.EvaluationKey(r.EvaluationID)))
	if err != nil || e.Access != run.Access {
		t.Fatalf("the evaluation has %+v", e.Access)
	}
	if n := len(s.audit()); n != 3 {
		t.Errorf("%d audit entries, want 3", n)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, map[string]any{"reviewerId": "x"})
}

// TestReview_HasDiagnosticsForOrganizers: all of them, also while the run is blinded, and the owner none.
func TestReview_HasDiagnosticsForOrganizers(t *testing.T) {
	s := newScene(t, servertest.New(t, runs.Operations...), false)
	of := func(name string, safe bool) measure.Diagnostic {
		return measure.Diagnostic{Severity: measure.Warning, Message: name, SafeWhileBlinded: safe}
	}
	r := s.add("ada", blinded, func(r *record.RunItem) { r.AddDiagnostics(of("of the file", true), of("of the truth", false)) })
	path := "/v1/runs/" + r.ID + "/review"
	for user, want := range map[string]int{"ada": 0, "olga": 2, "root": 2} {
		var got record.Review
		body := s.Want(http.StatusOK, &got, user, http.MethodGet, path, nil).Body
		if len(got.Diagnostics) != want || strings.Contains(string(body), "safeWhileBlinded") {
			t.Errorf("%s reads %s", user, body)
		}
	}
	var got record.Review
	s.Want(http.StatusOK, &got, "olga", http.MethodPatch, path, `{"noErrors":true}`, "Content-Type", "application/merge-patch+json")
	if stored := string(s.stored(record.ReviewKey(r.ID)).Data); len(got.Diagnostics) != 2 || strings.Contains(stored, "of the truth") {
		t.Errorf("%+v, stored %s", got, stored)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, path, `{"diagnostics":[]}`, "Content-Type", "application/merge-patch+json")
}
