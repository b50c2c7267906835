// Package record holds the resources: their members, their limits, the rules that need nothing but themselves, and the
// keys under which the store has them (keys.go lists every access pattern).
//
// For each resource X there is a draft XDraft, the members that a client writes; X, the resource as REST shows it; and,
// where the platform keeps more than it shows, XItem, which is what the store holds.
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

	"assay/shared/problem"
	"assay/shared/store"

	"github.com/oklog/ulid/v2"
)

// Meta is what the service makes for every resource.
type Meta struct {
	ID        string  `json:"id" doc:"ULID of the resource" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
	CreatedAt Instant `json:"createdAt" doc:"when it was created"`
	UpdatedAt Instant `json:"updatedAt" doc:"when it last changed"`
	Version   int64   `json:"version" doc:"grows by one with each change" example:"1"`

	stored int64  // version of the item that the store has of it, which also grows when nothing changes that is shown
	before int64  // Version as it is stored
	newer  *newer // nil unless a later build has stored members that this build does not know
}

// NewMeta returns the Meta of a resource created at now, with an id of its own.
func NewMeta(now time.Time) Meta { return MetaOf(NewID(now), now) }

// MetaOf returns the Meta of a resource with the id created at now.
func MetaOf(id string, now time.Time) Meta {
	at := At(now)
	return Meta{ID: id, CreatedAt: at, UpdatedAt: at, Version: 1}
}

func (m *Meta) meta() *Meta { return m }

// Revision is the number that an entity tag of the resource begins with.
func (m Meta) Revision() int64 { return m.Version }

// Stored is the version of the item that the store has of the resource; it never grows slower than Version.
func (m Meta) Stored() int64 { return m.stored }

// Indexes implements Record for what no list has; a record that lists have overrides it.
func (m Meta) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Record is a resource that the store holds. One with a method Expiry() time.Time goes at that instant by itself.
type Record interface {
	Key() store.Key
	Indexes() [store.NumIndexes]store.Key
	Stored() int64
	meta() *Meta
}

// Item encodes r for the store. The item's version is the one that r was read with, even if r has changed since.
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

// Touch makes r, which changes at now, its next version, however often it is called before r is stored. What is stored
// without it, such as how far work has come that nobody is shown, leaves the version and the entity tag as they are.
func Touch(r Record, now time.Time) {
	m := r.meta()
	m.UpdatedAt, m.Version = At(now), m.before+1
}

var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new ULID for the instant; those made by one process in one millisecond ascend.
func NewID(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), entropy).String() }

// IDPattern is the form of a ULID as a regular expression.
const IDPattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"

// URLPattern is the form of a link that pages show as a regular expression. It has no user name or password, which everyone could read.
const URLPattern = `^https?://([0-9A-Za-z._~-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?([/?#]([!#$&-;=?-Z_a-z~]|%[0-9A-Fa-f]{2})*)?$`

// IsID reports whether s is a ULID in its canonical form.
func IsID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}

// Instant is a point in time with the precision of a millisecond; on the wire RFC 3339 in UTC with milliseconds.
type Instant struct{ time.Time }

const instantLayout = "2006-01-02T15:04:05.000Z"

// At returns the Instant of t.
func At(t time.Time) Instant { return Instant{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	seconds := i.UTC().AppendFormat(append(make([]byte, 0, 26), '"'), time.RFC3339) // for which time has a fast way, unlike for instantLayout
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

// String returns the instant as it stands on the wire.
func (i Instant) String() string { return i.sortable() }

// sortable returns the instant so that the order of strings is the order of time.
func (i Instant) sortable() string { return i.UTC().Format(instantLayout) }

// checkName says what is wrong with a one-line text that must say something.
func checkName(pointer, s string) (fields problem.Fields) {
	if strings.ContainsFunc(s, shows) {
		return CheckLine(pointer, s)
	}
	fields.Add(pointer, "must not be empty or only of what nobody sees")
	return fields
}

// shows reports whether people see a character that stands alone. Some letters are blank: U+3164 fills the place of another, U+2800 is a
// pattern of no dots.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && r != '\u2800' && !unicode.In(r, unicode.White_Space, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// maxMarks is how many combining marks may follow one another. Scripts need half as many; a hundred cover the lines around them.
const maxMarks = 8

// unfit returns what reports, of the characters of a line one after the other, which of them may not stand there.
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

// CheckLine says what is wrong with a one-line text.
func CheckLine(pointer, s string) (fields problem.Fields) {
	fields.AddIf(!utf8.ValidString(s) || strings.ContainsFunc(s, unfit()), pointer,
		"must be one line of text without control and format characters, such as those that turn the direction of text, and with at most %d "+
			"combining marks in a row", maxMarks)
	return fields
}

// maxLine is how many characters Line leaves.
const maxLine = 200

// Line returns what may stand in a line of a text that nobody can be told to correct, such as a name that an issuer gives; empty when
// nobody would see it.
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

// formats reports whether a character is invisible and changes how others are shown, such as U+202E, which makes of
// "exe.txt" another name. The joiners, which several scripts and emoji need, and the marks that enclose numbers do not count.
func formats(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// overrides reports whether a character makes those behind it run in another direction than their own.
func overrides(r rune) bool { return r >= '\u202a' && r <= '\u202e' }

// unfitForText reports whether a character may not stand in a text of several lines.
func unfitForText(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) || overrides(r)
}

// Text replaces the characters that may not stand in a text of several lines, for a text that nobody can be told to correct, such as the
// output of a program.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unfitForText(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// MaxTextBytes is how long a text of several lines may be, in bytes: the schema counts characters.
const MaxTextBytes = 64 << 10

// checkText says what is wrong with a text of several lines.
func checkText(pointer, s string) (fields problem.Fields) {
	fields.AddIf(len(s) > MaxTextBytes, pointer, "has %d bytes; %d are allowed", len(s), MaxTextBytes)
	fields.AddIf(len(s) <= MaxTextBytes && strings.ContainsFunc(s, unfitForText), pointer,
		"must be text without control characters other than tabs and ends of lines, and without U+202A to U+202E, which override the direction "+
			"of text")
	return fields
}

// checkDistinct says which elements of the array at the pointer are there before.
func checkDistinct[T comparable](pointer string, all []T) (fields problem.Fields) {
	for i, v := range all {
		fields.AddIf(slices.Contains(all[:i], v), fmt.Sprintf("%s/%d", pointer, i), "is named twice")
	}
	return fields
}

// Written tells r that the store has it as it is: as a new item, or in the place of the one that it was read from.
func Written(r Record, created bool) {
	m := r.meta()
	m.before = m.Version
	if created {
		m.stored = 1
	} else {
		m.stored++
	}
}
