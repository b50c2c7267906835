package client_test

import (
	"testing"
	"time"

	"assay/local/cli/client"
)

// TestLocalTime_IsNeverLater says instants in the past and in the future with their zone, and with seconds unless these are 0.
func TestLocalTime_IsNeverLater(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2001-01-01T00:00:27Z":     time.Date(2001, 1, 1, 0, 0, 27, 0, time.UTC),
		"2099-01-01T00:00:27.999Z": time.Date(2099, 1, 1, 0, 0, 27, 0, time.UTC),
		"2099-01-01T00:01:00Z":     time.Date(2099, 1, 1, 0, 1, 0, 0, time.UTC),
	} {
		layout := "2006-01-02 15:04:05 MST"
		if want.Second() == 0 {
			layout = "2006-01-02 15:04 MST"
		}
		if got, ok := client.LocalTime(text); !ok || got != want.Local().Format(layout) {
			t.Errorf("%s is %s, %v", text, got, ok)
		}
	}
	if _, ok := client.LocalTime("noon"); ok {
		t.Error("noon is an instant")
	}
}
