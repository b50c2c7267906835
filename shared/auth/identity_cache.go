package auth

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// generationSize is how many tokens each of the two generations of recent holds.
const generationSize = 2048

// identityCache keeps the identities of the last tokens, since verifying a signature costs as much as all the rest of a
// small request. A token is forgotten when it expires and when the keys of its issuer are fetched again, so a key that
// is withdrawn withdraws its tokens.
//
// Tokens are put into the young generation. When that is full it becomes the old one, and tokens of the former old one that
// were not used since are dropped.
type identityCache struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]cacheEntry
}

type cacheEntry struct {
	keys     *published
	identity Identity
}

// get returns the identity of the token with the digest, when it was verified with the given keys; nil are none.
func (r *identityCache) get(digest [sha256.Size]byte, keys *published, now time.Time) (Identity, bool) {
	if keys == nil {
		return Identity{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.young[digest]
	if !ok {
		if m, ok = r.old[digest]; ok {
			r.add(digest, m)
		}
	}
	if !ok || m.keys != keys || !now.Before(m.identity.Expires) {
		return Identity{}, false
	}
	id := m.identity
	id.Groups = slices.Clone(id.Groups) // the caller's own
	return id, true
}

func (r *identityCache) put(digest [sha256.Size]byte, keys *published, id Identity) {
	id.Groups = slices.Clone(id.Groups)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(digest, cacheEntry{keys, id})
}

func (r *identityCache) add(digest [sha256.Size]byte, m cacheEntry) {
	if len(r.young) >= generationSize || r.young == nil {
		r.young, r.old = make(map[[sha256.Size]byte]cacheEntry), r.young
	}
	r.young[digest] = m
}
