package quota_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/language/problem"
	"assay/shared/service/quota"
	"assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 5, 1, 10, 20, 0, 0, time.UTC)

func open(t *testing.T) store.Store {
	t.Helper()
	return recordtest.OpenStore(t, embedded.Options{})
}

func caller(id string) access.Caller { return access.Caller{ID: id} }

// at returns a clock that shows the instant.
func at(now *time.Time) func() time.Time { return func() time.Time { return *now } }

var oneTask = record.Charge{Kind: record.MadeTasks, Count: 1}

// take reads the user's usage and takes the charge in a transaction, again after a conflict.
func take(ctx context.Context, l *quota.Ledger, s store.Store, c access.Caller, ch record.Charge) error {
	return records.Retry(ctx, func() error {
		u, err := records.Get[record.Usage](ctx, s, store.Strong, record.UsageKey(c.ID))
		if err != nil {
			return err
		}
		tx := new(records.Tx)
		if err := l.Take(ctx, tx, c, u, ch); err != nil {
			return err
		}
		return tx.Commit(ctx, s)
	})
}

// TestTake_LimitsEachSpanOf24Hours checks that a user never creates more in 24 hours than the quota allows, and that more are possible
// at the instant that the refusal names.
func TestTake_LimitsEachSpanOf24Hours(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		const most = 5
		limits := record.UsageLimits{PerDay: map[string]int64{record.MadeTasks: most}}
		u, now := &record.Usage{}, start
		var made []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "attempts") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(7*time.Hour)).Draw(t, "pause")))
			err := u.Take(limits, oneTask, now)
			var p *problem.Error
			if errors.As(err, &p) {
				later := now.Add(p.RetryAfter)
				if p.Kind != problem.QuotaToday || p.RetryAfter <= 0 || p.RetryAfter > 25*time.Hour {
					t.Fatalf("%v after %v", err, p.RetryAfter)
				}
				if again := u.Take(limits, oneTask, later); again != nil {
					t.Fatalf("refused at %s until %s, and then: %v", now, later, again)
				}
				now = later
			}
			made = append(made, now)
			if n := len(made) - most - 1; n >= 0 && now.Sub(made[n]) < record.Day {
				t.Fatalf("%d within %s", most+1, now.Sub(made[n]))
			}
		}
	})
}

// TestTake_SaysHowManyWereMade checks the singular and the plural in refusals.
func TestTake_SaysHowManyWereMade(t *testing.T) {
	for kind, want := range map[string]string{record.MadeOrganizers: "created 1 organizer in", record.MadeAudits: "created 1 audit entry in"} {
		limits := record.UsageLimits{PerDay: map[string]int64{kind: 1}}
		u := &record.Usage{}
		first := u.Take(limits, record.Charge{Kind: kind, Count: 1}, start)
		second := u.Take(limits, record.Charge{Kind: kind, Count: 1}, start)
		if first != nil || second == nil || !strings.Contains(second.Error(), want) {
			t.Errorf("%s: %v, then %v", kind, first, second)
		}
	}
}

func TestTake_ConcurrentCallsStayWithinTheQuota(t *testing.T) {
	s := open(t)
	l := quota.New(record.Quotas{User: record.UsageLimits{PerDay: map[string]int64{record.MadeTasks: 10}}}, s, at(&start))
	var taken, refused atomic.Int64
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			err := take(t.Context(), l, s, caller("a"), oneTask)
			switch {
			case err == nil:
				taken.Add(1)
			case problem.QuotaToday.Is(err):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 10 || refused.Load() != 20 {
		t.Errorf("%d were taken and %d refused, of 10 allowed", taken.Load(), refused.Load())
	}
	if err := take(t.Context(), l, s, caller("b"), oneTask); err != nil {
		t.Errorf("another user: %v", err)
	}
	if err := take(t.Context(), l, s, access.Caller{ID: "a", Admin: true}, oneTask); err != nil {
		t.Errorf("an administrator: %v", err)
	}
}

func TestTake_RefundsBytesAndExpiresLeavingOnes(t *testing.T) {
	s, now := open(t), start
	l := quota.New(record.Quotas{User: record.UsageLimits{StoredBytes: 100}}, s, at(&now))
	must := func(at time.Time, ch record.Charge, allowed bool) {
		t.Helper()
		now = at
		if err := take(t.Context(), l, s, caller("a"), ch); (err == nil) != allowed || err != nil && !problem.QuotaExhausted.Is(err) {
			t.Errorf("%+v: %v", ch, err)
		}
	}
	must(start, record.Charge{Bytes: 80}, true)
	must(start, record.Charge{Bytes: 21}, false)
	must(start, record.Charge{Leaving: 20, Until: record.At(start.Add(time.Hour))}, true)
	must(start, record.Charge{Bytes: 1}, false)
	must(start.Add(2*time.Hour), record.Charge{Bytes: 20}, true)
	tx := new(records.Tx)
	if err := (quota.Account{Store: s, Tx: tx, Now: start, UserID: "a"}).Credit(t.Context(), record.Charge{Bytes: -60}); err != nil {
		t.Fatal(err)
	}
	recordtest.New(t, s).Commit(tx)
	must(start.Add(2*time.Hour), record.Charge{Bytes: 60}, true)
	if u := recordtest.Get[record.Usage](t, s, record.UsageKey("a")); u.Bytes != 100 {
		t.Errorf("%d bytes", u.Bytes)
	}
}

// TestTake_VerifiesPendingUploadsBeforeItRefuses checks that uploads no longer count once they have arrived or their runs have ended,
// although nothing was written to the usage then.
func TestTake_VerifiesPendingUploadsBeforeItRefuses(t *testing.T) {
	s := open(t)
	l := quota.New(record.Quotas{User: record.UsageLimits{PendingFiles: 2, PendingBytes: 1000}}, s, at(&start))
	announce := func(state record.RunState, f record.FileState) error {
		r := &record.RunItem{}
		r.Meta = record.NewMeta(start)
		r.UserID = "a"
		r.State = state
		r.Files = []record.File{{Name: "run", Size: 400, SHA256: strings.Repeat("a", 64), State: f}}
		if r.State == record.Queued {
			r.QueuedAt = new(record.At(start))
		}
		recordtest.New(t, s).Put(r)
		return take(t.Context(), l, s, caller("a"), record.Charge{
			Pending: map[string]record.Uploads{r.Key().Partition: {Files: 1, Bytes: 400}}})
	}
	for _, c := range []struct {
		state   record.RunState
		file    record.FileState
		allowed bool
	}{
		{record.Queued, record.FileStored, true}, {record.Cancelled, record.FilePending, true}, {record.AwaitingUpload, record.FilePending, true},
		{record.AwaitingUpload, record.FilePending, true}, {record.AwaitingUpload, record.FilePending, false},
	} {
		if err := announce(c.state, c.file); (err == nil) != c.allowed || err != nil && !problem.QuotaExhausted.Is(err) {
			t.Errorf("%s: %v", c.state, err)
		}
	}
	if u := recordtest.Get[record.Usage](t, s, record.UsageKey("a")); len(u.Pending) != 2 {
		t.Errorf("%v", u.Pending)
	}
}

// TestLedger_CountsForAllProcesses checks that processes refuse charges because of other processes' charges, once they have read these,
// and that they write rarely.
func TestLedger_CountsForAllProcesses(t *testing.T) {
	plain := open(t)
	q := record.Quotas{Server: record.UsageLimits{PerDay: map[string]int64{record.MadeTasks: 5}, StoredBytes: 100, PendingFiles: 2}}
	now := start
	one, two := quota.New(q, plain, at(&now)), quota.New(q, plain, at(&now))
	counted := one.Store()
	for n, user := range []string{"a", "b", "c", "d", "e"} {
		ch := oneTask
		if n == 0 {
			ch.Bytes = 90
			ch.Pending = map[string]record.Uploads{"RUN#" + record.NewID(now): {Files: 2, Bytes: 90}}
		}
		if err := take(t.Context(), one, counted, caller(user), ch); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ledger *quota.Ledger
		charge record.Charge
		kind   *problem.Kind
	}{
		"its own process": {one, oneTask, problem.QuotaToday},
		"another one":     {two, oneTask, problem.QuotaToday},
		"bytes":           {two, record.Charge{Bytes: 11}, problem.QuotaExhausted},
		"pending uploads": {two, record.Charge{Pending: map[string]record.Uploads{"RUN#" + record.NewID(now): {Files: 1, Bytes: 1}}},
			problem.QuotaExhausted},
	} {
		if err := take(t.Context(), c.ledger, plain, caller("z"), c.charge); !c.kind.Is(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	now = now.Add(26 * time.Hour)
	if err := take(t.Context(), two, plain, caller("z"), oneTask); err != nil {
		t.Errorf("a day later: %v", err)
	}
	if items, err := plain.Get(t.Context(), store.Strong, record.UsageKey("a")); err != nil ||
		strings.Contains(strings.ToLower(string(items[0].Data)), "took") {
		t.Errorf("the table keeps what only the counters of the process need: %s, %v", items[0].Data, err)
	}
	shards, err := plain.Query(t.Context(), store.Query{Partition: record.ServerPartition, Limit: 10})
	if err != nil || len(shards) < 1 || len(shards) > 2 {
		t.Errorf("%d shards after two writes: %v", len(shards), err)
	}
}

func TestParse_SaysWhatIsWrong(t *testing.T) {
	q, err := quota.Parse(record.DefaultQuotas(), `{"user":{"perDay":{"tasks":7},"storedBytes":0}}`)
	if err != nil || q.User.PerDay[record.MadeTasks] != 7 || q.User.StoredBytes != 0 ||
		q.User.PerDay[record.MadeRuns] != record.DefaultQuotas().User.PerDay[record.MadeRuns] {
		t.Errorf("%+v, %v", q, err)
	}
	for bad, want := range map[string]string{
		`{`:                                  `{: unexpected EOF;`,
		`{user:1}`:                           `{user:1}: invalid character 'u' looking for`,
		`{} {}`:                              `{} {}: there is more than one JSON value;`,
		`{"users":{}}`:                       `{"users":{}}: json: unknown field "users"; limits.quotas`,
		`{"user":{"perDay":{"tasks":"7"}}}`:  `{"user":{"perDay":{"tasks":"7"}}}: json: cannot unmarshal string into Go struct field UsageLimits.user.perDay of type int64;`,
		`{"server":{"storedBytes":1e12}}`:    `{"server":{"storedBytes":1e12}}: json: cannot unmarshal number 1e12 into Go struct field UsageLimits.server.storedBytes`,
		`{"user":5}`:                         `{"user":5}: json: cannot unmarshal number into Go struct field Quotas.user`,
		`{"user":{"perDay":{"task":1}}}`:     `user.perDay has "task", which is none of its kinds: auditEntries, datasets,`,
		`{"server":{"storedBytes":-1}}`:      `server.storedBytes is -1, and must be 0, for no limit, or more`,
		`{"server":{"perDay":{"tasks":-1}}}`: `server.perDay.tasks is -1,`,
	} {
		if _, err := quota.Parse(record.DefaultQuotas(), bad); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}

// TestLedger_CountsRefundsInOtherShards checks that charges and refunds cancel out, although they are counted in random shards.
func TestLedger_CountsRefundsInOtherShards(t *testing.T) {
	plain, now := open(t), start
	l := quota.New(record.Quotas{Server: record.UsageLimits{StoredBytes: 100}}, plain, at(&now))
	counted := l.Store()
	for range 40 {
		if err := take(t.Context(), l, counted, caller("a"), record.Charge{Bytes: 60}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
		tx := new(records.Tx)
		if err := (quota.Account{Store: counted, Tx: tx, Now: now, UserID: "a"}).Credit(t.Context(), record.Charge{Bytes: -60}); err != nil {
			t.Fatal(err)
		}
		recordtest.New(t, counted).Commit(tx)
		now = now.Add(time.Minute)
	}
}

// TestDefaultQuotas_LeaveRoomForOthers compares the quotas of one user with those of all users together.
func TestDefaultQuotas_LeaveRoomForOthers(t *testing.T) {
	q := record.DefaultQuotas()
	limits := func(l record.UsageLimits) map[string]int64 {
		all := maps.Clone(l.PerDay)
		all["pendingFiles"] = l.PendingFiles
		all["pendingBytes"] = l.PendingBytes
		all["storedBytes"] = l.StoredBytes
		return all
	}
	server := limits(q.Server)
	for name, user := range limits(q.User) {
		if server[name] < 20*user {
			t.Errorf("%s: one user may take %d of %d, which is more than a twentieth", name, user, server[name])
		}
	}
}

// TestDefaultQuotas_NameEveryKind finds kinds that have a limit and no noun, or the reverse. Usage is counted for kinds with a noun.
func TestDefaultQuotas_NameEveryKind(t *testing.T) {
	kinds := slices.Sorted(maps.Keys(new(record.Usage).Taken(start).PerDay))
	q := record.DefaultQuotas()
	for of, limits := range map[string]record.UsageLimits{"users": q.User, "the server": q.Server} {
		if limited := slices.Sorted(maps.Keys(limits.PerDay)); !slices.Equal(limited, kinds) {
			t.Errorf("the kinds with a limit of %s are %v, and those with a noun in platform_quota.go are %v", of, limited, kinds)
		}
	}
}
