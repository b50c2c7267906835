// Package clock says times to people.
package clock

import (
	"regexp"
	"time"
)

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
	return at.UTC().Format(date + Layout(at) + zone)
}

const (
	date = "2 January 2006, "
	zone = " UTC"
)

// Local returns a time in the local time zone for people at a terminal, such as 2026-11-30 13:30 CET.
func Local(at time.Time) string {
	return at.Local().Format(time.DateOnly + " " + Layout(at) + " MST")
}

// instants matches the results of Instant.
var instants = regexp.MustCompile(`\b\d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d(:\d\d)? UTC\b`)

// Localize returns a text with the results of Instant in the form of Local.
func Localize(text string) string {
	return instants.ReplaceAllStringFunc(text, func(said string) string {
		for _, layout := range []string{"15:04", time.TimeOnly} {
			if at, err := time.Parse(date+layout+zone, said); err == nil {
				return Local(at)
			}
		}
		return said
	})
}
