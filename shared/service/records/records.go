// Package records reads and writes records in the store. It converts records to items, makes changes without losing concurrent
// ones, and merges lists from the partitions that their caller may see.
package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/language/wait"
	"assay/shared/storage/store"
)

// Pointer is a pointer to an R that is a record.
type Pointer[R any] interface {
	*R
	record.Record
}

// Get reads one record. It returns nil if the record does not exist.
func Get[R any, P Pointer[R]](ctx context.Context, s store.Store, c store.Consistency, key store.Key) (P, error) {
	items, err := s.Get(ctx, c, key)
	if err != nil {
		return nil, Failed(err)
	}
	return Decode[R, P](items[0])
}

// Require is like Get, and returns the error missing if the record does not exist.
func Require[R any, P Pointer[R]](ctx context.Context, s store.Store, c store.Consistency, key store.Key, missing error) (P, error) {
	r, err := Get[R, P](ctx, s, c, key)
	if err == nil && r == nil {
		err = missing
	}
	return r, err
}

// Keys returns the keys of the records with the IDs.
func Keys(ids []string, key func(id string) store.Key) []store.Key {
	return lists.Map(ids, key)
}

// GetAll reads records of one kind, in the order of the keys, with one call for each store.MaxKeys keys. Records that do not exist are
// nil.
func GetAll[R any, P Pointer[R]](ctx context.Context, s store.Store, c store.Consistency, keys ...store.Key) ([]P, error) {
	return decode[R, P](GetItems(ctx, s, c, keys...))
}

// GetItems reads items, in the order of the keys, with one call for each store.MaxKeys keys. Its errors are problems.
func GetItems(ctx context.Context, s store.Store, c store.Consistency, keys ...store.Key) (items []store.Item, err error) {
	for some := range slices.Chunk(keys, store.MaxKeys) {
		found, err := s.Get(ctx, c, some...)
		if err != nil {
			return nil, Failed(err)
		}
		items = append(items, found...)
	}
	return items, nil
}

// Query decodes the items that one call finds. All must be records of one kind.
func Query[R any, P Pointer[R]](ctx context.Context, s store.Store, q store.Query) ([]P, error) {
	items, err := s.Query(ctx, q)
	return decode[R, P](items, Failed(err))
}

// decode decodes the items, unless err is not nil.
func decode[R any, P Pointer[R]](items []store.Item, err error) ([]P, error) {
	if err != nil {
		return nil, err
	}
	all := make([]P, len(items))
	for i, it := range items {
		if all[i], err = Decode[R, P](it); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// GetExisting is like GetAll, and leaves out records that do not exist.
func GetExisting[R any, P Pointer[R]](ctx context.Context, s store.Store, c store.Consistency, ids []string,
	key func(id string) store.Key) ([]P, error) {
	items, err := GetItems(ctx, s, c, Keys(ids, key)...)
	return decode[R, P](slices.DeleteFunc(items, isMissing), err)
}

func isMissing(it store.Item) bool { return !it.Exists() }

// Target is a record for Read to read.
type Target struct {
	key  store.Key
	take func(store.Item) error
}

// Into returns the target that sets *r to the record with the key, or to nil if it does not exist.
func Into[R any, P Pointer[R]](r *P, key store.Key) Target {
	return Target{key, func(it store.Item) (err error) {
		*r, err = Decode[R, P](it)
		return err
	}}
}

// Or returns a target for which Read fails with the error if the record does not exist.
func (t Target) Or(missing error) Target {
	return Target{t.key, func(it store.Item) error {
		if !it.Exists() {
			return missing
		}
		return t.take(it)
	}}
}

// Read reads records of several kinds, with one call for each store.MaxKeys of them.
func Read(ctx context.Context, s store.Store, c store.Consistency, targets ...Target) error {
	items, err := GetItems(ctx, s, c, lists.Map(targets, func(t Target) store.Key { return t.key })...)
	if err != nil {
		return err
	}
	for i, t := range targets {
		if err := t.take(items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Decode decodes an item that a store returned. It returns nil if the item does not exist.
func Decode[R any, P Pointer[R]](it store.Item) (P, error) {
	if !it.Exists() {
		return nil, nil
	}
	r := P(new(R))
	return r, record.Decode(it, r)
}

// Failed converts an error of the store to a problem. It returns nil for nil.
func Failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrUnavailable):
		return problem.Unavailable.Wrap(err, "The store does not answer at the moment. Try again in a few seconds.").After(2 * time.Second)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return problem.Unavailable.Wrap(err, "The request took too long and was given up. Try again.").After(time.Second)
	default:
		return err
	}
}

// Tx is a change of several records that is applied completely or not at all. The zero Tx changes nothing.
type Tx struct {
	writes []store.Write
	refuse []error // for each write, the error if its condition does not hold; nil means the conflict
	err    error
}

// usualWrites is the greatest number of writes in most changes.
const usualWrites = 6

// Len returns the number of writes added so far.
func (t *Tx) Len() int { return len(t.writes) }

// Writes reports whether t has a write of the key.
func (t *Tx) Writes(k store.Key) bool {
	return slices.ContainsFunc(t.writes, func(w store.Write) bool { return w.Item.Key == k })
}

// Create creates a record. It must not exist.
func (t *Tx) Create(r record.Record) *Tx { return t.put(r, store.Create) }

// Replace replaces a record without increasing its Version, unlike Save. The stored record must be unchanged since r was read.
func (t *Tx) Replace(r record.Record) *Tx { return t.put(r, store.Replace) }

// Save stores the next version of a record, which changes at now. A new record must not exist. Otherwise the stored record must be
// unchanged since r was read.
func (t *Tx) Save(r record.Record, now time.Time) *Tx {
	record.Touch(r, now)
	if r.Stored() == 0 {
		return t.Create(r)
	}
	return t.Replace(r)
}

func (t *Tx) put(r record.Record, op func(store.Item) store.Write) *Tx {
	it, err := record.Item(r)
	t.err = errors.Join(t.err, err)
	w := op(it)
	w.Record = r
	return t.add(w)
}

// CreateMissing adds the creation of the record to tx, unless r is nil or the record exists.
func CreateMissing[R any, P Pointer[R]](ctx context.Context, s store.Store, tx *Tx, r P) error {
	if r == nil {
		return nil
	}
	found, err := Get[R, P](ctx, s, store.Strong, r.Key())
	if err == nil && found == nil {
		tx.Create(r)
	}
	return err
}

// Delete deletes a record. The stored record must be unchanged since r was read.
func (t *Tx) Delete(r record.Record) *Tx { return t.add(store.DeleteIf(read(r))) }

// DeleteKeys deletes the items with the keys, whether or not they exist.
func (t *Tx) DeleteKeys(keys ...store.Key) *Tx {
	for _, k := range keys {
		t.add(store.Delete(k))
	}
	return t
}

// Write adds a write of an item.
func (t *Tx) Write(w store.Write) *Tx { return t.add(w) }

// Check requires that the stored record is unchanged since r was read.
func (t *Tx) Check(r record.Record) *Tx { return t.add(store.Check(read(r))) }

// read returns the item that r was read from, without its data.
func read(r record.Record) store.Item { return store.Item{Key: r.Key(), Version: r.Stored()} }

// CheckAbsent requires that no item has the key.
func (t *Tx) CheckAbsent(k store.Key) *Tx { return t.add(store.CheckAbsent(k)) }

func (t *Tx) add(w store.Write) *Tx {
	if t.writes == nil { // a write is large, and growing the slice would copy all of them
		t.writes = make([]store.Write, 0, usualWrites)
		t.refuse = make([]error, 0, usualWrites)
	}
	t.writes = append(t.writes, w)
	t.refuse = append(t.refuse, nil)
	return t
}

// Append adds all writes of other.
func (t *Tx) Append(other *Tx) *Tx {
	t.writes = append(t.writes, other.writes...)
	t.refuse = append(t.refuse, other.refuse...)
	t.err = errors.Join(t.err, other.err)
	return t
}

// Or sets the error that Commit returns if the condition of the last added write does not hold. Without it, Commit returns the
// conflict, so that the caller repeats the change with the stored records.
func (t *Tx) Or(refuse error) *Tx {
	t.refuse[len(t.refuse)-1] = refuse
	return t
}

// Commit applies the change. Afterwards its records can be changed again. If a condition does not hold, Commit returns the error that
// Or set for the write, or an error for which IsConflict is true.
func (t *Tx) Commit(ctx context.Context, s store.Store) error {
	if t.err != nil || len(t.writes) == 0 {
		return t.err
	}
	err := s.Write(ctx, t.writes...)
	if conflict, ok := errors.AsType[*store.ConflictError](err); ok {
		for _, i := range conflict.Failed {
			if t.refuse[i] != nil {
				return t.refuse[i]
			}
		}
		return err
	}
	if err != nil {
		return Failed(err)
	}
	for i := range t.writes {
		if r, ok := t.writes[i].Record.(record.Record); ok {
			record.Written(r, t.writes[i].Op == store.OpCreate)
		}
	}
	return nil
}

// Deletions deletes keys in as few transactions as possible. Commit makes the last one.
type Deletions struct {
	Store store.Store
	tx    Tx
}

// Add deletes the keys in one transaction, possibly later and with other keys.
func (d *Deletions) Add(ctx context.Context, keys ...store.Key) error {
	var err error
	if d.tx.Len()+len(keys) > store.MaxWrites {
		err = d.Commit(ctx)
	}
	d.tx.DeleteKeys(keys...)
	return err
}

// AddFound calls Add for each item that the query finds.
func (d *Deletions) AddFound(ctx context.Context, q store.Query) error {
	return EachItem(ctx, d.Store, q, func(it store.Item) error { return d.Add(ctx, it.Key) })
}

// Commit deletes the keys that Add has not deleted yet.
func (d *Deletions) Commit(ctx context.Context) error {
	err := d.tx.Commit(ctx, d.Store)
	d.tx = Tx{}
	return err
}

// OutcomeUnknown reports whether, after the error of Commit, the change may have been applied.
func OutcomeUnknown(err error) bool {
	if err == nil || IsConflict(err) || errors.Is(err, store.ErrInvalid) {
		return false
	}
	p, ok := errors.AsType[*problem.Error](err)
	return !ok || p.Kind == problem.Unavailable
}

// IsConflict reports whether err says that a record has changed since it was read.
func IsConflict(err error) bool { return store.IsConflict(err) }

// Update reads the record of the key and passes it to change, which can modify it and add further writes to the transaction. If change
// returns true, Update replaces the record and commits. After a conflict it starts again. It does not call change if the record does
// not exist. Update reports whether it wrote.
func Update[R any, P Pointer[R]](ctx context.Context, s store.Store, key store.Key,
	change func(P, *Tx) (bool, error)) (written bool, err error) {
	err = Retry(ctx, func() error {
		written = false
		r, err := Get[R, P](ctx, s, store.Strong, key)
		if err != nil || r == nil {
			return err
		}
		tx := new(Tx)
		if write, err := change(r, tx); err != nil || !write {
			return err
		}
		written = true
		return tx.Replace(r).Commit(ctx, s)
	})
	return written && err == nil, err
}

// Change reads the record of the key, calls change with it, and commits the transaction that change fills. After a conflict it starts
// again. It does not call change if the record does not exist.
func Change[R any, P Pointer[R]](ctx context.Context, s store.Store, key store.Key, change func(P, *Tx) error) error {
	return Retry(ctx, func() error {
		r, err := Get[R, P](ctx, s, store.Strong, key)
		if err != nil || r == nil {
			return err
		}
		tx := new(Tx)
		if err := change(r, tx); err != nil {
			return err
		}
		return tx.Commit(ctx, s)
	})
}

// attempts is how often a change is tried. With the pauses between attempts, that takes about two seconds.
const attempts = 12

// Retry calls change until it returns no conflict. Each call must read the records that it decides on.
func Retry(ctx context.Context, change func() error) error {
	var err error
	for n := range attempts {
		if err = change(); !IsConflict(err) {
			return err
		}
		if !wait.Sleep(ctx, wait.Jitter(n, time.Millisecond, 300*time.Millisecond)) {
			return Failed(ctx.Err())
		}
	}
	return problem.Unavailable.Wrap(fmt.Errorf("gave up after %d attempts: %w", attempts, errors.New(err.Error())),
		"The same thing was changed too many times at once. Try again in a few seconds.").After(2 * time.Second)
}
