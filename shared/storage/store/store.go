// Package store is the contract of the table that holds every resource. An embedded file and DynamoDB both implement it, so that no
// rule of the domain depends on the implementation.
//
// The contract is the weaker of the two. An item has a key of a partition and a sort part, a version, and up to NumIndexes sparse
// secondary index entries, each with a copy of the item's data. There are no joins, counts or filters: a caller can only list
// items with a key or an index entry for that list. The one exception is Scanner, for programs that move all items. No operation
// of the API uses it.
//
// # Limits
//
// An item's key, index entries and data together are at most MaxItemBytes. A Write carries at most MaxWrites items,
// each key at most once, MaxWriteBytes together. A Get names at most MaxKeys keys. Partition and sort parts are
// non-empty valid UTF-8 without NUL bytes; a partition is at most MaxPartitionBytes long, a sort part MaxSortBytes.
// A call that exceeds a limit fails with ErrInvalid and does nothing. Every implementation checks the limits with ValidateGet,
// ValidateQuery, ValidateScan and ValidateWrite.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Limits of every implementation. They are DynamoDB's, less room for the attribute names that DynamoDB counts.
const (
	NumIndexes        = 6
	MaxItemBytes      = 390 << 10
	MaxWriteBytes     = 3900 << 10
	MaxWrites         = 100
	MaxKeys           = 100
	MaxPartitionBytes = 2048
	MaxSortBytes      = 1024
)

// Key names an item in the table, or an entry in an index. Within a partition, keys are ordered by the bytes of Sort.
type Key struct{ Partition, Sort string }

// IsZero reports whether k is the zero Key, which means that the item is not in the index.
func (k Key) IsZero() bool { return k == Key{} }

// Index selects what a Query reads: the table, or one of the indexes 1 to NumIndexes.
type Index int

// Table is the Index of the table itself.
const Table Index = 0

// Item is an item of the table, as in DynamoDB.
type Item struct {
	Key
	// Indexes[i-1] is the item's entry in index i; the zero Key keeps the item out of that index.
	// Two items may have equal entries. A Query of an index returns items with their entry in that index only.
	Indexes [NumIndexes]Key
	// Version is Write.Follows+1 when the item is created, normally 1, and grows by one with each replacement. An item with Version 0
	// does not exist.
	Version int64
	// Expires, unless zero, is the instant from which the item counts as deleted, by the clock of the reader.
	// It is stored in whole seconds, rounded up, and read back in UTC. It may be in the past.
	Expires time.Time
	// Data may be any bytes. Empty Data reads back with length 0. A store keeps no reference to the Data of a Write that has
	// returned. The Data that a read returns belongs to the caller.
	Data []byte
}

// LeaveEntry removes the item's entries except the one in the given index. For the Table it removes nothing.
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

// ExpiresUnix returns the stored form of Expires: seconds since 1970, rounded up, or 0 for an item that does not expire.
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

// Consistency says how recent the result of a read must be.
type Consistency bool

const (
	// Eventual may miss writes within the store's Lag. It costs half as much as Strong.
	Eventual Consistency = false
	// Strong sees every write that was acknowledged before the read began.
	Strong Consistency = true
)

// Query reads one partition of the table or of an index, in order of Sort.
type Query struct {
	Index      Index
	Partition  string
	From, To   string // inclusive bounds of Sort, From <= To, with the limits of a sort part; empty means no bound
	Descending bool
	// After is a cursor: the Query starts after this item, which an earlier Query with the same Index and Partition must have returned.
	// It remains valid if the item was changed, moved or deleted since.
	After *Item
	Limit int // the greatest number of items; must be positive
	// MaxBytes, unless 0, ends the result with the item whose Data brings the total to at least this many bytes.
	MaxBytes int
	// Consistency applies only to the Table. Reads of an index are always Eventual.
	Consistency Consistency
}

// IsLastPage reports whether items, the result of q, are the last page.
func (q *Query) IsLastPage(items []Item) bool {
	bytes := 0
	for i := range items {
		bytes += len(items[i].Data)
	}
	return len(items) < q.Limit && (q.MaxBytes == 0 || bytes < q.MaxBytes)
}

// Truncate returns the items up to the one with which q.MaxBytes ends the result.
func (q *Query) Truncate(items []Item) []Item {
	bytes := 0
	for i := range items {
		bytes += len(items[i].Data)
		if q.MaxBytes > 0 && bytes >= q.MaxBytes {
			return items[:i+1]
		}
	}
	return items
}

// Store is a table. Every method is safe for concurrent use, honors the context's deadline, and adds its cost to the Usage that
// WithUsage put in the context. If the context has ended before the call, the method does nothing and returns an error that wraps
// the context's.
type Store interface {
	// Get returns the items with the keys, in the order of the keys. A missing or expired item has its Key and Version 0.
	// Get makes one call for any number of keys, and none for no keys. A key may be named more than once.
	// Reads of several keys are not a snapshot.
	Get(ctx context.Context, c Consistency, keys ...Key) ([]Item, error)

	// Query returns the items of q in order, without expired items. q.IsLastPage is true for the result only if no more items
	// follow. Items with equal index keys have the same order in every Query of the same direction.
	Query(ctx context.Context, q Query) ([]Item, error)

	// Write applies all of the writes or none, durably before it returns nil. If a condition does not hold, the error is a
	// *ConflictError that names the condition, and nothing was written. After ErrInvalid nothing was written either. After any
	// other error, including that of an ended context, either all writes were applied or none: read to find out.
	// All conditions are checked against one state, in which no other Write is half applied, before anything changes.
	// Writes that do not overlap in time take effect in their order. Without writes, Write does nothing.
	// Eventual reads, including all reads of indexes, see the Write within the store's Lag.
	Write(ctx context.Context, writes ...Write) error

	// Lag returns how long after its return a Write can be invisible to Eventual reads. It never changes. It is 0 in a store
	// without replicas, where every read sees each Write that returned before the read began.
	Lag() time.Duration

	// Ping returns nil if the store can answer.
	Ping(ctx context.Context) error
}

// Scanner is a Store that can also read the whole table.
type Scanner interface {
	Store

	// Scan returns a page of the table, in an order that the store chooses. The page begins after the item with the key after, or at
	// the beginning for the zero Key. The item with that key need not exist any more. The next page begins after last; the zero Key
	// means that no items follow. A page has at most limit items and about ScanBytes of Data, and can be empty. An item that exists
	// during all calls is returned once. An item that is written meanwhile is returned in its old or its new state; if it does not
	// exist in one of the two, it may be missing. Expired items are omitted. Scan sees every Write that was acknowledged before the
	// call.
	Scan(ctx context.Context, after Key, limit int) (items []Item, last Key, err error)
}

// ScanBytes is about how much Data one page of a Scan has at most. DynamoDB reads this much at once.
const ScanBytes = 1 << 20

// Write is one change of a Write call. Make it with Create, Replace, Delete, DeleteIf, Check or CheckAbsent.
type Write struct {
	Op   Op
	Item Item
	// Follows is the previous version of an item that is created again or under another key. Versions of an item never repeat.
	Follows int64
	// Record is the record that the Item of a put encodes. Stores ignore it; it is for code between the caller and the store.
	Record any
}

// Op is the kind of a Write, with its condition.
type Op int

// The operations. The zero Op is invalid.
const (
	_             Op = iota
	OpCreate         // put; the key must not exist (an expired item does not exist); stores version Follows+1
	OpReplace        // put; the stored version must be Item.Version; stores Item.Version+1
	OpDelete         // delete, whether or not the item exists
	OpDeleteIf       // delete; the stored version must be Item.Version
	OpCheck          // change nothing; the stored version must be Item.Version
	OpCheckAbsent    // change nothing; the key must not exist (an expired item does not exist)
)

// PutVersion returns the version that a put gives the item, or 0 for other operations.
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

// Holds reports whether the condition of the write holds for the stored version; 0 means that no item has the key.
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

// needsVersion reports whether the operation's condition is a version. The version must then be positive.
func (op Op) needsVersion() bool { return op == OpReplace || op == OpDeleteIf || op == OpCheck }

// Create stores a new item, whose key must not exist. The item's Version is ignored.
func Create(it Item) Write { return Write{Op: OpCreate, Item: it} }

// Replace replaces the item. The stored version must be it.Version.
func Replace(it Item) Write { return Write{Op: OpReplace, Item: it} }

// Delete deletes the item with the key, whether or not it exists.
func Delete(k Key) Write { return Write{Op: OpDelete, Item: Item{Key: k}} }

// DeleteIf deletes the item. The stored version must be it.Version.
func DeleteIf(it Item) Write {
	return Write{Op: OpDeleteIf, Item: Item{Key: it.Key, Version: it.Version}}
}

// Check requires that the stored version is it.Version.
func Check(it Item) Write { return Write{Op: OpCheck, Item: Item{Key: it.Key, Version: it.Version}} }

// CheckAbsent requires that no item has the key.
func CheckAbsent(k Key) Write { return Write{Op: OpCheckAbsent, Item: Item{Key: k}} }

// ConflictError means that nothing was written, because conditions did not hold.
type ConflictError struct {
	Failed []int // positions of the writes whose condition did not hold; never empty
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("store: the condition of write %v did not hold", e.Failed)
}

// IsConflict reports whether err is a *ConflictError. The caller should read, decide and write again.
func IsConflict(err error) bool {
	_, ok := errors.AsType[*ConflictError](err)
	return ok
}

// ErrInvalid is wrapped by errors of calls that exceed the contract's limits. Such a call is a bug of the caller.
var ErrInvalid = errors.New("store: invalid call")

// ErrUnavailable is wrapped by errors that are unrelated to the data: the store did not answer, was throttled, or lost too many races
// against other transactions. Trying again later may help.
var ErrUnavailable = errors.New("store: unavailable")

// Usage counts the cost of a context's calls. Tests hold operations to their budgets with it.
type Usage struct {
	Calls atomic.Int64 // calls of Get, Query, Scan and Write that reached the table, including failed ones
	Read  atomic.Int64 // keys of Gets, and items that Queries and Scans fetched, including expired ones
}

type usageKey struct{}

// WithUsage returns a context whose calls are counted in u.
func WithUsage(ctx context.Context, u *Usage) context.Context {
	return context.WithValue(ctx, usageKey{}, u)
}

// Count adds the cost of a call to the context's Usage, if it has one. Implementations call it once for each call.
func Count(ctx context.Context, read int) {
	if u, ok := ctx.Value(usageKey{}).(*Usage); ok {
		u.Calls.Add(1)
		u.Read.Add(int64(read))
	}
}
