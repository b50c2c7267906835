package functions_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
)

// takeEvents returns the kinds and subjects of the events in the outbox, in order, and removes the events.
func takeEvents(t *testing.T, s *servertest.Server) (found []string) {
	t.Helper()
	items, err := s.Store.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if !strings.HasPrefix(it.Partition, "EVENT#") {
			continue
		}
		e := new(record.Event)
		if err := record.Decode(it, e); err != nil {
			t.Fatal(err)
		}
		found = append(found, string(e.Kind)+" "+e.Subject)
		if e.OrganizerID == "" || e.TaskID == "" {
			t.Errorf("%+v", e)
		}
		e.Delivered = true
		record.Touch(e, s.Now())
		s.Records().Replace(e)
	}
	slices.Sort(found)
	return found
}

// Each change that others are notified of puts an event into the outbox. Other changes put none there.
func TestEvents_AreWrittenWithWhatTheyTellOf(t *testing.T) {
	s := newServer(t)
	b := s.Records()
	task := b.Task(func(t *record.TaskItem) { t.Registration.Mode = record.Approval })
	dataset := task.Dataset(b.Truths("qrels.txt", "q1 0 d1 1\n"))
	run := dataset.Run("ann")
	var registration record.Registration
	patch := func(path string, members map[string]any) func() {
		return func() { s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, members) }
	}
	closes := record.At(s.Now().Add(30 * record.Day))
	for _, c := range []struct {
		what string
		do   func()
		want []string
	}{
		{"a registration that waits", func() {
			s.Want(http.StatusCreated, &registration, "tom", http.MethodPost, task.Path()+"/registrations", map[string]any{"team": "Toms"})
		}, []string{"registration.pending " + task.Path() + "/registrations/"}},
		{"one that is accepted at once", func() {
			s.Want(http.StatusCreated, nil, "olga", http.MethodPost, task.Path()+"/registrations", map[string]any{"team": "Olgas"})
		}, nil},
		{"a decision", func() { patch(task.Path()+"/registrations/"+registration.ID, map[string]any{"state": "rejected"})() },
			[]string{"registration.decided " + task.Path() + "/registrations/"}},
		{"the same decision", func() { patch(task.Path()+"/registrations/"+registration.ID, map[string]any{"state": "rejected"})() }, nil},
		{"a comment in a review", patch("/v1/runs/"+run.ID+"/review", map[string]any{"comment": "Well done"}), nil},
		{"a published review", patch("/v1/runs/"+run.ID+"/review", map[string]any{"published": true}),
			[]string{"review.published /v1/runs/" + run.ID}},
		{"a change of a published review", patch("/v1/runs/"+run.ID+"/review", map[string]any{"comment": "Very well done"}), nil},
		{"a new name of a dataset", patch(dataset.Path(), map[string]any{"name": "Rivers"}), nil},
		{"a changed evaluator", patch(dataset.Path(), map[string]any{"evaluator": map[string]any{"measures": []string{"RR"}}}),
			[]string{"truth.changed " + dataset.Path()}},
		{"a window", patch(task.Path(), map[string]any{"submissions": map[string]any{"closesAt": closes}}),
			[]string{"window.closing " + task.Path()}},
		{"a quota", patch(task.Path(), map[string]any{"submissions": map[string]any{"perDay": 5}}), nil},
		{"no window", patch(task.Path(), map[string]any{"submissions": map[string]any{"closesAt": nil}}), nil},
		{"the window that was notified of", patch(task.Path(), map[string]any{"submissions": map[string]any{"closesAt": closes}}), nil},
	} {
		c.do()
		got := takeEvents(t, s)
		for i, g := range got {
			if len(c.want) > i && len(g) > len(c.want[i]) && registration.ID != "" {
				got[i] = g[:len(g)-len(registration.ID)]
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// Events that are due later are delivered when they are due.
func TestEvents_WaitForTheirTime(t *testing.T) {
	s := newServer(t)
	task := s.Create("olga", "/v1/tasks", map[string]any{"organizerId": s.Records().Organizer("olga").ID, "name": "Lakes",
		"submissions": map[string]any{"closesAt": record.At(s.Now().Add(10 * record.Day))}})
	closing := recordtest.Get[record.TaskItem](t, s.Store, record.TaskKey(servertest.ID(task))).ClosingEvent(s.Now())
	event := recordtest.Get[record.Event](t, s.Store, closing.Key())
	if event == nil || event.NotBefore.Sub(s.Now()).Round(time.Hour) != 8*record.Day {
		t.Errorf("%+v", event)
	}
	s.Want(http.StatusCreated, nil, "olga", http.MethodPost, "/v1/user/tokens", map[string]any{"name": "ci", "scopes": []string{"read"}})
	due, err := s.Store.Query(t.Context(), store.Query{Index: record.ByWork, Partition: record.OutboxPartition, Limit: store.MaxKeys})
	if err != nil || len(due) != 2 {
		t.Fatalf("%+v %v", due, err)
	}
	at, err := record.DueAt(due[1].Entry(record.ByWork).Sort)
	if err != nil || at.Sub(s.Now()).Round(time.Hour) != record.DefaultTokenLifetime-record.TokenNotice {
		t.Errorf("%v %v", at, err)
	}
}

// If the event of a closing window is missing, every change of the dataset creates it, and so does restoring.
func TestEvents_TellOfTheCloseOfEveryWindow(t *testing.T) {
	s := newServer(t)
	closes := new(record.At(s.Now().Add(30 * record.Day)))
	b := s.Records()
	task := b.Task(func(t *record.TaskItem) { t.Submissions.ClosesAt = closes })
	dataset := task.Dataset(b.Truths("qrels.txt", "q1 0 d1 1\n"), func(d *record.DatasetItem) { d.Submissions.ClosesAt = closes })
	closings := map[string]*record.Event{task.Path(): task.ClosingEvent(s.Now()), dataset.Path(): dataset.ClosingEvent(s.Now())}
	for path, closing := range closings {
		takeMissing := func(what string) {
			t.Helper()
			e := recordtest.Get[record.Event](t, s.Store, closing.Key())
			if e == nil || e.Subject != path || e.Delivered {
				t.Fatalf("%s, %s: %+v", path, what, e)
			}
			if err := s.Store.Write(t.Context(), store.Delete(e.Key())); err != nil {
				t.Fatal(err)
			}
		}
		s.Want(http.StatusOK, nil, "olga", http.MethodPatch, path, map[string]any{"name": "Rivers"})
		takeMissing("changed")
		s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, path, nil)
		for _, id := range s.IDs("olga", "/v1/deletions") {
			s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/deletions/"+id, nil)
		}
		takeMissing("restored")
	}
}
