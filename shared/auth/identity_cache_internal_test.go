package auth

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

func TestIdentityCache_IsBounded(t *testing.T) {
	r, keys, expires := new(identityCache), new(published), time.Now().Add(time.Hour)
	digest := func(n int) [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, n)) }
	often := digest(-1)
	r.put(often, keys, Identity{Subject: "often", Expires: expires})
	for n := range 10 * generationSize {
		r.put(digest(n), keys, Identity{Subject: fmt.Sprint(n), Expires: expires})
		if len(r.young)+len(r.old) > 2*generationSize {
			t.Fatalf("holds %d tokens after %d", len(r.young)+len(r.old), n)
		}
		if n%1000 == 0 {
			if id, ok := r.get(often, keys, time.Now()); !ok || id.Subject != "often" {
				t.Fatalf("a token in use was forgotten after %d others", n)
			}
		}
	}
	if _, ok := r.get(digest(0), keys, time.Now()); ok {
		t.Error("a token that nobody used since is still remembered")
	}
	if _, ok := r.get(often, new(published), time.Now()); ok {
		t.Error("a token is good with keys that it was not verified with")
	}
	if _, ok := r.get(often, nil, time.Now()); ok {
		t.Error("a token is good without keys")
	}
	if _, ok := r.get(often, keys, expires); ok {
		t.Error("a token is remembered past its end")
	}
}
