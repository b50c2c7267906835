package board

import (
	"context"
	"math"
	"sync"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxKept is the greatest number of kept boards, their evaluations and their waiting changes together. Each of these takes about 2 KB.
	// Boards with more evaluations are read each time.
	maxKept = 50_000
	// maxPending is the greatest number of changes that wait for the next view of a board. Boards with more changes are dropped.
	maxPending = 1000
)

// Boards keeps the boards that were read last, and lets them follow the commits of a store. The commits of the store must all be passed to
// Committed. The nil Boards keeps none.
type Boards struct {
	mu     sync.Mutex
	kept   *simplelru.LRU[boardID, *keptBoard]
	routes map[string]*keptBoard // by partition of the ranking
	size   int                   // sum of keptBoard.size

	maxKept, maxPending int // see the constants
}

type boardID struct {
	datasetID    string
	truthVersion int64
}

// partitions returns the partitions of the ranking with the board's evaluations.
func (id boardID) partitions() (all []string) {
	for _, a := range record.Audiences {
		all = append(all, record.RankPartition(id.datasetID, id.truthVersion, a))
	}
	return all
}

// keptBoard is a board with the changes that it has not yet followed.
type keptBoard struct {
	id boardID

	reading sync.Mutex // held while the board is loaded, follows changes or is viewed
	board   *Board     // nil before it is loaded
	large   bool       // the board has too many evaluations

	pending []store.Item // guarded by Boards.mu, like loaded
	loaded  int          // number of evaluations at the last view
}

// size returns how much of maxKept the board takes. It is guarded by Boards.mu.
func (k *keptBoard) size() int { return 1 + k.loaded + len(k.pending) }

// NewBoards returns Boards without boards.
func NewBoards() *Boards {
	b := &Boards{routes: map[string]*keptBoard{}, maxKept: maxKept, maxPending: maxPending}
	b.kept, _ = simplelru.NewLRU(math.MaxInt, func(_ boardID, k *keptBoard) { // the size is positive
		b.size -= k.size()
		for _, partition := range k.id.partitions() {
			delete(b.routes, partition)
		}
	})
	return b
}

// Committed tells the boards about the items of a commit of the store, in the order of commits. The call must return before any Write of
// the commit does, so that views see every acknowledged Write. Deleted items have their Key, the Indexes that they had, and Version 0. Nil
// items mean that it is not known what was written. Committed keeps the items, which must not change. It does little work.
func (b *Boards) Committed(items []store.Item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if items == nil {
		b.kept.Purge()
		return
	}
	for _, it := range items {
		if k := b.routes[it.Entry(record.ByWork).Partition]; k != nil {
			b.wait(k, it)
		}
	}
	b.shrink()
}

// wait lets the change wait for the next view of the board.
func (b *Boards) wait(k *keptBoard, it store.Item) {
	k.pending = append(k.pending, it)
	b.size++
	if len(k.pending) > b.maxPending {
		b.kept.Remove(k.id)
	}
}

// shrink drops the boards that were not viewed for the longest time, until the rest fits. It keeps the board that was viewed last.
func (b *Boards) shrink() {
	for b.size > b.maxKept && b.kept.Len() > 1 {
		b.kept.RemoveOldest()
	}
}

// view returns the entries that the reader sees of a board, from evaluations that were stored when it was called or later. ok is false if
// the board has too many evaluations. The store must be the one whose commits b is told.
func (b *Boards) view(ctx context.Context, s store.Store, id boardID, r Reader, by selector) (_ view, ok bool, err error) {
	k := b.keep(id)
	k.reading.Lock()
	defer k.reading.Unlock()
	if k.board == nil && !k.large {
		if err := k.load(ctx, s, b.maxKept); err != nil {
			return view{}, false, err
		}
	}
	pending := b.take(k)
	if k.large {
		return view{}, false, nil
	}
	for _, it := range pending {
		if err := k.board.follow(it); err != nil {
			b.drop(k)
			return view{}, false, err
		}
	}
	b.resize(k)
	return k.board.view(r, by), true, nil
}

// keep returns the kept board, which is empty if it was not kept before.
func (b *Boards) keep(id boardID) *keptBoard {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k, found := b.kept.Get(id); found {
		return k
	}
	k := &keptBoard{id: id}
	b.kept.Add(id, k)
	b.size += k.size()
	for _, partition := range id.partitions() {
		b.routes[partition] = k
	}
	b.shrink()
	return k
}

// take returns the changes that wait.
func (b *Boards) take(k *keptBoard) []store.Item {
	b.mu.Lock()
	defer b.mu.Unlock()
	pending := k.pending
	k.pending = nil
	if b.keeps(k) {
		b.size -= len(pending)
	}
	return pending
}

// keeps reports whether the board has not been dropped.
func (b *Boards) keeps(k *keptBoard) bool {
	now, _ := b.kept.Peek(k.id)
	return now == k
}

func (b *Boards) drop(k *keptBoard) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keeps(k) {
		b.kept.Remove(k.id)
	}
}

// resize counts the evaluations of the board again. It drops the board if it has grown too large, and then the boards that do not fit.
func (b *Boards) resize(k *keptBoard) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.keeps(k) {
		return // dropped meanwhile
	}
	b.size += k.board.Len() - k.loaded
	k.loaded = k.board.Len()
	if k.loaded > b.maxKept {
		b.kept.Remove(k.id)
	}
	b.shrink()
}

// load reads the board, unless it has more than the greatest number of evaluations. Changes wait from before the load on, so that no
// evaluation is lost that moves between the partitions meanwhile.
func (k *keptBoard) load(ctx context.Context, s store.Store, most int) error {
	loaded := New()
	for _, partition := range k.id.partitions() {
		q := store.Query{Index: record.ByWork, Partition: partition, Limit: loadPage, MaxBytes: loadBytes}
		for it, err := range records.Items(ctx, s, q) {
			if err == nil {
				err = loaded.follow(it)
			}
			if err != nil {
				return err
			}
			if loaded.Len() > most {
				k.large = true
				return nil
			}
		}
	}
	k.board = loaded
	return nil
}

// loadPage and loadBytes limit one read of a partition.
const (
	loadPage  = 5000
	loadBytes = 4 << 20
)

// follow applies a change of an evaluation.
func (b *Board) follow(it store.Item) error {
	if !it.Exists() {
		b.Remove(record.EvaluationID(it.Key))
		return nil
	}
	e, err := records.Decode[record.EvaluationItem](it)
	if err == nil {
		b.Put(b.share(e))
	}
	return err
}

// classOf returns the narrowest audience that readers with the roles belong to.
func classOf(roles access.Role) access.Audience {
	for _, a := range []access.Audience{access.Organizers, access.Registrants} {
		if access.Sees(roles, a) {
			return a
		}
	}
	return access.Everyone
}
