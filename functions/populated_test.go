package functions_test

import (
	"fmt"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/record/recordtest"
	"assay/shared/store"
)

// newMetered serves every family over a store whose calls are counted: the table, or an embedded one if that is nil.
func newMetered(t testing.TB, table store.Store) (*servertest.Server, *meter) {
	t.Helper()
	s := newServer(t)
	if table == nil {
		table = s.Store
	}
	m := &meter{Store: table}
	s.Store = m
	return s, m
}

// populated serves many records: a task in which everybody takes part, and thousands of others that only their organizer sees.
type populated struct {
	*servertest.Server
	meter        *meter
	dataset      *recordtest.Dataset // of the public task
	private      *recordtest.Dataset // of a private task that reg is registered for
	public, own  *recordtest.Run     // of the owner: public and published, private and blinded
	registration string              // path of the owner's
}

// newPopulated makes about as many records as size.
func newPopulated(t *testing.T, table store.Store, size int) *populated {
	t.Helper()
	p := &populated{}
	p.Server, p.meter = newMetered(t, table)
	b := recordtest.New(t, p.meter.Store)
	b.Files = p.Files
	b.Batch(func() {
		executed := func(d *record.DatasetItem) { d.Executed = true } // the first image costs the dataset more
		labels := recordtest.Labels("Accuracy", "MCC")
		task := b.Task()
		p.dataset = task.Dataset(labels, executed, b.Truths("truth.csv", "id,label\n1,a\n"))
		p.private = b.Task(recordtest.Private).Dataset(labels)
		p.private.Task.Register("reg")
		for i := range size / 20 { // five records each; everybody sees one in ten
			options := []recordtest.RunOption{recordtest.Blinded}
			if i%10 == 0 {
				options = []recordtest.RunOption{recordtest.Public, recordtest.Published}
			}
			p.dataset.Run(fmt.Sprint("user", i%500), append(options, recordtest.Value("Accuracy", float64(i%997)/997),
				recordtest.Undefined("MCC"))...)
			if i == size/40 {
				p.public, p.own = p.dataset.Run("owner", recordtest.Public, recordtest.Published), p.dataset.Run("owner", recordtest.Blinded)
			}
		}
		others := recordtest.OwnedBy(b.Organizer("somebody else"))
		for range size / 16 { // four each
			b.Task(others, recordtest.Private).Dataset(labels)
		}
		for i := range size / 6 { // three each
			task.Register(fmt.Sprint("user", i))
		}
		p.registration = task.Path() + "/registrations/" + task.Register("owner").ID
		b.User("owner")
	})
	return p
}
