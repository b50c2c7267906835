package embedded

import (
	"hash/maphash"
	"sync/atomic"

	"assay/shared/storage/store"
)

// revisions holds the numbers that Revision returns. Partitions are hashed to shared numbers, because one number for each partition
// would take much memory, and callers ask for few partitions.
type revisions struct {
	seed  maphash.Seed
	slots [1 << 12]atomic.Uint64
}

// lastRevision is the greatest number that any store of the process has used.
var lastRevision atomic.Uint64

func newRevisions() *revisions {
	r := &revisions{seed: maphash.MakeSeed()}
	for i := range r.slots {
		r.slots[i].Store(lastRevision.Add(1))
	}
	return r
}

func (r *revisions) of(i store.Index, partition string) *atomic.Uint64 {
	return &r.slots[(maphash.String(r.seed, partition)+uint64(i))%uint64(len(r.slots))]
}

// Revision implements store.Store.
func (s *Store) Revision(i store.Index, partition string) uint64 {
	return s.revisions.of(i, partition).Load()
}

// touched holds the numbers of the partitions that a commit changes. They change after the commit, before any of its Writes returns.
type touched []*atomic.Uint64

func (t touched) change() {
	for _, number := range t {
		number.Store(lastRevision.Add(1))
	}
}
