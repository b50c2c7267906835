package record

import (
	"maps"
	"slices"
	"time"

	"assay/shared/store"
)

// Builders is which pools have workers that build repositories. It is one item, which GET /info reads.
type Builders struct {
	Meta
	Asked map[string]Instant // by pool: when such a worker last asked for work
}

const (
	builderNoted = 10 * time.Minute // for which a worker that asks again is not noted again
	builderKnown = time.Hour        // for which a pool counts without a worker that asks
)

// Key implements Record.
func (*Builders) Key() store.Key { return BuildersKey() }

// BuildersKey is where the Builders stand in the table.
func BuildersKey() store.Key { return store.Key{Partition: "WORKERS", Sort: "BUILDERS"} }

// Indexes implements Record.
func (*Builders) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Note notes the pools of a worker that asks at now, forgets those of which none asked for long, and reports whether anything is new.
func (b *Builders) Note(now time.Time, pools []string) bool {
	if !slices.ContainsFunc(pools, func(p string) bool { return now.Sub(b.Asked[p].Time) >= builderNoted }) {
		return false
	}
	maps.DeleteFunc(b.Asked, func(_ string, at Instant) bool { return now.Sub(at.Time) > builderKnown })
	if b.Asked == nil {
		b.Asked = map[string]Instant{}
	}
	for _, p := range pools {
		b.Asked[p] = At(now)
	}
	return true
}

// Pools are the pools in which repositories are built at now, in order.
func (b *Builders) Pools(now time.Time) []string {
	pools := []string{}
	for _, p := range slices.Sorted(maps.Keys(b.Asked)) {
		if now.Sub(b.Asked[p].Time) <= builderKnown {
			pools = append(pools, p)
		}
	}
	return pools
}
