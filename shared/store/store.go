// Package store is the contract of the one table that holds every resource. An embedded file and DynamoDB both implement it, so
// that no rule of the domain depends on which of them is used.
//
// The contract is the weaker of the two. An item has a key of a partition and a sort part, a version, and up to
// NumIndexes sparse secondary index entries, each holding a copy of the item's data. There are no joins, no
// counts and no filters: a caller can only list what has a key or an index entry for that list. The one exception is Scanner,
// for programs that move everything; no operation of the API has it.
//
// # Limits
//
// An item's key, index entries and data together are at most MaxItemBytes. A Write carries at most MaxWrites items,
// each key at most once, MaxWriteBytes together. A Get names at most MaxKeys keys. Partition and sort parts are
// non-empty valid UTF-8 without NUL bytes; a partition is at most MaxPartitionBytes long, a sort part MaxSortBytes.
// A call beyond them fails with ErrInvalid and does nothing; ValidateGet, ValidateQuery, ValidateScan and ValidateWrite are
// the check that every implementation makes.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Limits of every implementation: DynamoDB's own, with room left for the attribute names that it counts.
const (
	NumIndexes        = 6
	MaxItemBytes      = 390 << 10
	MaxWriteBytes     = 3900 << 10
	MaxWrites         = 100
	MaxKeys           = 100
	MaxPartitionBytes = 2048
	MaxSortBytes      = 1024
)

// Key names an item in the table, or an entry in an index. Within a partition, order is that of the bytes of Sort.
type Key struct{ Partition, Sort string }

// IsZero reports whether k names nothing: the item is not in that index.
func (k Key) IsZero() bool { return k == Key{} }

// Index selects what a Query reads: the table itself, or one of the indexes 1 to NumIndexes.
type Index int

// Table is the index that is the table itself.
const Table Index = 0

// Item is one item of the table, as in DynamoDB.
type Item struct {
	Key
	// Indexes[i-1] is the item's entry in index i; the zero Key keeps the item out of that index.
	// Two items may share an entry's key. A Query of an index returns items with their entries in that index alone.
	Indexes [NumIndexes]Key
	// Version is 1 when the item is created, or Write.Follows and one, and grows by one with each replacement. An item with Version 0
	// does not exist.
	Version int64
	// Expires, when not zero, is the instant from which the item counts as deleted, by the clock of the reader.
	// It is stored in whole seconds, a fraction rounded up, and read back in UTC. It may be past already.
	Expires time.Time
	// Data may be any bytes; empty Data reads back with length 0. A store keeps no reference to the Data of a
	// Write after it has returned, and the Data that a read returned is the caller's own.
	Data []byte
}

// LeaveEntry leaves the item, as it was read from an index, with its entry in that one; one of the Table stays as it is.
func (it *Item) LeaveEntry(of Index) {
	if of == Table {
		return
	}
	entry := it.Indexes[of-1]
	it.Indexes = [NumIndexes]Key{}
	it.Indexes[of-1] = entry
}

// Exists reports whether a Get found the item.
func (it *Item) Exists() bool { return it.Version > 0 }

// ExpiresUnix returns Expires as it is stored: seconds since 1970, rounded up, and 0 for an item that does not expire.
func (it *Item) ExpiresUnix() int64 {
	if it.Expires.IsZero() {
		return 0
	}
	s := it.Expires.Unix()
	if it.Expires.Nanosecond() > 0 {
		s++
	}
	return s
}

// Consistency says how fresh a read must be.
type Consistency bool

const (
	// Eventual may miss what was written within the store's Lag, at half the price of Strong.
	Eventual Consistency = false
	// Strong sees every write that was acknowledged before the read began.
	Strong Consistency = true
)

// Query reads one partition of the table or of an index, in order of Sort.
type Query struct {
	Index      Index
	Partition  string
	From, To   string // inclusive bounds of Sort, From <= To, with the limits of a sort part; empty: no bound
	Descending bool
	// After is a cursor: the Query starts after this item, which an earlier Query with the same Index and Partition returned.
	// It is valid also when the item was changed, moved or deleted since.
	After *Item
	Limit int // at most so many items; must be positive
	// MaxBytes, when not 0, ends the answer with the item whose Data brings the total to at least that many bytes.
	MaxBytes int
	// Consistency applies to the Table only; an index is always Eventual.
	Consistency Consistency
}

// IsLastPage reports whether no item follows the items, which are the answer to q.
func (q *Query) IsLastPage(items []Item) bool {
	bytes := 0
	for i := range items {
		bytes += len(items[i].Data)
	}
	return len(items) < q.Limit && (q.MaxBytes == 0 || bytes < q.MaxBytes)
}

// Truncate returns the items up to the one at which q.MaxBytes ends the answer.
func (q *Query) Truncate(items []Item) []Item {
	bytes := 0
	for i := range items {
		if bytes += len(items[i].Data); q.MaxBytes > 0 && bytes >= q.MaxBytes {
			return items[:i+1]
		}
	}
	return items
}

// Store is a table. Every method is safe for concurrent use, honours the context's deadline, and adds its
// cost to the Usage that WithUsage put in the context. A call whose context has ended already does nothing and
// returns an error that wraps the context's.
type Store interface {
	// Get returns the items of the keys, in the order of the keys; one that is missing or expired has its Key and Version 0.
	// It is one call whatever the number of keys, and none when there are no keys. A key may be named more than once.
	// Reads of several keys are not a snapshot.
	Get(ctx context.Context, c Consistency, keys ...Key) ([]Item, error)

	// Query returns the items of q in order; q.IsLastPage is true of them only when no more follow. Items that expired
	// are left out.
	// Items with an equal index key come in an order that is the same in every Query of the same direction.
	Query(ctx context.Context, q Query) ([]Item, error)

	// Write applies all of the writes or none, durably before it returns nil. When a condition does not hold the error
	// is a *ConflictError that says which, and nothing was written; nor was anything after ErrInvalid. After any other
	// error, that of a context that ended included, it is unknown whether all were applied or none: read to find out.
	// All conditions are checked against one state, in which no other Write is half applied, before anything changes.
	// Writes that do not overlap in time take effect in their order. Without writes it does nothing.
	// Eventual reads, and so all of indexes, see it within the store's Lag.
	Write(ctx context.Context, writes ...Write) error

	// Revision returns a number that changes whenever a Write changes what a Query of this partition of an index returns. It may also
	// change without a Write. Expiring items do not change it. Within a process no two states share a number, even of different
	// stores. Revision costs nothing, and says nothing of the Table. It is 0 in a store that would have to read to know.
	Revision(i Index, partition string) uint64

	// Lag returns how long after a Write returned an Eventual read may still miss it. It never changes. It is 0 in a store without
	// replicas, where every read sees each Write that returned before the read began.
	Lag() time.Duration

	// Ping returns nil when the store can answer.
	Ping(ctx context.Context) error
}

// Scanner is a Store that can also be read as a whole.
type Scanner interface {
	Store

	// Scan returns a page of the table, in an order of its own: the items behind the one with the key after, or from the beginning
	// when that is the zero Key. Behind last is the next page; the zero Key says that nothing follows. A page has at most limit
	// items and about ScanBytes of Data, and can be empty. after need not exist any more. An item that exists
	// during all of the calls comes once; one that is written meanwhile comes as it was or as it is, or, if it did not or does not
	// exist, perhaps not. Items that expired are left out. It reads what every Write had acknowledged before.
	Scan(ctx context.Context, after Key, limit int) (items []Item, last Key, err error)
}

// ScanBytes is about how much Data one page of a Scan has at most: what DynamoDB reads at once.
const ScanBytes = 1 << 20

// Write is one change of a Write call. Make it with Create, Replace, Delete, DeleteIf, Check or CheckAbsent.
type Write struct {
	Op   Op
	Item Item
	// Follows is, for an item that is created again or under another key, the version that it had: it never has the same one twice.
	Follows int64
	// Record is what the Item of a put encodes, for code between the caller and the store, which ignores it.
	Record any
}

// Op is the kind of a Write with its condition.
type Op int

// The operations; the zero Op is refused.
const (
	_             Op = iota
	OpCreate         // put; the key must not exist (an expired item does not exist); stores version Follows+1
	OpReplace        // put; the stored version must be Item.Version; stores Item.Version+1
	OpDelete         // delete, whether or not it exists
	OpDeleteIf       // delete; the stored version must be Item.Version
	OpCheck          // change nothing; the stored version must be Item.Version
	OpCheckAbsent    // change nothing; the key must not exist (an expired item does not exist)
)

// PutVersion is the version that a put gives the item, and 0 for other operations.
func (w *Write) PutVersion() int64 {
	switch w.Op {
	case OpCreate:
		return w.Follows + 1
	case OpReplace:
		return w.Item.Version + 1
	default:
		return 0
	}
}

// Holds reports whether the condition of the write holds where the version is stored under its key; 0 where nothing is.
func (w *Write) Holds(stored int64) bool {
	switch w.Op {
	case OpCreate, OpCheckAbsent:
		return stored == 0
	case OpReplace, OpDeleteIf, OpCheck:
		return stored == w.Item.Version
	default:
		return w.Op == OpDelete
	}
}

// needsVersion reports whether the operation's condition is a version, which then must be positive.
func (op Op) needsVersion() bool { return op == OpReplace || op == OpDeleteIf || op == OpCheck }

// Create writes an item that must not exist yet. Its Version is ignored.
func Create(it Item) Write { return Write{Op: OpCreate, Item: it} }

// Replace writes over the item whose version is it.Version.
func Replace(it Item) Write { return Write{Op: OpReplace, Item: it} }

// Delete removes the item of the key, if there is one.
func Delete(k Key) Write { return Write{Op: OpDelete, Item: Item{Key: k}} }

// DeleteIf removes the item if its version is still it.Version.
func DeleteIf(it Item) Write {
	return Write{Op: OpDeleteIf, Item: Item{Key: it.Key, Version: it.Version}}
}

// Check requires that the item's version is still it.Version.
func Check(it Item) Write { return Write{Op: OpCheck, Item: Item{Key: it.Key, Version: it.Version}} }

// CheckAbsent requires that no item has the key.
func CheckAbsent(k Key) Write { return Write{Op: OpCheckAbsent, Item: Item{Key: k}} }

// ConflictError says that nothing was written because conditions did not hold.
type ConflictError struct {
	Failed []int // the positions, in the call's writes, of those whose condition did not hold; never empty
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("store: the condition of write %v did not hold", e.Failed)
}

// IsConflict reports whether err is a *ConflictError: read again, decide again, try again.
func IsConflict(err error) bool {
	_, ok := errors.AsType[*ConflictError](err)
	return ok
}

// ErrInvalid is wrapped by errors for a call that breaks the contract's limits. It is a bug of the caller.
var ErrInvalid = errors.New("store: invalid call")

// ErrUnavailable is wrapped by errors that say nothing about the data: the store did not answer, is throttled, or
// lost a race against other transactions too often. Trying again later may help.
var ErrUnavailable = errors.New("store: unavailable")

// Usage counts what the calls of a context cost, for the budgets that tests hold every operation to.
type Usage struct {
	Calls atomic.Int64 // calls of Get, Query, Scan and Write that reached the table, also those that then failed
	Read  atomic.Int64 // the keys of Gets, found or not, and the items that Queries and Scans fetched, also those left out as expired
}

type usageKey struct{}

// WithUsage returns a context whose store calls are counted in u.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// Count adds a call's cost to the context's Usage, if it has one. Implementations call it once in each call.
func Count(ctx context.Context, read int) {
	if u, ok := ctx.Value(usageKey{}).(*Usage); ok {
		u.Calls.Add(1)
		u.Read.Add(int64(read))
	}
}
