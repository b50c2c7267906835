package record

import (
	"bytes"
	"fmt"
	"time"
)

// Instant is a point in time with a precision of one millisecond. In JSON it is an RFC 3339 timestamp in UTC with milliseconds.
type Instant struct{ time.Time }

const instantLayout = "2006-01-02T15:04:05.000Z"

// At returns the Instant of t.
func At(t time.Time) Instant { return Instant{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	return i.appendJSON(make([]byte, 0, len(`"`+instantLayout+`"`))), nil
}

func (i Instant) appendJSON(text []byte) []byte {
	text = append(text, '"')
	text = i.UTC().AppendFormat(text, time.RFC3339) // package time formats it faster than instantLayout
	text = text[:len(text)-len("Z")]
	millis := i.Nanosecond() / int(time.Millisecond)
	return append(text, '.', byte('0'+millis/100), byte('0'+millis/10%10), byte('0'+millis%10), 'Z', '"')
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	var t time.Time
	if err := t.UnmarshalJSON(b); err != nil {
		return fmt.Errorf("not an RFC 3339 instant: %s", b)
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return fmt.Errorf("not an RFC 3339 instant in UTC, whose years have four digits: %s", b)
	}
	*i = At(t)
	return nil
}

// String returns the instant's text in JSON.
func (i Instant) String() string { return i.sortable() }

// sortable returns the instant as a string. The order of such strings is the order of time.
func (i Instant) sortable() string { return i.UTC().Format(instantLayout) }
