package client_test

import (
	"testing"
	"time"

	"assay/local/cli/client"
)

// TestLocalTime_RoundsTheFutureUp: an instant in the future has passed in the minute that is said, and the zone is said too.
func TestLocalTime_RoundsTheFutureUp(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2001-01-01T00:00:27Z":     time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC),
		"2099-01-01T00:00:27.001Z": time.Date(2099, 1, 1, 0, 1, 0, 0, time.UTC),
		"2099-01-01T00:01:00Z":     time.Date(2099, 1, 1, 0, 1, 0, 0, time.UTC),
	} {
		if got, ok := client.LocalTime(text); !ok || got != want.Local().Format("2006-01-02 15:04 MST") {
			t.Errorf("%s is %s, %v", text, got, ok)
		}
	}
	if _, ok := client.LocalTime("noon"); ok {
		t.Error("noon is an instant")
	}
}
