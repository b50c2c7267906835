package notifier_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
)

// A team is told that its run is published, and why it does not see the scores, if there is a reason.
func TestMail_SaysThatARunIsPublished(t *testing.T) {
	f := newFixture(t)
	f.User("ann")
	task := f.Task()
	task.Register("ann")
	open := task.Dataset()
	withheld := task.Dataset(recordtest.AfterClose)
	blinded := open.Run("ann", recordtest.Published, recordtest.Blinded)
	for want, run := range map[string]*recordtest.Run{
		"is published\r\n": open.Run("ann", recordtest.Published),
		"is published, but blinded: only the organizers see its scores":               blinded,
		"is published: its scores are shown once the window of every team has closed": withheld.Run("ann", recordtest.Published),
	} {
		f.Put(record.NewEvent(f.now, record.EventReviewPublished, run.Scope(), "/v1/runs/"+run.ID))
		if m := f.one(); !strings.Contains(m.Text, want) {
			t.Errorf("%q, want %q", m.Text, want)
		}
		f.now = f.now.Add(time.Hour)
	}
}

// A team is told that organizers deleted its run, unless they restored it meanwhile.
func TestMail_SaysThatOrganizersDeletedARun(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "bob")
	task := f.Task(func(t *record.TaskItem) { t.Name = "Lakes" })
	task.Register("ann")
	task.Register("bob")
	run := task.Dataset().Run("ann")
	for name, want := range map[string]string{
		"reeds": "The organizers deleted the run “reeds” of your team in the task “Lakes”", "": "The organizers deleted a run of your team",
	} {
		d := record.NewDeletion(f.now, record.RunInTrash, run.ID, "/v1/runs/"+run.ID, name, run.Scope(), recordtest.UserID("olga"), false)
		f.Put(d)
		e := record.NewEvent(f.now, record.EventDeletionCreated, d.Scope(), "/v1/deletions/"+d.ID)
		f.Put(e)
		m := f.one()
		if m.To != "ann@example.org" || !strings.Contains(m.Text, want) || !strings.Contains(m.Text, "/console#/tasks/"+task.ID+"/runs") ||
			!strings.Contains(m.Text, "Only they can restore it, until ") {
			t.Errorf("%s is told %q, want %q", m.To, m.Text, want)
		}
		again := record.NewEvent(f.now, record.EventDeletionCreated, d.Scope(), "/v1/deletions/"+d.ID)
		f.Put(again)
		if err := f.Builder.Store.Write(t.Context(), store.Delete(d.Key())); err != nil {
			t.Fatal(err)
		}
		if all := f.deliver(); len(all) > 0 {
			t.Errorf("of a restored run is told %+v", all)
		}
		f.now = f.now.Add(time.Hour)
	}
}

// An e-mail says whether a run failed when it was evaluated again, and that a ground truth or evaluator changed. An e-mail about runs
// without a worker is sent only while they wait.
func TestMail_SaysWhatIsStillTrue(t *testing.T) {
	f := newFixture(t)
	f.User("ann", "olga")
	task := f.Task()
	task.Register("ann")
	d := task.Dataset(func(d *record.DatasetItem) { d.Name = "Reeds" })
	again := d.Run("ann", func(r *recordtest.Run) {
		r.State, r.Evaluations = record.Failed, []string{record.NewID(f.now)}
	})
	waits, ended := d.Run("ann", recordtest.OfImage), d.Run("ann")
	for _, c := range []struct {
		kind               record.EventKind
		of                 *recordtest.Run
		subject, to, wants string
	}{
		{record.EventRunFailed, again, "/v1/runs/" + again.ID, "ann", "failed when it was evaluated again"},
		{record.EventTruthChanged, again, d.Path(), "ann", "The ground truth or the evaluator of the dataset “Reeds”"},
		{record.EventWorkersMissing, waits, d.Path(), "olga", "wait for a worker, and none was seen"},
		{record.EventWorkersMissing, ended, d.Path(), "olga", ""},
	} {
		e := record.NewEvent(f.now, c.kind, c.of.Scope(), c.subject)
		if c.kind == record.EventWorkersMissing {
			e.RunID = c.of.ID
		}
		f.Put(e)
		if c.wants == "" {
			if all := f.deliver(); len(all) > 0 {
				t.Errorf("%s: %+v", c.kind, all)
			}
		} else if m := f.one(); m.To != c.to+"@example.org" || !strings.Contains(m.Text, c.wants) {
			t.Errorf("%s is told %q, want %q", m.To, m.Text, c.wants)
		}
		f.now = f.now.Add(time.Hour)
	}
}
