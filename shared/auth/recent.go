package auth

import "sync"

// generationSize is how many tokens each of the two generations of recent holds.
const generationSize = 2048

// recent keeps what is known of the last tokens, by their digests. Its zero value is ready for use.
//
// Tokens are put into the young generation. When that is full it becomes the old one, and tokens of the former old one that
// were not used since are dropped.
type recent[D comparable, V any] struct {
	mu         sync.Mutex
	young, old map[D]V
}

// get returns what is known of a token; the zero value of one that is not known.
func (r *recent[D, V]) get(digest D) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.young[digest]
	if !ok {
		if known, ok = r.old[digest]; ok {
			r.add(digest, known)
		}
	}
	return known
}

func (r *recent[D, V]) put(digest D, known V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(digest, known)
}

func (r *recent[D, V]) add(digest D, known V) {
	if len(r.young) >= generationSize || r.young == nil {
		r.young, r.old = make(map[D]V), r.young
	}
	r.young[digest] = known
}
