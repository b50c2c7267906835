package registrations_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// quotas returns the quotas of the datasets that the user sees in a registration, by dataset ID.
func (f *fixture) quotas(user string, r *record.RegistrationItem) map[string]record.DatasetQuota {
	quotas := map[string]record.DatasetQuota{}
	for _, q := range servertest.Get[record.Registration](f.Server, user, f.path+"/"+r.ID).Quota.Datasets {
		quotas[q.DatasetID] = q
	}
	return quotas
}

// TestQuota_FollowsAChange changes the state of a registration. The answer has the quota of the new state.
func TestQuota_FollowsAChange(t *testing.T) {
	f := serve(t)
	r := f.task.Register("ada")
	f.task.Dataset()
	for _, state := range []record.RegistrationState{record.Rejected, record.Accepted} {
		var v record.Registration
		f.Want(http.StatusOK, &v, "olga", http.MethodPatch, f.path+"/"+r.ID, map[string]any{"state": state})
		if open := v.Quota.Datasets[0].Open; open != (state == record.Accepted) {
			t.Errorf("a team that is %s has an open dataset: %t", state, open)
		}
	}
}

// TestQuota_SaysWhichDatasetsAreOpen compares the windows in a registration with what the datasets take: with a task that has closed,
// datasets with windows of their own, an exception, and datasets that take nothing.
func TestQuota_SaysWhichDatasetsAreOpen(t *testing.T) {
	hour := func(n int) *record.Instant { return new(record.At(time.Now().Add(time.Duration(n) * time.Hour))) }
	closed := hour(-1)
	later := hour(1)
	extended := hour(2)
	f := serve(t, func(t *record.TaskItem) { t.Submissions.ClosesAt = closed })
	window := func(opens, closes *record.Instant) func(*record.DatasetItem) {
		return func(d *record.DatasetItem) { d.Submissions.OpensAt, d.Submissions.ClosesAt = opens, closes }
	}
	r := f.task.Register("ada")
	late := f.task.Dataset()
	open := f.task.Dataset(window(nil, later), recordtest.OnTestSplit)
	early := f.task.Dataset(window(later, extended))
	moved := f.task.Dataset(window(extended, closed))
	never := f.task.Dataset(window(extended, later))
	exempt := f.task.Dataset()
	without := f.task.Dataset(window(nil, later), recordtest.WithoutTruth)
	deleting := f.task.Dataset(window(nil, later), func(d *record.DatasetItem) {
		d.PendingWork = record.NewPendingWork(record.DeleteDataset, time.Now())
	})
	f.Create("olga", f.path+"/"+r.ID+"/exceptions", map[string]any{"datasetId": exempt.ID, "closesAt": extended, "reason": "A reason"})
	want := map[string]record.SubmissionWindow{
		late.ID:     {ClosedReason: record.ClosedLate, ClosesAt: closed},
		open.ID:     {Open: true, ClosesAt: later},
		early.ID:    {ClosedReason: record.ClosedEarly, OpensAt: later, ClosesAt: extended},
		moved.ID:    {ClosedReason: record.ClosedLate, OpensAt: extended, ClosesAt: closed},
		never.ID:    {ClosedReason: record.ClosedAlways, OpensAt: extended, ClosesAt: later},
		exempt.ID:   {Open: true, ClosesAt: extended},
		without.ID:  {ClosedReason: record.ClosedNoTruth, ClosesAt: later},
		deleting.ID: {ClosedReason: record.ClosedDeleting, ClosesAt: later},
	}
	for _, user := range []string{"ada", "olga"} {
		got := f.quotas(user, r)
		for id, w := range want {
			q := got[id]
			if !reflect.DeepEqual(q.SubmissionWindow, w) || q.StartsBlinded != (id == open.ID) || q.Left != nil {
				t.Errorf("%s is shown %+v, want %+v", user, q, w)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s sees %d datasets, want %d", user, len(got), len(want))
		}
	}
}

// TestQuota_HidesDatasetsFromTeamsThatWereNotAccepted: a pending or rejected team learns of no dataset of a private task.
func TestQuota_HidesDatasetsFromTeamsThatWereNotAccepted(t *testing.T) {
	for _, visibility := range []record.Visibility{record.Public, record.Private} {
		f := serve(t, func(t *record.TaskItem) { t.Visibility = visibility })
		set := f.task.Dataset()
		for _, state := range []record.RegistrationState{record.Accepted, record.Pending, record.Rejected} {
			user := "ada" + string(state)
			q, seen := f.quotas(user, f.task.Register(user, func(r *record.RegistrationItem) { r.State = state }))[set.ID]
			if seen != (visibility == record.Public || state == record.Accepted) {
				t.Errorf("a %s team of a %s task sees its dataset: %v", state, visibility, seen)
			}
			if seen && (q.Open != (state == record.Accepted) || !q.Open && q.ClosedReason != record.ClosedUnregistered) {
				t.Errorf("a %s team is shown %+v", state, q)
			}
		}
	}
}

// TestQuota_NamesTheOneThatBinds uses up the quota of a dataset, of a task that allows more.
func TestQuota_NamesTheOneThatBinds(t *testing.T) {
	f := serve(t, func(t *record.TaskItem) { t.Submissions.PerDay, t.Submissions.Total = 20, 50 })
	set := f.task.Dataset(func(d *record.DatasetItem) { d.Submissions.PerDay = 3 })
	other := f.task.Dataset()
	r := f.task.Register("ada")
	now := time.Now().Truncate(time.Millisecond)
	a := &record.Allowance{Meta: record.MetaOf(r.ID, now), TaskID: f.task.ID}
	for _, ago := range []time.Duration{20 * time.Hour, 10 * time.Hour, time.Hour} {
		made := now.Add(-ago)
		if err := a.Charge(f.task.TaskItem, []*record.DatasetItem{set.DatasetItem}, []string{record.NewID(made)}, made); err != nil {
			t.Fatal(err)
		}
	}
	f.Records().Put(a)
	comesBack := record.At(now.Add(4 * time.Hour))
	for id, left := range map[string]int{set.ID: 0, other.ID: 17} {
		q := f.quotas("ada", r)[id]
		if q.Left == nil || *q.Left != left || q.NextAt == nil || *q.NextAt != comesBack || !q.Open {
			t.Errorf("%d are left: %+v, the next at %v, want %d and %v", q.Left, q, q.NextAt, left, comesBack)
		}
	}
}
