// Package quota holds users, and all of them together, to the quotas of the platform (record.Quotas).
//
// What a user has taken is written in the transaction that takes it, so that no race overshoots a quota of the user. What
// all users have taken is approximate: each process adds up what its transactions took, writes the sum to a shard every few
// seconds, and decides by the sum of the shards as it was some seconds ago.
package quota

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/shared/access"
	"assay/shared/config"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

const (
	// freshFor is how long the counters of the server are used as they were read, and how often a process writes to them.
	freshFor = 10 * time.Second
	// verifyFrom is how many records of a user may wait for uploads until they are verified in any case, so that what the
	// user has taken stays a small record.
	verifyFrom = 16
)

// Parse returns the defaults with what the JSON sets of them, such as {"user":{"perDay":{"tasks":500}}}. Empty sets nothing.
func Parse(defaults record.Quotas, settings string) (record.Quotas, error) {
	if err := config.ParseJSON(settings, &defaults); err != nil {
		return defaults, fmt.Errorf("%w; limits.quotas of GET /info shows the members", err)
	}
	known := record.DefaultQuotas().User.PerDay
	for of, l := range map[string]record.UsageLimits{"user": defaults.User, "server": defaults.Server} {
		limits := map[string]int64{"pendingFiles": l.PendingFiles, "pendingBytes": l.PendingBytes, "storedBytes": l.StoredBytes}
		for kind, n := range l.PerDay {
			if _, ok := known[kind]; !ok {
				return defaults, fmt.Errorf("%s.perDay has %q, which is none of its kinds: %s", of, kind,
					strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
			limits["perDay."+kind] = n
		}
		for name, n := range limits {
			if n < 0 {
				return defaults, fmt.Errorf("%s.%s is %d, and must be 0, for no limit, or more", of, name, n)
			}
		}
	}
	return defaults, nil
}

// FromEnvironment returns the default quotas with what the deployment's variable sets of them.
func FromEnvironment() (record.Quotas, error) {
	q, err := Parse(record.DefaultQuotas(), os.Getenv(config.QuotasVariable))
	if err != nil {
		return q, fmt.Errorf("%s: %w", config.QuotasVariable, err)
	}
	return q, nil
}

// Ledger decides about charges.
type Ledger struct {
	Quotas record.Quotas
	// ResultTime is for how long a result of a tool that was stored for its caller is there at most.
	ResultTime time.Duration

	mu      sync.Mutex
	total   record.ServerUsage // with what this process took since
	read    time.Time          // when total was read
	taken   record.ServerUsage // that no shard has yet
	written time.Time          // when a shard was last written
}

// New returns a Ledger. Results of tools count for an hour.
func New(q record.Quotas) *Ledger { return &Ledger{Quotas: q, ResultTime: time.Hour} }

// Take adds the charge of the caller to tx, or returns the problem that a quota does not allow it. usage is what the caller took
// before, as the grants have it; nil: nothing.
func (l *Ledger) Take(ctx context.Context, s store.Store, now time.Time, tx *records.Tx, caller access.Caller, usage *record.Usage,
	ch record.Charge) error {
	limits := l.Quotas.User
	if caller.Admin {
		limits = record.UsageLimits{}
	} else if err := l.checkServer(ctx, s, now, ch); err != nil {
		return err
	}
	if usage != nil && len(ch.Pending) > 0 && (len(usage.Pending) >= verifyFrom || usage.PassesPending(limits, ch)) {
		if err := verifyPending(ctx, s, usage); err != nil {
			return err
		}
	}
	return take(tx, now, caller.ID, limits, usage, ch)
}

// Credit adds to tx what deleted files of the user give back: a charge of negative bytes. The user's id is empty where the files
// were never charged.
func Credit(ctx context.Context, s store.Store, now time.Time, tx *records.Tx, userID string, ch record.Charge) error {
	return TakeFor(ctx, s, now, tx, userID, record.UsageLimits{}, ch)
}

// TakeFor adds to tx that a user who is not the caller takes the charge, or returns the problem that the limits do not
// allow it.
func TakeFor(ctx context.Context, s store.Store, now time.Time, tx *records.Tx, userID string, limits record.UsageLimits,
	ch record.Charge) error {
	if userID == "" || ch.Bytes == 0 && ch.Leaving == 0 {
		return nil
	}
	usage, err := records.Get[record.Usage](ctx, s, store.Strong, record.UsageKey(userID))
	if err != nil {
		return err
	}
	return take(tx, now, userID, limits, usage, ch)
}

// take adds to tx that usage, which is nil when the user took nothing before, grows by the charge.
func take(tx *records.Tx, now time.Time, userID string, limits record.UsageLimits, usage *record.Usage, ch record.Charge) error {
	usage = cmp.Or(usage, &record.Usage{Meta: record.MetaOf(userID, now)})
	if err := usage.Take(limits, ch, now); err != nil {
		return err
	}
	tx.Save(usage, now)
	return nil
}

// verifyPending makes the pending uploads of the user what they are now. An upload that was announced arrives or ends, and is not
// announced again without a charge, so what is read outside the transaction is never too little.
func verifyPending(ctx context.Context, s store.Store, u *record.Usage) error {
	var keys []store.Key
	for partition := range u.Pending {
		kind, _, _ := strings.Cut(partition, "#")
		keys = append(keys, store.Key{Partition: partition, Sort: kind})
	}
	for some := range slices.Chunk(keys, store.MaxKeys) {
		items, err := s.Get(ctx, store.Strong, some...)
		if err != nil {
			return records.Failed(err)
		}
		for i, it := range items {
			var left record.Uploads
			switch {
			case !it.Exists():
			case record.IsRun(it.Key):
				run, err := records.Decode[record.RunItem](it)
				if err != nil {
					return err
				}
				if run.State == record.AwaitingUpload {
					left = record.PendingUploads(run.Files)
				}
			default:
				d, err := records.Decode[record.DatasetItem](it)
				if err != nil {
					return err
				}
				if d.Payer == u.ID {
					left = record.PendingUploads(d.Files())
				}
			}
			if u.Pending[some[i].Partition] = left; left.Files == 0 {
				delete(u.Pending, some[i].Partition)
			}
		}
	}
	return nil
}

// checkServer decides whether all users together may take the charge.
func (l *Ledger) checkServer(ctx context.Context, s store.Store, now time.Time, ch record.Charge) error {
	server := l.Quotas.Server
	if len(server.PerDay) == 0 && server.PendingFiles == 0 && server.PendingBytes == 0 && server.StoredBytes == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.read) >= freshFor {
		shards, err := s.Query(ctx, store.Query{Partition: record.ServerPartition, Limit: record.ServerShards})
		if err != nil {
			return records.Failed(err)
		}
		l.total, l.read = record.ServerUsage{}, now
		l.total.Merge(l.taken.Counts)
		for _, it := range shards {
			shard, err := records.Decode[record.ServerUsage](it)
			if err != nil {
				return err
			}
			l.total.Merge(shard.Counts)
		}
	}
	return l.total.Refuse(server, ch, now)
}

// Count returns the store, and adds up in the counters of the server what the changes of users' usage in it take.
func (l *Ledger) Count(s store.Store, now func() time.Time) store.Store {
	return &countingStore{Store: s, ledger: l, now: now}
}

type countingStore struct {
	store.Store
	ledger *Ledger
	now    func() time.Time
}

// Write implements store.Store. Whether the counters can be written changes nothing for the caller: what could not, is
// tried again with what comes next.
func (c *countingStore) Write(ctx context.Context, writes ...store.Write) error {
	if err := c.Store.Write(ctx, writes...); err != nil {
		return err
	}
	for i := range writes {
		if u, ok := writes[i].Record.(*record.Usage); ok {
			c.ledger.count(ctx, c.Store, c.now(), u.Took)
		}
	}
	return nil
}

// count adds a charge to the counters of the process, and writes a shard when it is time.
func (l *Ledger) count(ctx context.Context, s store.Store, now time.Time, ch record.Charge) {
	l.mu.Lock()
	l.total.Add(ch, now)
	l.taken.Add(ch, now)
	due := now.Sub(l.written) >= freshFor
	if due {
		l.written = now
	}
	l.mu.Unlock()
	if due {
		_ = l.Flush(ctx, s, now)
	}
}

// Flush writes what this process has counted to a shard.
func (l *Ledger) Flush(ctx context.Context, s store.Store, now time.Time) error {
	l.mu.Lock()
	taken := l.taken
	l.taken = record.ServerUsage{}
	l.mu.Unlock()
	if taken.Bytes == 0 && len(taken.Timed) == 0 {
		return nil
	}
	err := records.Retry(ctx, func() error {
		u := &record.ServerUsage{Meta: record.MetaOf(strconv.Itoa(rand.IntN(record.ServerShards)), now)} //nolint:gosec // which shard is no secret
		old, err := records.Get[record.ServerUsage](ctx, s, store.Strong, u.Key())
		if err != nil {
			return err
		}
		u = cmp.Or(old, u)
		u.Merge(taken.Counts)
		u.Forget(now)
		return new(records.Tx).Save(u, now).Commit(ctx, s)
	})
	if err != nil {
		l.mu.Lock()
		l.taken.Merge(taken.Counts)
		l.mu.Unlock()
	}
	return err
}
