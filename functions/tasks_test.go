package functions_test

import (
	"assay/functions"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/shared/api/servertest"
	"assay/shared/deletion"
	"assay/shared/propagation"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

type taskScene struct {
	*servertest.Server
	t    *testing.T
	lab  string // id of olivia's organizer
	task string // path of its task
	id   string // id of the task
}

func newTaskScene(t *testing.T, visibility string) *taskScene {
	t.Helper()
	s := &taskScene{Server: servertest.New(t, functions.Operations()...), t: t}
	s.lab = strings.TrimPrefix(s.Create("olivia", "/v1/organizers", map[string]any{"name": "Lab"}), "/v1/organizers/")
	s.task = s.Create("olivia", "/v1/tasks", map[string]any{"organizerId": s.lab, "name": "Lakes", "visibility": visibility})
	s.id = strings.TrimPrefix(s.task, "/v1/tasks/")
	return s
}

// submitted puts a public submission of tom's with an evaluated and published run below the task, as it would stand there.
func (s *taskScene) submitted(private bool) *record.RunItem {
	s.t.Helper()
	now := time.Now()
	attributes := record.AccessAttributes{OrganizerID: s.lab, PrivateTask: private, Public: true, Published: true, Alias: "anonymous-tom"}
	d := &record.DatasetItem{OrganizerID: s.lab, PrivateTask: private}
	d.Meta, d.TaskID, d.Name, d.TruthVersion = record.NewMeta(now), s.id, "Lakes", 1
	d.Evaluator = record.Evaluator{Kind: "retrieval", Measures: []string{"AP"}, PrimaryMeasure: "AP"}
	sub := &record.SubmissionItem{Access: attributes}
	sub.Meta, sub.TaskID, sub.UserID, sub.Team = record.NewMeta(now), s.id, servertest.UserID("tom"), "T"
	r := &record.RunItem{Access: attributes}
	r.Meta, r.TaskID, r.DatasetID, r.SubmissionID, r.UserID, r.Team, r.State = record.NewMeta(now), s.id, d.ID, sub.ID, sub.UserID, "T", record.Completed
	value := 0.5
	e := &record.EvaluationItem{Access: attributes}
	e.Meta, e.TaskID, e.DatasetID, e.RunID, e.SubmissionID, e.UserID, e.Team = record.NewMeta(now), s.id, d.ID, r.ID, sub.ID, sub.UserID, "T"
	e.TruthVersion, e.PrimaryMeasure, e.Measures = 1, "AP", map[string]*float64{"AP": &value}
	r.EvaluationID, r.Evaluations, sub.RunIDs = e.ID, []string{e.ID}, []string{r.ID}
	s.Put(d, sub, r, e)
	return r
}

// seen says how many of each list an anonymous caller sees.
func (s *taskScene) seen() string {
	s.t.Helper()
	var counts []string
	for _, path := range []string{"/v1/tasks", "/v1/datasets", "/v1/runs", "/v1/evaluations"} {
		var list struct{ Data []map[string]any }
		if a := s.Do("", http.MethodGet, path, nil); a.Status == http.StatusOK {
			s.Want(http.StatusOK, &list, "", http.MethodGet, path, nil)
		}
		counts = append(counts, fmt.Sprint(len(list.Data)))
	}
	return strings.Join(counts, " ")
}

func TestUpdateTask_PropagatesVisibility(t *testing.T) {
	s := newTaskScene(t, "private")
	r := s.submitted(true)
	s.Know("tom")
	s.Create("olivia", s.task+"/registrations", map[string]any{"team": "T", "userId": servertest.UserID("tom")})
	for _, step := range []struct{ visibility, seen string }{{"private", "0 0 0 0"}, {"public", "1 1 1 1"}, {"private", "0 0 0 0"}, {"public", "1 1 1 1"}} {
		s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, map[string]any{"visibility": step.visibility})
		if got := s.seen(); got != step.seen {
			t.Fatalf("%s: strangers see %s tasks, datasets, runs, evaluations; want %s", step.visibility, got, step.seen)
		}
		status := http.StatusOK
		if step.visibility == "private" {
			status = http.StatusNotFound
		}
		s.Want(status, nil, "", http.MethodGet, "/v1/runs/"+r.ID, nil)
		s.Want(status, nil, "", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
		s.Want(http.StatusOK, nil, "tom", http.MethodGet, "/v1/evaluations/"+r.EvaluationID, nil)
	}
	var entries struct{ Data []record.AuditEntry }
	s.Want(http.StatusOK, &entries, "olivia", http.MethodGet, s.task+"/audit-entries?filter[action]=task.rules-changed", nil)
	if len(entries.Data) != 3 || entries.Data[0].Action != "task.rules-changed" {
		t.Errorf("%d audit entries: %+v", len(entries.Data), entries.Data)
	}
}

// The request that changed the visibility died before anything followed; the evaluator takes the work up, and dies in the
// middle of it once more.
func TestUpdateTask_ResumesPropagation(t *testing.T) {
	s := newTaskScene(t, "private")
	s.submitted(true)
	ctx := context.Background()
	key := record.TaskKey(s.id)
	task, err := records.Get[record.TaskItem](ctx, s.Store, store.Strong, key)
	if err != nil {
		t.Fatal(err)
	}
	task.Visibility, task.PendingWork = record.Public, record.NewPendingWork(record.PropagateTask, time.Now())
	if err := new(records.Tx).Replace(task).Commit(ctx, s.Store); err != nil {
		t.Fatal(err)
	}
	for calls := 1; ; calls++ {
		dying := &mortal{Store: s.Store, calls: calls}
		if err := (propagation.Propagator{Store: dying, Now: time.Now}).Task(ctx, key); err == nil {
			break
		}
		if calls > 1000 {
			t.Fatal("it never comes to an end")
		}
	}
	if got := s.seen(); got != "1 1 1 1" {
		t.Fatalf("strangers see %s", got)
	}
	for pass := range 2 {
		later := func() time.Time { return time.Now().Add(time.Duration(pass) * time.Minute) }
		if err := (propagation.Propagator{Store: s.Store, Now: later}).Task(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	if task, err = records.Get[record.TaskItem](ctx, s.Store, store.Strong, key); err != nil || task.PendingWork != nil {
		t.Errorf("after two passes work is still pending: %+v, %v", task.PendingWork, err)
	}
}

// mortal is a store that fails from a certain call on.
type mortal struct {
	store.Store
	calls int
}

func (m *mortal) die() error {
	if m.calls--; m.calls < 0 {
		return context.Canceled
	}
	return nil
}

func (m *mortal) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := m.die(); err != nil {
		return nil, err
	}
	return m.Store.Get(ctx, c, keys...)
}

func (m *mortal) Write(ctx context.Context, w ...store.Write) error {
	if err := m.die(); err != nil {
		return err
	}
	return m.Store.Write(ctx, w...)
}

func TestDeleteTask_DeletesDatasetsAndRegistrations(t *testing.T) {
	s := newTaskScene(t, "public")
	for i := range 3 {
		s.Create(fmt.Sprintf("user%d", i), s.task+"/registrations", map[string]any{"team": fmt.Sprintf("T%d", i)})
	}
	dataset := s.Create("olivia", "/v1/datasets", map[string]any{
		"taskId": s.id, "name": "Lakes", "split": "test", "runFormat": map[string]any{"kind": "trec-run"},
		"truths":    []any{map[string]any{"name": "qrels", "content": "MSAwIGEgMQo="}},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	})
	if n := s.files(); n != 1 {
		t.Fatalf("%d files are stored, want the truth", n)
	}
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, "/v1/organizers/"+s.lab, nil)
	s.Want(http.StatusForbidden, nil, "user1", http.MethodDelete, s.task, nil)
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.task, nil)
	for _, path := range []string{s.task, dataset, s.task + "/registrations"} {
		s.Want(http.StatusNotFound, nil, "olivia", http.MethodGet, path, nil)
	}
	if n := s.files(); n != 0 {
		t.Errorf("%d files stay behind", n)
	}
	var me struct{ Registrations []any }
	s.Want(http.StatusOK, &me, "user1", http.MethodGet, "/v1/user", nil)
	if len(me.Registrations) > 0 {
		t.Errorf("a registration for nothing: %v", me.Registrations)
	}
	if err := (deletion.Deleter{Store: s.Store, Now: s.Now}).SweepTask(context.Background(), record.DeletedTaskKey(s.id)); err != nil {
		t.Fatal(err)
	}
	left, err := s.Store.Query(context.Background(), store.Query{Partition: record.TaskKey(s.id).Partition, Limit: 10, Consistency: store.Strong})
	if err != nil || len(left) > 0 {
		t.Errorf("%d items are left of the task: %v", len(left), err)
	}
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, "/v1/organizers/"+s.lab, nil)
}

// files counts the files that are stored.
func (s *taskScene) files() (n int) {
	s.t.Helper()
	for _, err := range s.Files.List(s.t.Context(), "", time.Now().Add(time.Minute)) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestDeleteTask_IsRefusedWithSubmissions(t *testing.T) {
	s := newTaskScene(t, "public")
	s.submitted(false)
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, s.task, nil)
	s.Want(http.StatusOK, nil, "", http.MethodGet, s.task, nil)
}

// A submission comes in after the deletion has looked for submissions.
func TestDeleteTask_RacesWithNewSubmission(t *testing.T) {
	s := newTaskScene(t, "public")
	s.Create("tom", s.task+"/registrations", map[string]any{"team": "T"})
	a := &record.Allowance{Meta: record.NewMeta(time.Now()), TaskID: s.id, Submissions: 1}
	a.ID = servertest.UserID("tom")
	s.Put(a)
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, s.task, nil)
	s.Want(http.StatusOK, nil, "", http.MethodGet, s.task, nil)
	var list struct{ Data []record.Registration }
	s.Want(http.StatusOK, &list, "tom", http.MethodGet, s.task+"/registrations", nil)
	if len(list.Data) != 1 {
		t.Error("the registration is gone")
	}
}

// The request that marked the task died before it met the submission; the evaluator meets it.
func TestDeleteTask_IsUndoneWhenRefused(t *testing.T) {
	s := newTaskScene(t, "public")
	s.submitted(false)
	ctx := t.Context()
	task, err := records.Get[record.TaskItem](ctx, s.Store, store.Strong, record.TaskKey(s.id))
	if err != nil {
		t.Fatal(err)
	}
	task.PendingWork = record.NewPendingWork(record.DeleteTask, time.Now())
	if err := new(records.Tx).Replace(task).Commit(ctx, s.Store); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, s.task, nil)
	if err := (deletion.Deleter{Store: s.Store, Now: time.Now}).ResumeTask(ctx, task.Key()); err != nil {
		t.Fatal(err)
	}
	s.Want(http.StatusOK, nil, "", http.MethodGet, s.task, nil)
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, s.task, nil)
}

func TestListTasks_Filters(t *testing.T) {
	s := newTaskScene(t, "public")
	s.Create("olivia", "/v1/tasks", map[string]any{"organizerId": s.lab, "name": "Rivers", "visibility": "private"})
	for query, want := range map[string][2]int{ // anonymous, olivia
		"":                           {1, 2},
		"?filter[visibility]=public": {1, 1}, "?filter[visibility]=private": {0, 1},
		"?filter[name]=LAKE": {1, 1}, "?filter[name]=river": {0, 1}, "?filter[name]=lake,river": {1, 2},
		"?filter[organizerId]=" + s.lab: {1, 2}, "?filter[organizerId]=01JZ3V7Q0D8T5RZ0S6R1W9C4XK": {0, 0},
	} {
		for i, user := range []string{"", "olivia"} {
			var list struct{ Data []record.Task }
			if a := s.Do(user, http.MethodGet, "/v1/tasks"+query, nil); a.Status == http.StatusOK {
				s.Want(http.StatusOK, &list, user, http.MethodGet, "/v1/tasks"+query, nil)
			}
			if len(list.Data) != want[i] {
				t.Errorf("%q sees %d tasks with %s, want %d", user, len(list.Data), query, want[i])
			}
		}
	}
}

func TestCreateTask_IsForMembersAlone(t *testing.T) {
	s := newTaskScene(t, "public")
	body := map[string]any{"organizerId": s.lab, "name": "X"}
	s.Want(http.StatusUnauthorized, nil, "", http.MethodPost, "/v1/tasks", body)
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, "/v1/tasks", body)
	s.Want(http.StatusCreated, nil, "root", http.MethodPost, "/v1/tasks", body)
	body["organizerId"] = "01JZ3V7Q0D8T5RZ0S6R1W9C4XK"
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPost, "/v1/tasks", body)
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.task, map[string]any{"organizerId": body["organizerId"]})
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.task, map[string]any{
		"submissions": map[string]any{"opensAt": "2026-02-01T00:00:00Z", "closesAt": "2026-01-01T00:00:00Z"},
	})
}

// An anonymous team shows its alias everywhere from the answer on, to everyone but itself and the organizers, and its name
// again when it has changed its mind.
func TestUpdateRegistration_PropagatesAlias(t *testing.T) {
	s := newTaskScene(t, "public")
	path := s.Create("tom", s.task+"/registrations", map[string]any{"team": "T"})
	r := s.submitted(false)
	tom := servertest.UserID("tom")
	for _, step := range []struct {
		patch map[string]any
		shown string
		named bool
	}{
		{map[string]any{"anonymous": true}, "anonymous-tom", false},
		{map[string]any{"team": "Heron"}, "anonymous-tom", false},
		{map[string]any{"anonymous": false}, "Heron", true},
		{map[string]any{"team": "Otter", "anonymous": true}, "anonymous-tom", false},
	} {
		s.Want(http.StatusOK, nil, "tom", http.MethodPatch, path, step.patch)
		for _, path := range []string{"/v1/runs", "/v1/runs/" + r.ID, "/v1/evaluations", "/v1/evaluations/" + r.EvaluationID, s.task + "/submissions", s.task + "/evaluations"} {
			for _, user := range []string{"", "uma", "tom", "olivia"} {
				body := string(s.Want(http.StatusOK, nil, user, http.MethodGet, path, nil).Body)
				knows := step.named || user == "tom" || user == "olivia"
				if strings.Contains(body, tom) != knows || !strings.Contains(body, `"team":"`+step.shown+`"`) != (step.shown == "anonymous-tom" && knows) {
					t.Errorf("after %v %s shows %q %s", step.patch, path, user, body)
				}
			}
		}
		status := http.StatusNoContent
		if step.named {
			status = http.StatusOK
		}
		for _, path := range []string{"/v1/runs?filter[userId]=" + tom, "/v1/evaluations?filter[userId]=" + tom, "/v1/users/" + tom + "/submissions"} {
			s.Want(status, nil, "", http.MethodGet, path, nil)
		}
	}
}

func TestAudit_HasChangesOfRules(t *testing.T) {
	s := newTaskScene(t, "public")
	for i, patch := range []map[string]any{
		{"name": "Rivers", "description": "other"},
		{"submissions": map[string]any{"perDay": 3}},
		{"submissions": map[string]any{"closesAt": "2030-01-01T00:00:00Z"}},
		{"registration": map[string]any{"mode": "approval"}},
		{"visibility": "private"},
	} {
		s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, patch)
		var entries struct{ Data []record.AuditEntry }
		if i == 0 {
			s.Want(http.StatusNoContent, nil, "olivia", http.MethodGet, s.task+"/audit-entries?filter[action]=task.rules-changed", nil)
			continue
		}
		s.Want(http.StatusOK, &entries, "olivia", http.MethodGet, s.task+"/audit-entries?filter[action]=task.rules-changed", nil)
		if len(entries.Data) != i || entries.Data[0].ActorID != servertest.UserID("olivia") || string(entries.Data[0].Before) == string(entries.Data[0].After) {
			t.Errorf("after %v: %+v", patch, entries.Data)
		}
	}
	s.Want(http.StatusNotFound, nil, "", http.MethodGet, s.task+"/audit-entries", nil)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, map[string]any{"visibility": "public"})
	s.Want(http.StatusUnauthorized, nil, "", http.MethodGet, s.task+"/audit-entries", nil)
	s.Want(http.StatusForbidden, nil, "tom", http.MethodGet, s.task+"/audit-entries", nil)
}

// Featured tasks lead the landing page, so that those who run the platform choose them.
func TestUpdateTask_AdministratorsFeature(t *testing.T) {
	s := newTaskScene(t, "public")
	var task record.Task
	s.Want(http.StatusOK, &task, "olivia", http.MethodGet, s.task, nil)
	draft := map[string]any{"organizerId": task.OrganizerID, "name": "Featured", "featured": true}
	for _, a := range []servertest.Answer{
		s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPost, "/v1/tasks", draft),
		s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.task, map[string]any{"featured": true}),
	} {
		if !strings.Contains(string(a.Body), `"pointer":"/featured"`) {
			t.Errorf("%s", a.Body)
		}
	}
	s.Create("root", "/v1/tasks", draft)
	s.Want(http.StatusOK, nil, "root", http.MethodPatch, s.task, map[string]any{"featured": true})
	s.Want(http.StatusOK, &task, "olivia", http.MethodPatch, s.task, map[string]any{"featured": true, "name": "Renamed"})
	if !task.Featured || task.Name != "Renamed" {
		t.Errorf("%+v", task)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.task, map[string]any{"featured": false})
}
