package evaluation

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/storage/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// boardState identifies a version of a board as one caller sees it. Two reads with equal states return the same entries.
type boardState struct {
	dataset                      store.Key
	datasetVersion, truthVersion int64
	revisions                    [access.Everyone + 1]uint64 // of the board's partitions, by audience
	visible
}

// visible identifies the entries that a caller sees: whole partitions, and own entries in other partitions.
type visible struct{ parts, own string }

func visibleTo(parts []string, own []store.Item) visible {
	var entries strings.Builder
	for _, it := range own {
		fmt.Fprint(&entries, it.Key, it.Version)
	}
	return visible{parts: strings.Join(parts, " "), own: entries.String()}
}

// state returns the board's present state, without visible. known is false if the store does not tell whether the board has changed.
func (b *Leaderboard) state() (s boardState, known bool) {
	s = boardState{dataset: b.Dataset.Key(), datasetVersion: b.Dataset.Stored(), truthVersion: b.TruthVersion}
	for _, a := range record.Audiences {
		s.revisions[a] = b.Viewer.Store.Revision(record.ByWork, b.partition(a))
		if s.revisions[a] == 0 {
			return s, false
		}
	}
	return s, true
}

// order identifies a selection and an order of a board's entries.
type order struct {
	measure            string
	best, final, count bool
	seen               visible // only with final: final runs depend on what the caller sees
}

// board holds the entries of one state by rank, and in the orders that were asked for.
type board struct {
	ranked []*Entry
	orders map[order][]*Entry // with the same evaluations
}

const (
	// maxKept is the greatest number of cached entries of all boards together. An entry takes about 4 KB.
	maxKept = 30_000
	// maxOrders is the greatest number of cached orders of one board. An entry of an order takes less than 100 bytes.
	maxOrders = 32
)

// boards caches the boards that were read last.
type boards struct {
	mu      sync.Mutex
	kept    *simplelru.LRU[boardState, *board]
	entries int
}

var kept = newBoards()

func newBoards() *boards {
	b := new(boards)
	b.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ boardState, of *board) { b.entries -= len(of.ranked) }) // the size is positive
	return b
}

// get returns the board of the state by rank, and in the order. It returns nil for entries that are not cached.
func (b *boards) get(s boardState, o order) (ranked, ordered []*Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, found := b.kept.Get(s)
	if !found {
		return nil, nil
	}
	return of.ranked, of.orders[o]
}

// put caches a board by rank. It returns an error if an entry cannot be decoded. The entries must not change afterwards.
func (b *boards) put(s boardState, ranked []*Entry) error {
	for _, e := range ranked {
		if _, err := e.Item(); err != nil {
			return err
		}
		e.stored = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Remove(s)
	b.kept.Add(s, &board{ranked, map[order][]*Entry{}})
	for b.entries += len(ranked); b.entries > maxKept; {
		b.kept.RemoveOldest()
	}
	return nil
}

// putOrder caches the entries of a board in an order, if the board is still cached.
func (b *boards) putOrder(s boardState, o order, ordered []*Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of, found := b.kept.Get(s); found {
		if len(of.orders) == maxOrders {
			clear(of.orders)
		}
		of.orders[o] = ordered
	}
}

// whenRead returns the entries, and caches the board once they have been read to their end.
func (b *boards) whenRead(s boardState, entries iter.Seq2[*Entry, error]) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var all []*Entry
		for e, err := range entries {
			if err == nil && len(all) <= maxKept {
				all = append(all, e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if len(all) <= maxKept {
			_ = b.put(s, all) // fails only if an entry that was not asked for cannot be decoded
		}
	}
}
