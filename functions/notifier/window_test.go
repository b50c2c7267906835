package notifier_test

import (
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/webpage"
	"assay/shared/storage/store"
)

// closing makes the dataset's window, or with nil the task's, close at the day, with the event if there is none.
func (f *fixture) closeOn(days int, task *recordtest.Task, d *recordtest.Dataset) *record.Event {
	closes := new(record.At(f.now.AddDate(0, 0, days)))
	var e *record.Event
	if d != nil {
		d.Submissions.ClosesAt = closes
		f.Replace(d.DatasetItem)
		e = d.ClosingEvent(f.now)
	} else {
		task.Submissions.ClosesAt = closes
		f.Replace(task.TaskItem)
		e = task.ClosingEvent(f.now)
	}
	if recordtest.Get[record.Event](f.t, f.Builder.Store, e.Key()) == nil {
		f.Put(e)
	}
	return e
}

func TestWindow_ThatMovesIsToldOfWhenItCloses(t *testing.T) { onBothStores(t, testWindowThatMoves) }

func testWindowThatMoves(t *testing.T, f *fixture) {
	f.User("ann")
	task := f.Task()
	task.Register("ann")
	begin := f.now
	first := f.closeOn(10, task, nil)
	f.closeOn(30, task, nil)
	f.now = begin.AddDate(0, 0, 9)
	if all := f.deliver(); len(all) > 0 {
		t.Fatalf("%+v", all)
	}
	if e := recordtest.Get[record.Event](t, f.Builder.Store, first.Key()); e != nil {
		t.Fatalf("the event of a close that moved away is kept: %+v", e)
	}
	f.closeOn(1, task, nil)
	if m := f.one(); !strings.Contains(m.Subject, "Submissions to the task") {
		t.Errorf("%s", m.Text)
	}
	f.closeOn(1, task, nil)
	if all := f.deliver(); len(all) > 0 {
		t.Errorf("it is notified of twice: %+v", all)
	}
}

// A registrant reads when the own team's window closes, and which datasets have another one.
func TestWindow_SaysWhoseItIs(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "bob")
	task := f.Task(func(t *record.TaskItem) { t.Name = "Lakes" })
	task.Register("ann")
	team := task.Register("bob")
	task.Dataset()
	own := task.Dataset(func(d *record.DatasetItem) { d.Name = "Rivers" })
	later := record.At(f.now.AddDate(0, 0, 5))
	a := &record.Allowance{Meta: record.MetaOf(team.ID, f.now), TaskID: task.ID,
		Exceptions: []record.Exception{{ExceptionDraft: record.ExceptionDraft{ClosesAt: &later}}}}
	f.Put(a)
	f.closeOn(9, task, own)
	f.closeOn(1, task, nil)
	texts := map[string]string{}
	for _, m := range f.deliver() {
		texts[m.To] = strings.Split(m.Text, "\r\n")[0]
	}
	day := func(i record.Instant) string { return webpage.Instant(i.Time) }
	ann := "Submissions to the task “Lakes”, except to “Rivers”, close on " + day(*task.Submissions.ClosesAt)
	if texts["ann@example.org"] != ann || texts["bob@example.org"] != ann+", and those of your team on "+day(later) {
		t.Errorf("%q\nwant\n%q", texts, ann)
	}
	if err := f.Builder.Store.Write(t.Context(), store.Delete(a.Key())); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.AddDate(0, 0, 7)
	for _, m := range f.deliver() {
		if !strings.HasPrefix(m.Text, "Submissions to the dataset “Rivers” of the task “Lakes” close on ") {
			t.Errorf("%s", m.Text)
		}
	}
}
