package users_test

import (
	"cmp"
	"net/http"
	"slices"
	"testing"
	"time"

	"assay/functions/users"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func TestListQueues_HasWhatWaitsAndWhoServes(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	now := time.Now()
	s.Now = func() time.Time { return now }
	d := s.Records().Task().Dataset()
	d.Run("alice", recordtest.Queued)
	first := d.Run("alice", recordtest.Queued, recordtest.OfImage)
	now = now.Add(time.Minute)
	for range users.MaxCounted {
		d.Run("bob", recordtest.Queued, recordtest.OfImage)
	}
	serving := &record.Serving{Meta: record.MetaOf("", now)}
	serving.Note(now.Add(-30*time.Minute), []record.Subqueue{record.WorkerSubqueue("gpu", record.Evaluate), record.BuilderSubqueue("gpu")})
	serving.Note(now, []record.Subqueue{record.WorkerSubqueue("", record.ExecuteImage)})
	s.Records().Put(serving)

	var next page.Page[users.Queue]
	s.Want(http.StatusOK, &next, "root", http.MethodGet, "/v1/platform/queues?limit=2", nil)
	all := slices.Concat(next.Data, servertest.List[users.Queue](s, "root", next.Links.Next))
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	builtin := all[0]
	images := all[1]
	gpu := all[2]
	if builtin.Pool != "(builtin)" || builtin.Runs != 1 || builtin.WaitingSince == nil || builtin.WorkerSeenAt != nil {
		t.Errorf("%+v", builtin)
	}
	if images.Pool != record.DefaultPool || images.Work != record.ExecuteImage || images.Runs != users.MaxCounted ||
		!images.WaitingSince.Equal(first.QueuedAt.Time) || !images.WorkerSeenAt.Equal(record.At(now).Time) {
		t.Errorf("%+v", images)
	}
	if gpu.Pool != "gpu" || gpu.Work != record.Evaluate || gpu.Runs != 0 || gpu.WaitingSince != nil || gpu.WorkerSeenAt == nil {
		t.Errorf("%+v", gpu)
	}
	now = now.Add(2 * time.Hour)
	if all := servertest.List[users.Queue](s, "root", "/v1/platform/queues"); len(all) != 2 || all[1].WorkerSeenAt != nil {
		t.Errorf("two hours after workers were seen: %+v", all)
	}
}

func TestShowStorage_AddsUpWhatIsTaken(t *testing.T) {
	s := servertest.New(t, users.Operations...)
	quotas := record.DefaultQuotas()
	s.Quotas = quota.New(quotas, s.Store, s.Now)
	id := recordtest.UserID("alice")
	s.Records().User("alice")
	for _, ch := range []record.Charge{
		{Kind: record.MadeRuns, Count: 3, Bytes: 500},
		{Bytes: -100, Leaving: 30, Until: record.At(s.Now().Add(time.Hour))},
		{Bytes: 70, Pending: map[string]record.Uploads{"RUN#" + record.NewID(s.Now()): {Files: 2, Bytes: 70}}},
	} {
		u, err := records.Get[record.Usage](t.Context(), s.Store, store.Strong, record.UsageKey(id))
		if err != nil {
			t.Fatal(err)
		}
		u = cmp.Or(u, &record.Usage{Meta: record.MetaOf(id, s.Now())})
		if err := u.Take(quotas.User, ch, s.Now()); err != nil {
			t.Fatal(err)
		}
		if err := new(records.Tx).Save(u, s.Now()).Commit(t.Context(), s.Quotas.Store()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Quotas.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := servertest.Get[users.Storage](s, "root", "/v1/platform/storage")
	one := servertest.Get[users.Profile](s, "alice", "/v1/users/"+id)
	for of, got := range map[string]record.Taken{"all users": all.Taken, "the user": *one.Taken} {
		if got.PerDay[record.MadeRuns] != 3 || len(got.PerDay) != len(quotas.Server.PerDay) || got.StoredBytes != 500 || got.PendingFiles != 2 ||
			got.PendingBytes != 70 {
			t.Errorf("%s: %+v", of, got)
		}
	}
	if all.Limits.StoredBytes != quotas.Server.StoredBytes {
		t.Errorf("the limits are %+v", all.Limits)
	}
	if known := servertest.List[users.Profile](s, "root", "/v1/users"); len(known) != 1 || known[0].Taken != nil {
		t.Errorf("%+v", known)
	}
}
