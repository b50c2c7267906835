// Package record defines the resources: their members, their limits, the rules that depend only on a resource itself, and their
// keys in the store. keys.go lists every access pattern.
//
// A resource X has up to three types. XDraft has the members that clients write. X is the resource that the REST API shows.
// XItem is the stored resource, where the platform stores more than it shows.
package record

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/shared/language/problem"
	"assay/shared/storage/store"

	"github.com/oklog/ulid/v2"
)

// Meta holds the members that the service sets for every resource.
type Meta struct {
	ID        string  `json:"id" doc:"ULID of the resource" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	CreatedAt Instant `json:"createdAt" doc:"when it was created"`
	UpdatedAt Instant `json:"updatedAt" doc:"when it last changed"`
	Version   int64   `json:"version" doc:"grows by one with each change" example:"1"`

	stored int64  // version of the stored item; it also grows with changes that no caller sees
	before int64  // Version of the stored item
	newer  *newer // nil unless the stored item has members that this build does not know
}

// NewMeta returns the Meta of a resource created at now, with a new ID.
func NewMeta(now time.Time) Meta { return MetaOf(NewID(now), now) }

// MetaOf returns the Meta of a resource with the ID, created at now.
func MetaOf(id string, now time.Time) Meta {
	at := At(now)
	return Meta{ID: id, CreatedAt: at, UpdatedAt: at, Version: 1}
}

func (m *Meta) meta() *Meta { return m }

// Revision returns the number that begins the resource's entity tag.
func (m Meta) Revision() int64 { return m.Version }

// Stored returns the version of the stored item. It grows with every write, at least as fast as Version.
func (m Meta) Stored() int64 { return m.stored }

// Indexes implements Record for records that are in no list. Records in lists override it.
func (m Meta) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Record is a resource that the store holds. The store deletes a Record with the method Expiry() time.Time at that instant.
type Record interface {
	Key() store.Key
	Indexes() [store.NumIndexes]store.Key
	Stored() int64
	meta() *Meta
}

// Item encodes r for the store. The item has the version with which r was read, even if r has changed since.
func Item(r Record) (store.Item, error) {
	data, err := encode(r)
	if err != nil {
		return store.Item{}, err
	}
	it := store.Item{Key: r.Key(), Indexes: r.Indexes(), Version: r.meta().stored, Data: data}
	if e, ok := r.(interface{ Expiry() time.Time }); ok {
		it.Expires = e.Expiry()
	}
	return it, nil
}

// Decode reads a stored item into r.
func Decode(it store.Item, r Record) error {
	if err := decode(it.Data, r); err != nil {
		return fmt.Errorf("record: decode %s %s: %w", it.Partition, it.Sort, err)
	}
	m := r.meta()
	m.stored, m.before = it.Version, m.Version
	return nil
}

// Touch gives r, which changes at now, its next version. Calling it more than once before r is stored has no further effect. Changes
// that no caller sees, such as the progress of work, are stored without Touch: version and entity tag then stay the same.
func Touch(r Record, now time.Time) {
	m := r.meta()
	m.UpdatedAt, m.Version = At(now), m.before+1
}

var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new ULID for the instant. IDs made by one process within one millisecond ascend.
func NewID(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), entropy).String() }

// IDPattern is a regular expression for ULIDs.
const IDPattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"

// URLPattern is a regular expression for links that pages show. A link must not contain a user name or password, which everyone could
// read.
const URLPattern = `^https?://([0-9A-Za-z._~-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?([/?#]([!#$&-;=?-Z_a-z~]|%[0-9A-Fa-f]{2})*)?$`

// IsID reports whether s is a ULID in its canonical form.
func IsID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}

// Instant is a point in time with a precision of one millisecond. In JSON it is an RFC 3339 timestamp in UTC with milliseconds.
type Instant struct{ time.Time }

const instantLayout = "2006-01-02T15:04:05.000Z"

// At returns the Instant of t.
func At(t time.Time) Instant { return Instant{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	seconds := i.UTC().AppendFormat(append(make([]byte, 0, 26), '"'), time.RFC3339) // package time formats it faster than instantLayout
	millis := i.Nanosecond() / int(time.Millisecond)
	return append(seconds[:len(seconds)-1], '.', byte('0'+millis/100), byte('0'+millis/10%10), byte('0'+millis%10), 'Z', '"'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	t, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
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

// checkName reports the errors of a one-line text that must not be blank.
func checkName(pointer, s string) (fields problem.Fields) {
	if strings.ContainsFunc(s, shows) {
		return CheckLine(pointer, s)
	}
	fields.Add(pointer, "must not be empty or only of what nobody sees")
	return fields
}

// shows reports whether a character is visible on its own. Some characters that Unicode does not class as spaces are blank: U+3164
// replaces a missing Hangul letter, and U+2800 is the Braille pattern without dots.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && r != '\u2800' && !unicode.In(r, unicode.White_Space, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// maxMarks is how many combining marks may follow one another. Scripts need half as many. A hundred would cover the neighboring lines.
const maxMarks = 8

// unfit returns a function that reports whether a character is forbidden in a line. It must be called with the characters of one line
// in order, because it counts consecutive combining marks.
func unfit() func(rune) bool {
	marks := 0
	return func(r rune) bool {
		marks++
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		return marks > maxMarks || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || formats(r)
	}
}

// CheckLine reports the errors of a one-line text.
func CheckLine(pointer, s string) (fields problem.Fields) {
	fields.AddIf(!utf8.ValidString(s) || strings.ContainsFunc(s, unfit()), pointer,
		"must be one line of text without control and format characters, such as those that turn the direction of text, and with at most %d "+
			"combining marks in a row", maxMarks)
	return fields
}

// maxLine is the greatest length of Line's result, in characters.
const maxLine = 200

// Line removes forbidden characters from a one-line text that its author cannot be asked to correct, such as a name from an issuer. It
// returns "" if nothing visible remains.
func Line(s string) string {
	wrong := unfit()
	line := strings.Map(func(r rune) rune {
		if wrong(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if !strings.ContainsFunc(line, shows) {
		return ""
	}
	return string([]rune(line)[:min(utf8.RuneCountInString(line), maxLine)])
}

// formats reports whether a character is invisible and changes how other characters are shown. For example, U+202E reverses the letters
// of "exe.txt". The joiners, which several scripts and emoji need, and the marks that enclose numbers do not count.
func formats(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// overrides reports whether a character forces the direction of the characters after it.
func overrides(r rune) bool { return r >= '\u202a' && r <= '\u202e' }

// unfitForText reports whether a character is forbidden in a text of several lines.
func unfitForText(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) || overrides(r)
}

// Text replaces forbidden characters in a text of several lines that its author cannot be asked to correct, such as a program's output.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unfitForText(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// MaxTextBytes is the greatest length of a text of several lines, in bytes. The schemas limit its characters.
const MaxTextBytes = 64 << 10

// checkText reports the errors of a text of several lines.
func checkText(pointer, s string) (fields problem.Fields) {
	fields.AddIf(len(s) > MaxTextBytes, pointer, "has %d bytes; %d are allowed", len(s), MaxTextBytes)
	fields.AddIf(len(s) <= MaxTextBytes && strings.ContainsFunc(s, unfitForText), pointer,
		"must be text without control characters other than tabs and ends of lines, and without U+202A to U+202E, which override the direction "+
			"of text")
	return fields
}

// checkDistinct reports the elements of the array at the pointer that repeat an earlier element.
func checkDistinct[T comparable](pointer string, all []T) (fields problem.Fields) {
	for i, v := range all {
		fields.AddIf(slices.Contains(all[:i], v), fmt.Sprintf("%s/%d", pointer, i), "is named twice")
	}
	return fields
}

// Written tells r that the store holds it now. created says whether the write created the item or replaced the one that r was read
// from.
func Written(r Record, created bool) {
	m := r.meta()
	m.before = m.Version
	if created {
		m.stored = 1
	} else {
		m.stored++
	}
}
