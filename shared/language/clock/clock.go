// Package clock says times of day to people.
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
