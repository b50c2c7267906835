package record

import (
	"time"

	"assay/shared/store"
)

// Places names the runs of a payer that are evaluated at the same time, over all processes, or those of the slow lane. A run has its place
// as long as its lease lasts, which the run itself says: nothing is written when it ends.
type Places struct {
	Meta // ID is the payer's, or SlowPlaces
	Runs []string
}

// SlowPlaces is the id of the places of the slow lane.
const SlowPlaces = "slow"

// Key implements Record.
func (p *Places) Key() store.Key { return PlacesKey(p.ID) }

// PlacesKey is the key of the places.
func PlacesKey(id string) store.Key { return store.Key{Partition: "PLACES#" + id, Sort: "PLACES"} }

// Expiry says when the record goes by itself: no lease is extended for so long without taking places again.
func (p *Places) Expiry() time.Time { return p.UpdatedAt.Add(Day) }
