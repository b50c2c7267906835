package functions_test

import (
	"fmt"
	"testing"

	"assay/shared/record"
)

func TestCrowd(t *testing.T) {
	w := newWorld(t)
	p := w.newPlace(w.organizerID, record.Public)
	for i := range 20000 {
		p.enter(fmt.Sprintf("user%d", i%500), record.Private, false, true, float64(i%1000)/1000)
	}
	for range 10000 {
		w.newPlace(w.organizerID, record.Private)
	}
	t.Log(len(w.made))
	w.flush(t)
}
