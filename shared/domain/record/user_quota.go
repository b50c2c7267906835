package record

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// UserQuota holds the limits that administrators set for one user. Each limit replaces the server's default, and 0 means no limit.
// Absent limits keep their defaults.
type UserQuota struct {
	PerDay       map[string]int64 `json:"perDay,omitempty" maxProperties:"50" doc:"how many of each kind may be created in 24 hours; the kinds are those of limits.quotas.user.perDay in /info"`
	PendingFiles *int64           `json:"pendingFiles,omitempty" minimum:"0" doc:"files whose upload was announced and that have not arrived"`
	PendingBytes *int64           `json:"pendingBytes,omitempty" minimum:"0" doc:"bytes of those files, as declared"`
	StoredBytes  *int64           `json:"storedBytes,omitempty" minimum:"0" doc:"bytes of all files: arrived, pending, and results of tools until they are deleted"`
}

// IsZero reports whether every limit keeps its default.
func (q UserQuota) IsZero() bool {
	return len(q.PerDay) == 0 && q.PendingFiles == nil && q.PendingBytes == nil && q.StoredBytes == nil
}

// QuotaDraft is the quota that an administrator writes for a user.
type QuotaDraft struct {
	Quota UserQuota `json:"quota,omitempty" doc:"limits of this user, where they differ from those that /info lists; 0 is no limit"`
}

// Check reports the draft's errors.
func (d *QuotaDraft) Check() []problem.Field {
	var fields problem.Fields
	for _, kind := range slices.Sorted(maps.Keys(d.Quota.PerDay)) {
		n := d.Quota.PerDay[kind]
		fields.AddIf(nouns[kind] == "", "/quota/perDay", "has %q, which is none of the kinds: %s", problem.Clip(kind, 60),
			strings.Join(slices.Sorted(maps.Keys(nouns)), ", "))
		fields.AddIf(n < 0, "/quota/perDay", "has %d of %q, and must have 0, for no limit, or more", n, problem.Clip(kind, 60))
	}
	return fields
}

// Limits returns the user's limits: the defaults, overridden by the user's quota.
func (u *Usage) Limits(defaults UsageLimits) UsageLimits {
	if u == nil {
		return defaults
	}
	q, perDay := u.Quota, map[string]int64{}
	maps.Copy(perDay, defaults.PerDay)
	maps.Copy(perDay, q.PerDay)
	return UsageLimits{
		PerDay:       perDay,
		PendingFiles: *cmp.Or(q.PendingFiles, &defaults.PendingFiles), PendingBytes: *cmp.Or(q.PendingBytes, &defaults.PendingBytes),
		StoredBytes: *cmp.Or(q.StoredBytes, &defaults.StoredBytes),
	}
}

// StoragePartition lists the users whose files count, by the number of bits of Bytes, then by ID. Users with the most bytes come last.
// Its entries are items of their own: an index entry of Usage would contain a copy of Usage, and every charge would write it.
const StoragePartition = "STORED"

// StorageKey returns the user's key in StoragePartition. It returns the zero Key if the user has no bytes.
func (u *Usage) StorageKey() store.Key {
	if u == nil || u.StoredBits == 0 {
		return store.Key{}
	}
	return store.Key{Partition: StoragePartition, Sort: fmt.Sprintf("%02d#%s", u.StoredBits, u.ID)}
}

// rank updates the user's position in StoragePartition.
func (u *Usage) rank() { u.StoredBits = bits.Len64(uint64(u.Bytes)) }
