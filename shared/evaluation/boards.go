package evaluation

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"sync"

	"assay/shared/access"
	"assay/shared/record"
	"assay/shared/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// state is what the entries follow from that partitions of a board have, and others of the caller's own: of one state they are the same.
type state struct {
	dataset                      store.Key
	datasetVersion, truthVersion int64
	revisions                    [access.Everyone + 1]uint64 // of all partitions of the board, by audience
	visible
}

// visible is what a caller sees of a board: partitions, and entries in others.
type visible struct{ parts, own string }

func visibleTo(parts []string, own []store.Item) visible {
	var entries strings.Builder
	for _, it := range own {
		fmt.Fprint(&entries, it.Key, it.Version)
	}
	return visible{parts: strings.Join(parts, " "), own: entries.String()}
}

// state is that of the board now; it is false where the store does not tell whether the board has changed.
func (b *Leaderboard) state() (s state, known bool) {
	s = state{dataset: b.Dataset.Key(), datasetVersion: b.Dataset.Stored(), truthVersion: b.TruthVersion}
	for _, a := range record.Audiences {
		s.revisions[a] = b.Viewer.Store.Revision(record.ByWork, b.partition(a))
		if s.revisions[a] == 0 {
			return s, false
		}
	}
	return s, true
}

// order is how the entries of a board are shown: which of them, as the last ones that the caller sees of each team where they are final
// runs, and by what.
type order struct {
	measure            string
	best, final, count bool
	seen               visible // with final
}

// board is what a state has, by rank, and in the orders that were asked for.
type board struct {
	ranked []*Entry
	orders map[order][]*Entry // of the same evaluations
}

const (
	// maxKept is how many entries are kept of all boards together. One takes about 4 KB.
	maxKept = 30_000
	// maxOrders is how many orders of one board are kept. An entry of one takes less than 100 bytes.
	maxOrders = 32
)

// boards keeps the boards that were read last, for as long as they do not change.
type boards struct {
	mu      sync.Mutex
	kept    *simplelru.LRU[state, *board]
	entries int
}

var kept = newBoards()

func newBoards() *boards {
	b := new(boards)
	b.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ state, of *board) { b.entries -= len(of.ranked) }) // the size is positive
	return b
}

// get returns the board of the state by rank, and in the order; nil for what is not kept.
func (b *boards) get(s state, o order) (ranked, ordered []*Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, found := b.kept.Get(s)
	if !found {
		return nil, nil
	}
	return of.ranked, of.orders[o]
}

// put keeps a board by rank, whose entries do not change from now on, unless one cannot be decoded.
func (b *boards) put(s state, ranked []*Entry) error {
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

// putOrder keeps the entries of a board in an order, if the board is still kept.
func (b *boards) putOrder(s state, o order, ordered []*Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of, found := b.kept.Get(s); found {
		if len(of.orders) == maxOrders {
			clear(of.orders)
		}
		of.orders[o] = ordered
	}
}

// whenRead returns the entries, and keeps them by rank if they are read to their end.
func (b *boards) whenRead(s state, entries iter.Seq2[*Entry, error]) iter.Seq2[*Entry, error] {
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
			_ = b.put(s, all) // it fails where an entry that nobody wanted cannot be decoded
		}
	}
}
