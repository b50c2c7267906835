package quota_test

import (
	"math/bits"
	"reflect"
	"testing"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// own stores the user's quota, with the user's usage.
func own(t *testing.T, s store.Store, id string, q record.UserQuota) {
	t.Helper()
	u := recordtest.Get[record.Usage](t, s, record.UsageKey(id))
	if u == nil {
		u = &record.Usage{Meta: record.MetaOf(id, start)}
	}
	u.Quota = q
	recordtest.New(t, s).Commit(new(records.Tx).Save(u, start))
}

func TestTake_HoldsToTheQuotaOfTheUser(t *testing.T) {
	s := open(t)
	defaults := record.UsageLimits{PerDay: map[string]int64{record.MadeTasks: 1}, StoredBytes: 100, PendingFiles: 1}
	l := quota.New(record.Quotas{User: defaults}, s, at(&start))
	upload := func(files int64) record.Charge {
		return record.Charge{Pending: map[string]record.Uploads{"RUN#" + record.NewID(start): {Files: files}}}
	}
	stored := record.Charge{Bytes: 80}
	for _, c := range []struct {
		name  string
		quota record.UserQuota
		ch    record.Charge
		twice bool // whether the charge is taken twice
	}{
		{"as all users", record.UserQuota{}, stored, false},
		{"more", record.UserQuota{StoredBytes: new(int64(160))}, stored, true},
		{"less", record.UserQuota{StoredBytes: new(int64(90))}, stored, false},
		{"no limit", record.UserQuota{StoredBytes: new(int64(0))}, stored, true},
		{"another kind", record.UserQuota{PerDay: map[string]int64{record.MadeRuns: 9}}, oneTask, false},
		{"more in a day", record.UserQuota{PerDay: map[string]int64{record.MadeTasks: 2}}, oneTask, true},
		{"uploads of all users", record.UserQuota{StoredBytes: new(int64(1))}, upload(1), true}, // the same record waits
		{"more uploads", record.UserQuota{PendingFiles: new(int64(5))}, upload(5), true},
	} {
		own(t, s, c.name, c.quota)
		for n := range 2 {
			if err := take(t.Context(), l, s, caller(c.name), c.ch); (err == nil) != (n == 0 || c.twice) {
				t.Errorf("%s, time %d: %v", c.name, n+1, err)
			}
		}
		if err := take(t.Context(), l, s, access.Caller{ID: c.name, Admin: true}, c.ch); err != nil {
			t.Errorf("%s, of an administrator: %v", c.name, err)
		}
		if u := recordtest.Get[record.Usage](t, s, record.UsageKey(c.name)); !reflect.DeepEqual(u.Quota, c.quota) {
			t.Errorf("%s: the quota became %+v", c.name, u.Quota)
		}
	}
}

// TestAccount_HoldsToTheQuotaOfTheUser charges the output of an image to a user who is not the caller. Refunds are never refused.
func TestAccount_HoldsToTheQuotaOfTheUser(t *testing.T) {
	s := open(t)
	defaults := record.UsageLimits{StoredBytes: 100}
	own(t, s, "a", record.UserQuota{StoredBytes: new(int64(10))})
	for _, c := range []struct {
		user    string
		bytes   int64
		allowed bool
	}{{"a", 11, false}, {"a", 10, true}, {"b", 11, true}, {"b", 90, false}} {
		tx := new(records.Tx)
		err := quota.Account{Store: s, Tx: tx, Now: start, UserID: c.user}.Charge(t.Context(), defaults, record.Charge{Bytes: c.bytes})
		if (err == nil) != c.allowed || err != nil && !problem.QuotaExhausted.Is(err) {
			t.Errorf("%d bytes of %s: %v", c.bytes, c.user, err)
		}
		if err == nil {
			recordtest.New(t, s).Commit(tx)
		}
	}
	tx := new(records.Tx)
	if err := (quota.Account{Store: s, Tx: tx, Now: start, UserID: "a"}).Credit(t.Context(), record.Charge{Bytes: 5}); err != nil {
		t.Error("a credit is refused:", err)
	}
}

// TestTake_ListsByStorage checks that each user with files is listed once, in the right place, after random charges and refunds. The
// list is written only if the number of bits changes.
func TestTake_ListsByStorage(t *testing.T) {
	for name, s := range map[string]store.Store{"embedded": open(t), "DynamoDB": dynamotest.Open(t, dynamotest.Start(t))} {
		t.Run(name, func(t *testing.T) { listsByStorage(t, s) })
	}
}

func listsByStorage(t *testing.T, s store.Store) {
	l := quota.New(record.Quotas{}, s, at(&start))
	nightlytest.Check(t, func(r *rapid.T) {
		stored := map[string]int64{}
		users := []string{record.NewID(start), record.NewID(start)}
		defer func() { // the next check has other users
			for _, id := range users {
				_ = take(t.Context(), l, s, caller(id), record.Charge{Bytes: -1 << 40})
			}
		}()
		for range rapid.IntRange(1, 8).Draw(r, "charges") {
			id := rapid.SampledFrom(users).Draw(r, "user")
			n := rapid.Int64Range(-300, 500).Draw(r, "bytes")
			u, err := records.Get[record.Usage](t.Context(), s, store.Strong, record.UsageKey(id))
			if err != nil {
				r.Fatal(err)
			}
			tx := new(records.Tx)
			if err := l.Take(t.Context(), tx, caller(id), u, record.Charge{Bytes: n}); err != nil {
				r.Fatal(err)
			}
			if err := tx.Commit(t.Context(), s); err != nil {
				r.Fatal(err)
			}
			before := bits.Len64(uint64(stored[id]))
			stored[id] = max(0, stored[id]+n)
			if moved := bits.Len64(uint64(stored[id])) != before; moved != (tx.Len() > 1) {
				r.Fatalf("%d writes to come to %d bytes", tx.Len(), stored[id])
			}
		}
		listed, err := s.Query(t.Context(), store.Query{Partition: record.StoragePartition, Limit: 10, Consistency: store.Strong})
		if err != nil {
			r.Fatal(err)
		}
		for _, id := range users {
			if stored[id] == 0 {
				continue
			}
			u := &record.Usage{Meta: record.Meta{ID: id}, StoredBits: bits.Len64(uint64(stored[id]))}
			if len(listed) == 0 || listed[0].Key != u.StorageKey() && listed[len(listed)-1].Key != u.StorageKey() {
				r.Fatalf("%s with %d bytes is not in %v", id, stored[id], listed)
			}
		}
		want := len(users)
		for _, id := range users {
			if stored[id] == 0 {
				want--
			}
		}
		if len(listed) != want {
			r.Fatalf("%d users store something, and %v are listed", want, listed)
		}
	})
}
