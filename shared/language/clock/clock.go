// Package clock says times to people.
package clock

import "time"

// Layout returns the layout of a time of day for time.Format: hours and minutes, and seconds unless they are 0. Times are never rounded up,
// so that a window does not close before the time that people read.
func Layout(at time.Time) string {
	if at.Second() == 0 {
		return "15:04"
	}
	return time.TimeOnly
}

// Instant returns a time in UTC for people, such as 30 November 2026, 12:30 UTC.
func Instant(at time.Time) string {
	return at.UTC().Format("2 January 2006, " + Layout(at) + " UTC")
}
