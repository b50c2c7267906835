package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckContext returns an error that wraps the context's if the context has ended.
func CheckContext(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: not called: %w", err)
	}
	return nil
}

// ValidateGet returns an error that wraps ErrInvalid if the keys exceed the contract's limits. Otherwise it returns CheckContext's
// result.
func ValidateGet(ctx context.Context, keys []Key) error {
	if len(keys) > MaxKeys {
		return invalid("a Get of %d keys: at most %d", len(keys), MaxKeys)
	}
	for i := range keys {
		if err := keys[i].validate(); err != nil {
			return fmt.Errorf("key %d: %w", i, err)
		}
	}
	return CheckContext(ctx)
}

// ValidateQuery returns an error that wraps ErrInvalid if q exceeds the contract's limits. Otherwise it returns CheckContext's result.
func ValidateQuery(ctx context.Context, q Query) error {
	if q.Index < Table || q.Index > NumIndexes {
		return invalid("a Query of index %d: there are %d to %d", q.Index, Table, NumIndexes)
	}
	if q.Limit < 1 {
		return invalid("a Query with Limit %d: it must be positive", q.Limit)
	}
	if q.MaxBytes < 0 {
		return invalid("a Query with MaxBytes %d: it must not be negative", q.MaxBytes)
	}
	if err := validatePart("partition", q.Partition, MaxPartitionBytes); err != nil {
		return err
	}
	for _, bound := range []string{q.From, q.To} {
		if bound != "" {
			if err := validatePart("bound", bound, MaxSortBytes); err != nil {
				return err
			}
		}
	}
	if q.To != "" && q.From > q.To {
		return invalid("a Query from %q to %q, which comes before it", q.From, q.To)
	}
	if q.After == nil {
		return CheckContext(ctx)
	}
	if err := q.After.Key.validate(); err != nil {
		return fmt.Errorf("item After: %w", err)
	}
	at := q.After.Entry(q.Index)
	if at.Partition != q.Partition {
		return invalid("a Query of partition %q of index %d after an item whose partition there is %q", q.Partition, q.Index, at.Partition)
	}
	return cmp.Or(at.validate(), CheckContext(ctx))
}

// ValidateScan returns an error that wraps ErrInvalid if the arguments exceed the contract's limits. Otherwise it returns
// CheckContext's result.
func ValidateScan(ctx context.Context, after Key, limit int) error {
	if limit < 1 {
		return invalid("a Scan with limit %d: it must be positive", limit)
	}
	if !after.IsZero() {
		if err := after.validate(); err != nil {
			return fmt.Errorf("key after: %w", err)
		}
	}
	return CheckContext(ctx)
}

// Entry returns the item's key in the index: its own key for the Table, and the zero Key if the item is not in the index.
func (it *Item) Entry(i Index) Key {
	if i == Table {
		return it.Key
	}
	return it.Indexes[i-1]
}

// ValidateWrite returns an error that wraps ErrInvalid if the writes exceed the contract's limits. Otherwise it returns CheckContext's
// result.
func ValidateWrite(ctx context.Context, writes []Write) error {
	if len(writes) > MaxWrites {
		return invalid("a Write of %d items: at most %d", len(writes), MaxWrites)
	}
	total := 0
	for i := range writes {
		n, err := writes[i].validate()
		if err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
		total += n
		if total > MaxWriteBytes {
			return invalid("a Write of more than %d bytes", MaxWriteBytes)
		}
		for j := range i {
			if writes[i].Item.Key == writes[j].Item.Key {
				return invalid("writes %d and %d have the same key", j, i)
			}
		}
	}
	return CheckContext(ctx)
}

// validate checks one write and returns its size in bytes.
func (w *Write) validate() (int, error) {
	it := &w.Item
	if w.Op < OpCreate || w.Op > OpCheckAbsent {
		return 0, invalid("operation %d does not exist", w.Op)
	}
	if err := it.Key.validate(); err != nil {
		return 0, err
	}
	if w.Op.needsVersion() && it.Version < 1 {
		return 0, invalid("version %d never exists; use Create or CheckAbsent for an item that is not there", it.Version)
	}
	size := len(it.Partition) + len(it.Sort)
	if w.PutVersion() == 0 {
		return size, nil
	}
	for i := range it.Indexes {
		if it.Indexes[i].IsZero() {
			continue
		}
		if err := it.Indexes[i].validate(); err != nil {
			return 0, fmt.Errorf("entry of index %d: %w", i+1, err)
		}
		size += len(it.Indexes[i].Partition) + len(it.Indexes[i].Sort)
	}
	if !it.Expires.IsZero() && it.Expires.Unix() < 1 {
		return 0, invalid("expires at %v, before 1970", it.Expires)
	}
	size += len(it.Data)
	if size > MaxItemBytes {
		return 0, invalid("an item of %d bytes: at most %d", size, MaxItemBytes)
	}
	return size, nil
}

func (k Key) validate() error {
	if err := validatePart("partition", k.Partition, MaxPartitionBytes); err != nil {
		return err
	}
	return validatePart("sort part", k.Sort, MaxSortBytes)
}

func validatePart(what, s string, limit int) error {
	switch {
	case s == "":
		return invalid("an empty %s", what)
	case len(s) > limit:
		return invalid("a %s of %d bytes: at most %d", what, len(s), limit)
	case !utf8.ValidString(s):
		return invalid("the %s %q is not UTF-8", what, s)
	case strings.IndexByte(s, 0) >= 0:
		return invalid("the %s %q has a NUL byte", what, s)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}
