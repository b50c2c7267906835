// Package record defines the resources: their members, their limits, the rules that depend only on a resource itself, and their
// keys in the store. keys.go lists every access pattern.
//
// team_quota.go has the quotas of a task and its datasets for each team. platform_quota.go has the quotas of the platform for each user
// and for all users, and user_quota.go a user's own quota. usage.go and server_usage.go have the usage of these quotas. event.go lists
// the kinds of events, and pending.go the kinds of pending work.
//
// A resource X has up to three types. XDraft has the members that clients write. X is the resource that the REST API shows.
// XItem is the stored resource, where the platform stores more than it shows.
package record

import (
	"crypto/rand"
	"fmt"
	"time"

	"assay/shared/storage/store"

	"github.com/oklog/ulid/v2"
)

// Meta holds the members that the service sets for every resource.
type Meta struct {
	ID        string  `json:"id" doc:"ULID of the resource" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	CreatedAt Instant `json:"createdAt" doc:"when it was created"`
	UpdatedAt Instant `json:"updatedAt" doc:"when it last changed"`
	Version   int64   `json:"version" doc:"grows by one with each change" example:"1"`

	stored int64  // version of the stored item; it also grows with changes that no caller sees
	before int64  // Version of the stored item
	newer  *newer // nil unless the stored item has members that this build does not know
}

// NewMeta returns the Meta of a resource created at now, with a new ID.
func NewMeta(now time.Time) Meta { return MetaOf(NewID(now), now) }

// MetaOf returns the Meta of a resource with the ID, created at now.
func MetaOf(id string, now time.Time) Meta {
	at := At(now)
	return Meta{ID: id, CreatedAt: at, UpdatedAt: at, Version: 1}
}

func (m *Meta) meta() *Meta { return m }

// Revision returns the number that begins the resource's entity tag.
func (m Meta) Revision() int64 { return m.Version }

// Stored returns the version of the stored item. It grows with every write, at least as fast as Version.
func (m Meta) Stored() int64 { return m.stored }

// Indexes implements Record for records that are in no list. Records in lists override it.
func (m Meta) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Record is a resource that the store holds. The store deletes a Record with the method Expiry() time.Time at that instant.
type Record interface {
	Key() store.Key
	Indexes() [store.NumIndexes]store.Key
	Stored() int64
	meta() *Meta
}

// Item encodes r for the store. The item has the version with which r was read, even if r has changed since.
func Item(r Record) (store.Item, error) {
	data, err := encode(r)
	if err != nil {
		return store.Item{}, err
	}
	it := store.Item{Key: r.Key(), Indexes: r.Indexes(), Version: r.meta().stored, Data: data}
	if e, ok := r.(interface{ Expiry() time.Time }); ok {
		it.Expires = e.Expiry()
	}
	return it, nil
}

// Decode reads a stored item into r.
func Decode(it store.Item, r Record) error {
	if err := decode(it.Data, r); err != nil {
		return fmt.Errorf("record: decode %s %s: %w", it.Partition, it.Sort, err)
	}
	m := r.meta()
	m.stored = it.Version
	m.before = m.Version
	return nil
}

// Touch gives r, which changes at now, its next version. Calling it more than once before r is stored has no further effect. Changes
// that no caller sees, such as the progress of work, are stored without Touch: version and entity tag then stay the same.
func Touch(r Record, now time.Time) {
	m := r.meta()
	m.UpdatedAt = At(now)
	m.Version = m.before + 1
}

// Written tells r that the store holds it now. created says whether the write created the item or replaced the one that r was read
// from.
func Written(r Record, created bool) {
	m := r.meta()
	m.before = m.Version
	if created {
		m.stored = 1
	} else {
		m.stored++
	}
}

var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new ULID for the instant. IDs made by one process within one millisecond ascend.
func NewID(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), entropy).String() }

// IDPattern is a regular expression for ULIDs.
const IDPattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"

// IsID reports whether s is a ULID in its canonical form.
func IsID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}
