package clock_test

import (
	"testing"
	"time"

	"assay/shared/language/clock"
)

func TestInstant_IsForPeople(t *testing.T) {
	east := time.FixedZone("", 2*60*60)
	for want, at := range map[string]time.Time{
		"30 November 2026, 12:30 UTC":    time.Date(2026, 11, 30, 14, 30, 0, 0, east),
		"30 November 2026, 22:25:41 UTC": time.Date(2026, 11, 30, 22, 25, 41, 110_000_000, time.UTC),
	} {
		if got := clock.Instant(at); got != want {
			t.Errorf("%v is %q", at, got)
		}
	}
}
