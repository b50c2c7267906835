package main

import (
	"testing"

	"assay/functions"
	"assay/functions/background/evaluator"
)

// TestConcurrency_LeavesRoomBesideOnePayer compares the evaluator's places for one payer and for the slow lane with the reserved
// concurrency of each stage.
func TestConcurrency_LeavesRoomBesideOnePayer(t *testing.T) {
	places := evaluator.DeployedPlaces()
	for _, s := range stages {
		if most, limited := s.Concurrency[functions.Background]; limited && (4*places.Payer > most || 5*places.Slow > most) {
			t.Errorf("%s: of %d instances one payer has %d, more than a quarter, or the slow lane %d, more than a fifth", s.Name, most, places.Payer,
				places.Slow)
		}
	}
}
