package record

import (
	"time"

	"assay/shared/store"
)

// LeaseExtension says until when the lease of a worker lasts, in a record separate from its run: heartbeats are frequent, and writing
// the run each time would also write all its index entries. It is there once the worker has confirmed the lease.
type LeaseExtension struct {
	Meta    // ID is the run's
	LeaseID string
	Until   Instant
}

// leaseExtensionTime is how long an extension stays behind the end of its lease, which nothing is reclaimed as late after.
const leaseExtensionTime = time.Hour

// Key implements Record.
func (e *LeaseExtension) Key() store.Key { return LeaseExtensionKey(e.ID, e.LeaseID) }

// LeaseExtensionKey is the key of the extension of the run's lease.
func LeaseExtensionKey(runID, leaseID string) store.Key {
	return keyOf(KindRun, runID, "LEASE#"+leaseID)
}

// Expiry says when the record goes by itself.
func (e *LeaseExtension) Expiry() time.Time { return e.Until.Add(leaseExtensionTime) }

// ExtendedUntil is when the lease ends that has the extension, or none.
func (l *Lease) ExtendedUntil(e *LeaseExtension) Instant {
	if e != nil && e.Until.After(l.Until.Time) {
		return e.Until
	}
	return l.Until
}
