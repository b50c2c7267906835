package retrieval

import (
	"fmt"
	"testing"

	"assay/shared/measure/hashtable"
)

// TestEvaluate_OfDocumentsWithTheSameHash looks for two ids that share a hash, which takes some 80,000 of them.
func TestEvaluate_OfDocumentsWithTheSameHash(t *testing.T) {
	seen := map[uint32]string{}
	var a, b string
	for i := 0; a == ""; i++ {
		doc := fmt.Sprintf("document-%d", i)
		if h := hashtable.Hash([]byte(doc)); seen[h] != "" {
			a, b = seen[h], doc
		} else {
			seen[h] = doc
		}
	}
	result := values(t, fmt.Sprintf("t 0 %s 2\nt 0 %s 1\nu 0 %s 1\n", a, b, a), fmt.Sprintf("t Q0 %s 1 2 x\nt Q0 %s 2 1 x\nu Q0 %s 1 1 x\n", a,
		b, b), "RR(rel=2)", "NumRelRet")
	if got := result.PerTopic["t"]; got["RR(rel=2)"] != 1 || got["NumRet(rel=1)"] != 2 {
		t.Errorf("of topic t: %v", got)
	}
	if got := result.PerTopic["u"]["NumRet(rel=1)"]; got != 0 {
		t.Errorf("%s is taken for %s", b, a)
	}
}
