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

// TestLocalize_FindsInstants says the instants of a text in the form of terminals, and leaves other words unchanged.
func TestLocalize_FindsInstants(t *testing.T) {
	for _, at := range []time.Time{
		time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 22, 25, 41, 0, time.UTC),
	} {
		text := "Until " + clock.Instant(at) + " no run fails."
		if got, want := clock.Localize(text), "Until "+clock.Local(at)+" no run fails."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const other = "line 3: 31 Smarch 2026, 12:00 UTC is no date"
	if got := clock.Localize(other); got != other {
		t.Errorf("%q", got)
	}
}
