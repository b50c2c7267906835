package auth

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// recentTokens is how many tokens each of the two generations of recent holds.
const recentTokens = 2048

// recent remembers who the last tokens spoke of, since to verify a signature costs as much as all the rest of a
// small request. A token is forgotten when it expires and when the keys of its issuer are fetched anew, so a key that
// is withdrawn withdraws its tokens.
//
// Tokens are put into the young generation. When that is full it becomes the old one, and what the old one held
// and nobody asked for since is gone.
type recent struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]remembered
}

type remembered struct {
	keys     *published
	identity Identity
}

// get returns whom the token with the digest speaks of, when that was found out with the given keys; nil are none.
func (r *recent) get(digest [sha256.Size]byte, keys *published, now time.Time) (Identity, bool) {
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

func (r *recent) put(digest [sha256.Size]byte, keys *published, id Identity) {
	id.Groups = slices.Clone(id.Groups)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(digest, remembered{keys, id})
}

func (r *recent) add(digest [sha256.Size]byte, m remembered) {
	if len(r.young) >= recentTokens || r.young == nil {
		r.young, r.old = make(map[[sha256.Size]byte]remembered), r.young
	}
	r.young[digest] = m
}
