package tasks_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/functions/tasks"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
)

// serve serves tasks with one task. The user olga organizes it, and reg is registered for it.
func serve(t *testing.T, options ...func(*record.TaskItem)) (*servertest.Server, *recordtest.Task) {
	s := servertest.New(t, tasks.Operations...)
	task := s.Records().Task(append(options, func(t *record.TaskItem) { t.Name = "Lakes" })...)
	task.Register("reg")
	return s, task
}

func TestList_Filters(t *testing.T) {
	s, task := serve(t, recordtest.Private)
	public := s.Records().Task(recordtest.OwnedBy(&record.Organizer{Meta: record.Meta{ID: task.OrganizerID}}), func(t *record.TaskItem) {
		t.Name = "Rivers"
	})
	for query, want := range map[string][2]int{ // number of tasks for anyone, and for members and registrants
		"":                           {1, 2},
		"?filter[visibility]=public": {1, 1}, "?filter[visibility]=private": {0, 1},
		"?filter[name]=LAKE": {0, 1}, "?filter[name]=river": {1, 1}, "?filter[name]=lake,river": {1, 2},
		"?filter[organizerId]=" + task.OrganizerID: {1, 2}, "?filter[organizerId]=" + record.NewID(s.Now()): {0, 0},
		"?cursor=" + public.ID: {1, 2},
	} {
		for user, want := range map[string]int{"": want[0], "uma": want[0], "reg": want[1], "olga": want[1], "root": want[1]} {
			if got := s.IDs(user, "/v1/tasks"+query); len(got) != want {
				t.Errorf("%q sees %d tasks with %s, want %d", user, len(got), query, want)
			}
		}
	}
	s.Want(http.StatusOK, nil, "reg", http.MethodGet, "/v1/tasks?cursor="+task.ID, nil)
	s.Want(http.StatusBadRequest, nil, "unrelated", http.MethodGet, "/v1/tasks?cursor="+task.ID, nil)
}

// If the indexes of the store have no lag, the datasets follow their task within the request.
func TestChange_IsAuditedAndPropagated(t *testing.T) {
	s, task := serve(t, recordtest.Private)
	dataset := task.Dataset(recordtest.Labels("Accuracy"))
	entries := 0
	for _, c := range []struct {
		patch   map[string]any
		audited bool
	}{
		{map[string]any{"name": "Rivers", "description": "other"}, false},
		{map[string]any{"submissions": map[string]any{"perDay": 3}}, true},
		{map[string]any{"submissions": map[string]any{"closesAt": "2030-01-01T00:00:00Z"}}, true},
		{map[string]any{"registration": map[string]any{"closesAt": "2026-01-01T00:00:00Z"}}, true},
		{map[string]any{"registration": map[string]any{"mode": "approval"}}, true},
		{map[string]any{"visibility": "public"}, true},
		{map[string]any{"visibility": "public"}, false},
	} {
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, task.Path(), c.patch)
		if c.audited {
			entries++
		}
		got := recordtest.AuditEntries(t, s.Store, task.OrganizerID)
		if len(got) != entries || entries > 0 && (got[0].Action != record.TaskRulesChanged || got[0].ActorID != recordtest.UserID("olga") ||
			string(got[0].Before) == string(got[0].After)) {
			t.Errorf("%v: audit entries %+v", c.patch, got)
		}
		now := recordtest.Get[record.TaskItem](t, s.Store, task.Key())
		below := recordtest.Get[record.DatasetItem](t, s.Store, dataset.Key())
		if below.Scope().Audience != now.Scope().Audience || now.PendingWork != nil {
			t.Errorf("%v: the audience is %v for the task and %v for its dataset; pending work %+v", c.patch, now.Scope().Audience,
				below.Scope().Audience, now.PendingWork)
		}
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, task.Path(), map[string]any{"organizerId": record.NewID(s.Now())})
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, task.Path(), map[string]any{
		"submissions": map[string]any{"opensAt": "2026-02-01T00:00:00Z", "closesAt": "2026-01-01T00:00:00Z"},
	})
}

// Featured tasks come first on the landing page, so only administrators of the platform choose them.
func TestTask_IsFeaturedByAdministrators(t *testing.T) {
	s, task := serve(t)
	draft := map[string]any{"organizerId": task.OrganizerID, "name": "Featured", "featured": true}
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPost, "/v1/tasks", draft)
	s.Create("root", "/v1/tasks", draft)
	for _, featured := range []bool{true, false} {
		a := s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, task.Path(), map[string]any{"featured": featured})
		if !strings.Contains(string(a.Body), `"pointer":"/featured"`) {
			t.Errorf("%s", a.Body)
		}
		s.Want(http.StatusOK, nil, "root", http.MethodPatch, task.Path(), map[string]any{"featured": featured})
		var changed record.Task
		s.Want(http.StatusOK, &changed, "olga", http.MethodPatch, task.Path(), map[string]any{"featured": featured, "description": "New"})
		if changed.Featured != featured || changed.Description != "New" {
			t.Errorf("%+v", changed)
		}
	}
}

func TestPreview_CountsTheTeamsThatMustAcceptChangedTerms(t *testing.T) {
	s, task := serve(t)
	task.Register("waits", func(r *record.RegistrationItem) { r.State = record.Pending })
	task.Register("no", func(r *record.RegistrationItem) { r.State = record.Rejected })
	terms := func(patch map[string]any) (found *api.Effect) {
		t.Helper()
		var preview api.Preview
		s.Want(http.StatusOK, &preview, "olga", http.MethodPatch, task.Path()+"?preview=true", patch)
		for i, e := range preview.Effects {
			if e.Kind == api.EffectTerms {
				found = &preview.Effects[i]
			}
		}
		return found
	}
	if e := terms(map[string]any{"terms": map[string]any{"text": "Be kind."}}); e == nil || e.Count != 2 || e.Subject != task.Path() {
		t.Errorf("%+v", e)
	}
	if e := terms(map[string]any{"description": "Be kind."}); e != nil {
		t.Errorf("%+v", e)
	}
}
