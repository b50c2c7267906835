package auth

import "testing"

func TestRecent_IsBounded(t *testing.T) {
	var r recent[int, string]
	const often = -1
	r.put(often, "often")
	for n := range 10 * generationSize {
		r.put(n, "once")
		if len(r.young)+len(r.old) > 2*generationSize {
			t.Fatalf("holds %d tokens after %d", len(r.young)+len(r.old), n)
		}
		if n%1000 == 0 && r.get(often) != "often" {
			t.Fatalf("a token in use was forgotten after %d others", n)
		}
	}
	if r.get(0) != "" {
		t.Error("a token that nobody used since is still remembered")
	}
}
