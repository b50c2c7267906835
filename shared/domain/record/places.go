package record

import (
	"time"

	"assay/shared/storage/store"
)

// Places lists the runs of a payer, or of the slow lane, that all processes evaluate at the same time. A run has its place as long as
// its lease lasts. The run itself has the lease, so nothing is written here when the lease ends.
type Places struct {
	Meta // ID is the ID of the payer, or SlowPlaces
	Runs []string
}

// SlowPlaces is the ID of the places of the slow lane.
const SlowPlaces = "slow"

// Key implements Record.
func (p *Places) Key() store.Key { return PlacesKey(p.ID) }

// PlacesKey returns the key of the places.
func PlacesKey(id string) store.Key { return store.Key{Partition: "PLACES#" + id, Sort: "PLACES"} }

// Expiry returns when the store deletes the record. Leases that last this long take places again before.
func (p *Places) Expiry() time.Time { return p.UpdatedAt.Add(Day) }
