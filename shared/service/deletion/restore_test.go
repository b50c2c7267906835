package deletion_test

import (
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
)

func TestRestore_NeedsTheParent(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
	f.must(f.delete(t.Context(), f.Store))
	run := f.entry
	f.kind = record.SubmissionInTrash
	f.must(f.delete(t.Context(), f.Store))
	parent := f.entry
	f.entry = run
	err := f.restore(t.Context(), f.Store)
	if !problem.Conflict.Is(err) || !strings.Contains(err.Error(), parent.ID) {
		t.Fatalf("%v does not name %s", err, parent.ID)
	}
	f.entry = parent
	f.must(f.restore(t.Context(), f.Store))
	f.entry = run
	f.must(f.restore(t.Context(), f.Store))
	if recordtest.Get[record.RunItem](t, f.Store, f.run.Key()) == nil {
		t.Error("the run is not there")
	}
}

// Restore writes nothing itself: the transaction of the request restores the resource, or makes restoring pending.
func TestRestore_IsPartOfTheTransaction(t *testing.T) {
	for _, tt := range []struct {
		kind  record.DeletedKind
		large bool
	}{
		{record.TaskInTrash, true}, {record.DatasetInTrash, false}, {record.SubmissionInTrash, false}, {record.RunInTrash, false},
		{record.RunInTrash, true},
	} {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), tt.kind)
		if tt.kind == record.RunInTrash && tt.large {
			f.addEvaluations()
		}
		whole := f.contents()
		f.must(f.delete(t.Context(), f.Store))
		f.background(2 * record.RequestTime)
		before := f.contents()
		entry := recordtest.Get[record.DeletionItem](t, f.Store, f.entry.Key())
		tx := new(records.Tx)
		_, err := f.deleter(f.Store).Restore(t.Context(), tx, entry, recordtest.UserID("olga"))
		f.must(err)
		f.same(before, f.contents())
		f.Commit(tx)
		entry = recordtest.Get[record.DeletionItem](t, f.Store, f.entry.Key())
		switch {
		case !tt.large:
			f.same(whole, f.contents())
		case !entry.PendingWork.Is(record.RestoreTrash):
			t.Errorf("%s: nothing is pending: %+v", tt.kind, entry)
		default:
			f.background(2 * record.RequestTime)
			f.same(whole, f.contents())
		}
	}
}

// A run that a worker had leased is queued again, and one of a team that became anonymous meanwhile is shown under the alias.
func TestRestore_TakesWhatHoldsNow(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash, recordtest.InState(record.Evaluating))
	r := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
	r.Lease = &record.Lease{ID: "lease", Holder: "worker", Until: record.At(f.now)}
	f.Replace(r)
	f.must(f.delete(t.Context(), f.Store))
	s := recordtest.Get[record.SubmissionItem](t, f.Store, f.run.Submission.Key())
	s.Access.Anonymous, s.Access.Affiliation = true, ""
	f.Replace(s)
	f.now = f.now.Add(20 * record.Day)
	f.must(f.restore(t.Context(), f.Store))
	r = recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
	if r.State != record.Queued || r.Lease != nil || !r.QueuedAt.Equal(record.At(f.now).Time) || !r.Access.Anonymous {
		t.Errorf("%+v", r)
	}
	for _, id := range r.Evaluations {
		if e := recordtest.Get[record.EvaluationItem](t, f.Store, record.EvaluationKey(id)); !e.Access.Anonymous {
			t.Error("the evaluation names the team")
		}
	}
}

// The scores of what is restored are shown after the close, also when that was while it lay in the trash.
func TestRestore_RenewsTheEmbargo(t *testing.T) {
	for _, kind := range []record.DeletedKind{record.DatasetInTrash, record.RunInTrash} {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), kind)
		set := recordtest.Get[record.DatasetItem](t, f.Store, f.dataset.Key())
		recordtest.AfterClose(set)
		f.Replace(set)
		f.must(f.delete(t.Context(), f.Store))
		if e := recordtest.Get[record.Embargo](t, f.Store, record.EmbargoKey(f.task.ID)); e != nil {
			t.Fatalf("%s: %+v", kind, e)
		}
		f.must(f.restore(t.Context(), f.Store))
		e := recordtest.Get[record.Embargo](t, f.Store, record.EmbargoKey(f.task.ID))
		if e == nil || !slices.Contains(e.Datasets, f.dataset.ID) || !e.PendingWork.Is(record.ApplyEmbargo) {
			t.Errorf("%s: no pending work looks at what was restored: %+v", kind, e)
		}
	}
}

func TestRestore_EvaluatesAgainAgainstAnotherTruth(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
	f.must(f.delete(t.Context(), f.Store))
	truth := recordtest.Get[record.TruthVersion](t, f.Store, record.TruthKey(f.dataset.ID))
	truth.Number++
	f.Replace(truth)
	f.must(f.restore(t.Context(), f.Store))
	if set := recordtest.Get[record.DatasetItem](t, f.Store, f.dataset.Key()); !set.PendingWork.Is(record.Reevaluate) {
		t.Errorf("%+v", set.PendingWork)
	}
}

// A client that read a resource before its deletion cannot overwrite the restored resource with the former version.
func TestRestore_ContinuesVersions(t *testing.T) {
	forEachStore(t, func(t *testing.T, s store.Store) {
		f := newFixture(t, s, record.SubmissionInTrash)
		read := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		f.must(f.delete(t.Context(), f.Store))
		f.must(f.restore(t.Context(), f.Store))
		now := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		if now.Version <= read.Version || now.Stored() <= read.Stored() {
			t.Errorf("version %d of %d was restored as %d of %d", read.Version, read.Stored(), now.Version, now.Stored())
		}
		if err := new(records.Tx).Replace(read).Commit(t.Context(), f.Store); !records.IsConflict(err) {
			t.Errorf("replaced by what was read before: %v", err)
		}
	})
}

// A run that was marked as final is so again, unless the team chose as many others meanwhile.
func TestRestore_KeepsFinalMarks(t *testing.T) {
	for _, other := range []bool{false, true} {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
		set := recordtest.Get[record.DatasetItem](t, f.Store, f.dataset.Key())
		set.FinalRuns = 1
		r := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		r.Final = true
		of := record.AllowanceKey(f.task.ID, f.run.Access.RegistrationID)
		a := recordtest.Get[record.Allowance](t, f.Store, of)
		f.must(a.Mark(set, r.ID, true))
		f.Replace(set, r, a)
		f.must(f.delete(t.Context(), f.Store))
		a = recordtest.Get[record.Allowance](t, f.Store, of)
		if other {
			f.must(a.Mark(set, "another", true))
			f.Replace(a)
		}
		f.must(f.restore(t.Context(), f.Store))
		r = recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		a = recordtest.Get[record.Allowance](t, f.Store, of)
		if r.Final == other || slices.Contains(a.Final[f.dataset.ID], r.ID) == other {
			t.Errorf("while another is marked (%v): %v, %v", other, r.Final, a.Final)
		}
	}
}

// A refund that was withdrawn while the run lay in the trash, so that the run counts since, does not come back with the run.
func TestRestore_EndsRefundsThatWereWithdrawn(t *testing.T) {
	for _, withdrawn := range []bool{false, true} {
		f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
		r := recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		r.Refunded, r.Counted = true, false
		of := record.AllowanceKey(f.task.ID, f.run.Access.RegistrationID)
		a := recordtest.Get[record.Allowance](t, f.Store, of)
		a.Exceptions = []record.Exception{{Meta: record.NewMeta(f.now), ExceptionDraft: record.ExceptionDraft{RunID: r.ID}}}
		f.Replace(r, a)
		f.must(f.delete(t.Context(), f.Store))
		a = recordtest.Get[record.Allowance](t, f.Store, of)
		before := a.Total
		if withdrawn {
			a.Exceptions = nil
			f.Replace(a)
		}
		f.must(f.restore(t.Context(), f.Store))
		r = recordtest.Get[record.RunItem](t, f.Store, f.run.Key())
		a = recordtest.Get[record.Allowance](t, f.Store, of)
		if r.Refunded == withdrawn || r.Counted != withdrawn || a.Total != before {
			t.Errorf("withdrawn (%v): refunded %v, counted %v, %d of %d runs", withdrawn, r.Refunded, r.Counted, a.Total, before)
		}
	}
}

// Evaluations can be large and do not decide on the outcome, which everyone can read who may restore the run.
func TestRestore_ReadsNoEvaluationsForItsOutcome(t *testing.T) {
	f := newFixture(t, recordtest.OpenStore(t, embedded.Options{}), record.RunInTrash)
	f.must(f.delete(t.Context(), f.Store))
	f.background(2 * record.RequestTime)
	for _, outcomeOnly := range []bool{false, true} {
		evaluations := 0
		d := f.deleter(&storetest.Hooked{Store: f.Store, Before: func(c storetest.Call) error {
			for _, k := range c.Keys {
				if k.Sort == "EVALUATION" {
					evaluations++
				}
			}
			return nil
		}})
		d.OutcomeOnly = outcomeOnly
		_, err := d.Restore(t.Context(), new(records.Tx), recordtest.Get[record.DeletionItem](t, f.Store, f.entry.Key()), "olga")
		f.must(err)
		if (evaluations == 0) != outcomeOnly {
			t.Errorf("outcome only %t: %d evaluations are read", outcomeOnly, evaluations)
		}
	}
}
