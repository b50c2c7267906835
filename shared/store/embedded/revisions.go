package embedded

import (
	"hash/maphash"
	"sync/atomic"

	"assay/shared/store"
)

// revisions has the numbers that Revision returns. Partitions share them by a hash, since a number for each partition would fill the memory
// for the few that anybody asks for.
type revisions struct {
	seed  maphash.Seed
	slots [1 << 12]atomic.Uint64
}

// lastRevision is the highest number that any store of the process has used.
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

// touched are the numbers of the partitions that a commit changes. They become others once it is done, before any Write of it returns.
type touched []*atomic.Uint64

func (t touched) change() {
	for _, number := range t {
		number.Store(lastRevision.Add(1))
	}
}
