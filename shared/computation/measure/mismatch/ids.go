package mismatch

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// IDs are the ids that a run is compared with.
type IDs struct {
	Of measure.Origin
	// Has reports whether an id is known, and Lacks whether it is known and the run lacks it.
	Has, Lacks func(id string) bool
	// Left iterates over the ids that the run lacks. It is nil if they cannot be listed.
	Left iter.Seq[string]
	// Sparse says that most ids of a sound run may be unknown, such as documents without a judgment.
	Sparse bool
}

// causes lists why ids of a run may be unknown, in the order in which they are looked for. Each returns a clause that begins with a
// semicolon, or "".
var causes = []func(ids IDs, counter *steps.Counter, unknown []string) string{
	IDs.spelledOtherwise, IDs.shortened, IDs.longer, IDs.shorter, IDs.counted,
}

// Explain returns a clause with the first cause that explains unknown ids, or "". The clause begins with a semicolon. It is invalid if the
// counter has an error.
func (ids IDs) Explain(counter *steps.Counter, unknown []string) string {
	unknown = unknown[:min(len(unknown), maxUnknown)]
	if len(unknown) == 0 {
		return ""
	}
	for _, cause := range causes {
		if clause := cause(ids, counter, unknown); clause != "" {
			return clause
		}
	}
	return ""
}

// left iterates over the ids that the run lacks. Each takes perID steps.
func (ids IDs) left(counter *steps.Counter) iter.Seq[string] {
	return func(yield func(string) bool) {
		if ids.Left == nil {
			return
		}
		for id := range ids.Left {
			if counter.Add(perID) != nil || !yield(id) {
				return
			}
		}
	}
}

// perID is the number of steps to look at an id or to look an id up.
const perID = 20

// nearlyAll reports whether n of all ids are so many that the others do not matter.
func nearlyAll(n, all int) bool { return 10*n >= 9*all }

func (ids IDs) spelledOtherwise(counter *steps.Counter, unknown []string) string {
	if ids.Left == nil {
		return ""
	}
	return Explain(counter, unknown, ids.Left)
}

// scientific matches a whole number as spreadsheets and tables of numbers shorten it.
var scientific = regexp.MustCompile(`^[0-9](\.[0-9]+)?[Ee]\+[0-9]+$`)

// shortened explains long numbers that a spreadsheet wrote with an exponent.
func (ids IDs) shortened(counter *steps.Counter, unknown []string) string {
	n := 0
	for _, u := range unknown {
		if scientific.MatchString(u) {
			n++
		}
	}
	if !nearlyAll(n, len(unknown)) {
		return ""
	}
	const mostDigits = 300 // of a finite number
	whole := func(id string) bool { return len(id) < mostDigits && strings.Trim(id, "0123456789") == "" }
	first, meant := "", ""
	for id := range ids.left(counter) {
		if !whole(id) || counter.Add(perText) != nil {
			continue
		}
		x, _ := strconv.ParseFloat(id, 64)
		for _, u := range unknown[:min(len(unknown), fields.Few)] {
			mantissa, _, _ := strings.Cut(strings.ToUpper(u), "E")
			short := strconv.FormatFloat(x, 'E', max(0, len(mantissa)-2), 64)
			if strings.EqualFold(short, u) && (meant == "" || id < meant) {
				first, meant = u, id
			}
		}
	}
	if meant == "" {
		return ""
	}
	return fmt.Sprintf("; the likely cause: %s is a long number such as %s, which a spreadsheet shortened: write the ids again, as text and "+
		"not as numbers", fields.Quote([]byte(first)), fields.Quote([]byte(meant)))
}

// leastCounted is the number of ids from which on a series says something about its numbers.
const leastCounted = 3

// counted explains ids that are numbered from another number than the known ones: each series of the run starts and ends one number
// before, or after, the same series of the known ids.
func (ids IDs) counted(counter *steps.Counter, unknown []string) string {
	ends := map[series]place{}
	n := 0
	for id := range ids.left(counter) {
		s, end, ok := numbered(id)
		n++
		if !ok || n > len(unknown) {
			return ""
		}
		ends[s] = end
	}
	if len(ends) != len(unknown) {
		return ""
	}
	clause := ""
	for _, u := range unknown {
		s, first, ok := numbered(u)
		last, found := ends[s]
		if !ok || !found || !ids.isShifted(counter, s, first, last) {
			return ""
		}
		step, change := int64(1), ": add 1 to"
		if last.number < first.number {
			step, change = -1, ": take 1 from"
		}
		if clause == "" {
			clause = fmt.Sprintf("; the likely cause: the run counts from %s, and %s from %s%s the number of each id",
				s.extent(first, last.plus(-step)), ids.Of, s.extent(first.plus(step), last), change)
		} else if !strings.Contains(clause, change) {
			return ""
		}
	}
	return clause
}

// isShifted reports whether the known ids of a series are those between a number that only the run has and one that the run lacks, and
// at least three.
func (ids IDs) isShifted(counter *steps.Counter, s series, unknown, missing place) bool {
	step := int64(1)
	if missing.number < unknown.number {
		step = -1
	}
	width := max(unknown.width, missing.width)
	has := func(number int64) bool { return ids.Has(s.id(place{number, width})) }
	if (missing.number-unknown.number)*step < leastCounted || has(unknown.number-step) || has(missing.number+step) {
		return false
	}
	for number := unknown.number + step; number != missing.number; number += step {
		if counter.Add(perID) != nil || !has(number) {
			return false
		}
	}
	return true
}

// series is a sequence of ids that differ only in their last number.
type series struct{ before, after string }

// place is a place in a series.
type place struct {
	number int64
	width  int // digits of a number with leading zeros; 0 without
}

// plus returns the place n ids later.
func (p place) plus(n int64) place { return place{p.number + n, p.width} }

// lastNumber matches the last number of an id, with the text after it.
var lastNumber = regexp.MustCompile(`([0-9]{1,15})([^0-9]*)$`)

// numbered divides an id at its last number. ok is false without a number.
func numbered(id string) (s series, p place, ok bool) {
	at := lastNumber.FindStringSubmatchIndex(id)
	if at == nil {
		return series{}, place{}, false
	}
	digits := id[at[2]:at[3]]
	if len(digits) > 1 && digits[0] == '0' {
		p.width = len(digits)
	}
	p.number, _ = strconv.ParseInt(digits, 10, 64)
	return series{before: id[:at[2]], after: id[at[3]:]}, p, true
}

func (s series) id(p place) string {
	if p.number < 0 {
		return ""
	}
	return fmt.Sprintf("%s%0*d%s", s.before, p.width, p.number, s.after)
}

// extent names two ids, the first one first, with as many digits if one of them has leading zeros.
func (s series) extent(a, b place) string {
	width := max(a.width, b.width)
	a.width = width
	b.width = width
	if b.number < a.number {
		a, b = b, a
	}
	return fields.Quote([]byte(s.id(a))) + " to " + fields.Quote([]byte(s.id(b)))
}
