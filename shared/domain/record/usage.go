package record

import (
	"cmp"
	"maps"
	"time"

	"assay/shared/storage/store"
)

// Usage is what one user has used of the quotas. It is updated in the transaction of each change that adds or gives back usage, so that
// concurrent changes cannot exceed a user's quota. It is in the same partition as the user's grants, which every change reads.
//
// Arriving files do not update Pending. An entry of Pending is therefore an upper bound until package quota verifies it, which it does
// only if a limit would be exceeded or the entries are many.
type Usage struct {
	Meta // ID is the user's
	Counts
	Pending map[string]Uploads `json:"pending,omitempty"` // by the partition of the record that waits for the uploads
	Quota   UserQuota          `json:"quota,omitzero"`    // overrides the limits that apply to all users
	// StoredBits is the user's position in StoragePartition.
	StoredBits int `json:"storedBits,omitempty"`
	// FirstOrganizer is the ID of the first organizer that the user made. It identifies the user as the payer of all later ones.
	FirstOrganizer string `json:"firstOrganizer,omitempty"`
	Took           Charge `json:"-"` // the last charge, for the counters of the server
}

const usageSort = "USAGE"

// UsageKey returns the key of the user's usage.
func UsageKey(userID string) store.Key { return keyOf(KindUser, userID, usageSort) }

// Key implements Record.
func (u *Usage) Key() store.Key { return UsageKey(u.ID) }

// Payer returns Organizer.Payer for the next organizer that the user makes. It returns "" if the user has made none.
func (u *Usage) Payer() string {
	if u == nil {
		return ""
	}
	return u.FirstOrganizer
}

// Taken returns the user's usage at now. A nil Usage has no usage.
func (u *Usage) Taken(now time.Time) Taken {
	if u == nil {
		u = new(Usage)
	}
	return u.taken(total(u.Pending), now)
}

// Take counts the charge. If the limits do not allow the charge, Take returns a problem and counts nothing.
func (u *Usage) Take(l UsageLimits, ch Charge, now time.Time) error {
	pending := u.pendingWith(ch)
	if err := u.refuse(l, ch, total(pending), now, oneUser); err != nil {
		return err
	}
	u.add(ch, now)
	u.Bytes = max(0, u.Bytes)
	u.Pending = pending
	u.FirstOrganizer = cmp.Or(u.FirstOrganizer, ch.OrganizerID)
	u.Took = ch
	u.rank()
	return nil
}

// PassesPending reports whether the pending uploads would exceed the limits after the charge.
func (u *Usage) PassesPending(l UsageLimits, ch Charge) bool {
	return len(ch.Pending) > 0 && l.exceededBy(total(u.pendingWith(ch)))
}

// pendingWith returns the pending uploads of each record after the charge.
func (u *Usage) pendingWith(ch Charge) map[string]Uploads {
	if len(ch.Pending) == 0 {
		return u.Pending
	}
	all := map[string]Uploads{}
	maps.Copy(all, u.Pending)
	maps.Copy(all, ch.Pending)
	return all
}
