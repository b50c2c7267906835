// Package quota enforces the quotas of the platform (record.Quotas), for each user and for all users together.
//
// The usage of a user is exact: the transaction that adds usage also writes it, so that concurrent requests cannot exceed a quota.
// The usage of all users is approximate. Each process adds up the charges of its transactions, and writes the sum to a shard every
// few seconds. It decides by the sum of the shards some seconds ago.
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

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/config"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

const (
	// freshFor is how long a process uses the counters of the server before it reads them again, and how often it writes to them.
	freshFor = 10 * time.Second
	// verifyFrom is the number of a user's records waiting for uploads from which they are always verified, so that Usage stays a small
	// record.
	verifyFrom = 16
)

// Parse returns the defaults, overridden by settings in JSON such as {"user":{"perDay":{"tasks":500}}}. Empty settings override
// nothing.
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

// FromEnvironment returns the default quotas, overridden by the deployment's environment variable.
func FromEnvironment() (record.Quotas, error) {
	q, err := Parse(record.DefaultQuotas(), os.Getenv(config.QuotasVariable))
	if err != nil {
		return q, fmt.Errorf("%s: %w", config.QuotasVariable, err)
	}
	return q, nil
}

// Ledger decides about charges, and counts the usage of all users together.
type Ledger struct {
	Quotas record.Quotas
	// ResultTime is the longest time for which a tool's stored result exists.
	ResultTime time.Duration

	store store.Store // without counting
	now   func() time.Time

	mu      sync.Mutex
	total   record.ServerUsage // the shards, and the charges of this process since read
	read    time.Time          // when total was read
	taken   record.ServerUsage // charges that no shard has yet
	written time.Time          // when a shard was last written
}

// New returns a Ledger for the store. Results of tools count for an hour.
func New(q record.Quotas, s store.Store, now func() time.Time) *Ledger {
	return &Ledger{Quotas: q, ResultTime: time.Hour, store: s, now: now}
}

// Take adds the caller's charge to tx, or returns a problem if a quota does not allow it. usage is the caller's usage from the grants,
// or nil.
func (l *Ledger) Take(ctx context.Context, tx *records.Tx, caller access.Caller, usage *record.Usage, ch record.Charge) error {
	limits := usage.Limits(l.Quotas.User)
	if caller.Admin {
		limits = record.UsageLimits{}
	} else if err := l.checkServer(ctx, ch); err != nil {
		return err
	}
	if usage != nil && len(ch.Pending) > 0 && (len(usage.Pending) >= verifyFrom || usage.PassesPending(limits, ch)) {
		if err := verifyPending(ctx, l.store, usage); err != nil {
			return err
		}
	}
	return Account{Store: l.store, Tx: tx, Now: l.now(), UserID: caller.ID}.take(limits, usage, ch)
}

// Account is a user's usage within one transaction.
type Account struct {
	Store  store.Store
	Tx     *records.Tx
	Now    time.Time
	UserID string // empty if the files were never charged; then nothing changes
}

// Credit adds to the transaction the bytes that deleted files of the user give back: a charge of negative bytes. No limit refuses it.
func (a Account) Credit(ctx context.Context, ch record.Charge) error {
	return a.charge(ctx, func(*record.Usage) record.UsageLimits { return record.UsageLimits{} }, ch)
}

// Charge adds the charge of a user who is not the caller to the transaction. It returns a problem if the user's limits do not allow the
// charge. The limits are the user's own, or the defaults.
func (a Account) Charge(ctx context.Context, defaults record.UsageLimits, ch record.Charge) error {
	return a.charge(ctx, func(u *record.Usage) record.UsageLimits { return u.Limits(defaults) }, ch)
}

func (a Account) charge(ctx context.Context, limits func(*record.Usage) record.UsageLimits, ch record.Charge) error {
	if a.UserID == "" || ch.Bytes == 0 && ch.Leaving == 0 {
		return nil
	}
	usage, err := records.Get[record.Usage](ctx, a.Store, store.Strong, record.UsageKey(a.UserID))
	if err != nil {
		return err
	}
	return a.take(limits(usage), usage, ch)
}

// take adds the charge to usage in the transaction, and updates the user's entry in the list by storage. A nil usage means none before.
func (a Account) take(limits record.UsageLimits, usage *record.Usage, ch record.Charge) error {
	usage = cmp.Or(usage, &record.Usage{Meta: record.MetaOf(a.UserID, a.Now)})
	listed := usage.StorageKey()
	if err := usage.Take(limits, ch, a.Now); err != nil {
		return err
	}
	a.Tx.Save(usage, a.Now)
	key := usage.StorageKey()
	if key == listed {
		return nil
	}
	if !listed.IsZero() {
		a.Tx.DeleteKeys(listed)
	}
	if !key.IsZero() {
		a.Tx.Create(&record.Reservation{Meta: record.MetaOf(a.UserID, a.Now), At: key})
	}
	return nil
}

// verifyPending updates the user's pending uploads from the stored records. It may read outside the transaction: announced uploads only
// arrive or end, and new ones need a charge. So the result is never too small.
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
			r, err := record.DecodeFileHolder(it)
			if err != nil {
				return err
			}
			var left record.Uploads
			switch r := r.(type) {
			case *record.RunItem:
				if r.State == record.AwaitingUpload {
					left = record.PendingUploads(r.Files)
				}
			case *record.DatasetItem:
				if r.Payer == u.ID {
					left = record.PendingUploads(r.Files())
				}
			}
			u.Pending[some[i].Partition] = left
			if left.Files == 0 {
				delete(u.Pending, some[i].Partition)
			}
		}
	}
	return nil
}

// checkServer returns a problem if the limits of all users together do not allow the charge.
func (l *Ledger) checkServer(ctx context.Context, ch record.Charge) error {
	server, now := l.Quotas.Server, l.now()
	if len(server.PerDay) == 0 && server.PendingFiles == 0 && server.PendingBytes == 0 && server.StoredBytes == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.read) >= freshFor {
		shards, err := records.Query[record.ServerUsage](ctx, l.store, store.Query{Partition: record.ServerPartition, Limit: record.ServerShards})
		if err != nil {
			return err
		}
		l.total, l.read = record.ServerUsage{}, now
		l.total.Merge(l.taken.Counts)
		for _, shard := range shards {
			l.total.Merge(shard.Counts)
		}
	}
	return l.total.Refuse(server, ch, now)
}

// Store returns the ledger's store. Writes of users' usage through it are added to the counters of the server.
func (l *Ledger) Store() store.Store { return &countingStore{Store: l.store, ledger: l} }

type countingStore struct {
	store.Store
	ledger *Ledger
}

// Write implements store.Store. A failure to write the counters does not affect the caller. It is tried again with the next charges.
func (c *countingStore) Write(ctx context.Context, writes ...store.Write) error {
	if err := c.Store.Write(ctx, writes...); err != nil {
		return err
	}
	for i := range writes {
		if u, ok := writes[i].Record.(*record.Usage); ok {
			c.ledger.count(ctx, u.Took)
		}
	}
	return nil
}

// count adds a charge to the counters of the process, and writes a shard every freshFor.
func (l *Ledger) count(ctx context.Context, ch record.Charge) {
	now := l.now()
	l.mu.Lock()
	l.total.Add(ch, now)
	l.taken.Add(ch, now)
	due := now.Sub(l.written) >= freshFor
	if due {
		l.written = now
	}
	l.mu.Unlock()
	if due {
		_ = l.Flush(ctx)
	}
}

// Flush writes the charges that this process has counted to a shard.
func (l *Ledger) Flush(ctx context.Context) error {
	l.mu.Lock()
	taken := l.taken
	l.taken = record.ServerUsage{}
	l.mu.Unlock()
	if taken.Bytes == 0 && len(taken.Timed) == 0 {
		return nil
	}
	err := records.Retry(ctx, func() error {
		now := l.now()
		u := &record.ServerUsage{Meta: record.MetaOf(strconv.Itoa(rand.IntN(record.ServerShards)), now)} //nolint:gosec // which shard is no secret
		old, err := records.Get[record.ServerUsage](ctx, l.store, store.Strong, u.Key())
		if err != nil {
			return err
		}
		u = cmp.Or(old, u)
		u.Merge(taken.Counts)
		u.Forget(now)
		return new(records.Tx).Save(u, now).Commit(ctx, l.store)
	})
	if err != nil {
		l.mu.Lock()
		l.taken.Merge(taken.Counts)
		l.mu.Unlock()
	}
	return err
}
