package record

import (
	"time"

	"assay/shared/storage/store"
)

// LeaseExtension records the end of a worker's lease separately from its run. Heartbeats are frequent, and writing the run each time
// would also write all its index entries. It exists once the worker has confirmed the lease.
type LeaseExtension struct {
	Meta    // ID is the ID of the run
	LeaseID string
	Until   Instant
}

// leaseExtensionTime is how long an extension is kept after the end of its lease. Every lease is reclaimed sooner.
const leaseExtensionTime = time.Hour

// Key implements Record.
func (e *LeaseExtension) Key() store.Key { return LeaseExtensionKey(e.ID, e.LeaseID) }

// LeaseExtensionKey returns the key of the extension of the run's lease.
func LeaseExtensionKey(runID, leaseID string) store.Key {
	return keyOf(KindRun, runID, "LEASE#"+leaseID)
}

// Expiry returns when the store deletes the record.
func (e *LeaseExtension) Expiry() time.Time { return e.Until.Add(leaseExtensionTime) }

// ExtendedUntil returns when the lease ends, given its extension or nil.
func (l *Lease) ExtendedUntil(e *LeaseExtension) Instant {
	if e != nil && e.Until.After(l.Until.Time) {
		return e.Until
	}
	return l.Until
}
