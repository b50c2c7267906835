package mismatch

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/steps"
)

// affix is a text before an id and one after it.
type affix struct{ before, after string }

// longer explains ids that are known without a text before or after them, such as a folder or the number of a passage.
func (ids IDs) longer(counter *steps.Counter, unknown []string) string {
	for _, u := range unknown {
		for a, id := range cuts(u) {
			if counter.Add(perID) != nil {
				return ""
			}
			if !ids.Lacks(id) {
				continue
			}
			if !ids.fits(counter, a, unknown) {
				break
			}
			return fmt.Sprintf("; the likely cause: %s is %s of %s with %s: leave that out of each id", fields.Quote([]byte(u)),
				fields.Quote([]byte(id)), ids.Of, a)
		}
		if !ids.Sparse { // any id shows a text that all have
			break
		}
	}
	return ""
}

// fits reports whether nearly all unknown ids are known without an affix of this kind. Of sparse ids, nearly all need such an affix.
func (ids IDs) fits(counter *steps.Counter, a affix, unknown []string) bool {
	n := 0
	for _, u := range unknown {
		if counter.Add(perID) != nil {
			return false
		}
		if id, ok := a.cut(u); ok && (ids.Sparse || ids.Lacks(id)) {
			n++
		}
	}
	return nearlyAll(n, len(unknown))
}

// leastSparse is the number of sparse ids that say something about all.
const leastSparse = 2

// shorter explains ids that are known with a text before or after them.
func (ids IDs) shorter(counter *steps.Counter, unknown []string) string {
	first, meant := unknown[0], ""
	var a affix
	for id := range ids.left(counter) {
		if counter.Add(len(id)) != nil {
			return ""
		}
		if meant != "" && id >= meant || len(id) <= len(first) || !strings.Contains(id, first) {
			continue
		}
		if found, ok := affixOf(id, first); ok {
			a, meant = found, id
		}
	}
	if meant == "" {
		return ""
	}
	n := 0
	for _, u := range unknown {
		if counter.Add(perID) != nil {
			return ""
		}
		if ids.Lacks(a.before + u + a.after) {
			n++
		}
	}
	if enough := ids.Sparse && n >= leastSparse; !enough && !nearlyAll(n, len(unknown)) {
		return ""
	}
	return fmt.Sprintf("; the likely cause: %s is %s of %s without %s: add that to each id", fields.Quote([]byte(first)),
		fields.Quote([]byte(meant)), ids.Of, a)
}

func (a affix) String() string {
	var parts []string
	if a.before != "" {
		parts = append(parts, fields.Quote([]byte(a.before))+" before it")
	}
	if a.after != "" {
		parts = append(parts, fields.Quote([]byte(a.after))+" after it")
	}
	return strings.Join(parts, " and ")
}

// cut returns an id without the affix, or without another one that ends or begins with the same character, such as another folder.
func (a affix) cut(id string) (part string, ok bool) {
	part, ok = strings.CutPrefix(id, a.before)
	if !ok {
		i := strings.LastIndexByte(id, a.before[len(a.before)-1])
		part, ok = id[i+1:], i >= 0
	}
	whole := part
	part, cut := strings.CutSuffix(whole, a.after)
	if !cut {
		i := strings.LastIndexByte(whole, a.after[0])
		part, cut = whole[:max(0, i)], i > 0
	}
	return part, ok && cut && part != ""
}

// maxBounds bounds the places at which cuts divides an id, and maxDivided the bytes of the ids that it divides: the parts of an id are
// about maxBounds² times as long as the id, and each is looked up.
const (
	maxBounds  = 32
	maxDivided = 1024
)

// cuts returns an iterator over the parts of an id without an affix, the longest first. An id is divided before and after characters other
// than letters and digits, and between a letter and a digit. Very long ids have no parts.
func cuts(id string) iter.Seq2[affix, string] {
	if len(id) > maxDivided {
		return func(func(affix, string) bool) {}
	}
	starts := slices.Collect(startsOf(id))
	ends := []int{len(id)}
	for i := len(id); i > 0 && len(ends) < maxBounds; {
		_, size := utf8.DecodeLastRuneInString(id[:i])
		i -= size
		if i > 0 && isBound(id, i) {
			ends = append(ends, i)
		}
	}
	type part struct{ start, end int }
	var parts []part
	for _, start := range starts {
		for _, end := range ends {
			if start < end && end-start < len(id) {
				parts = append(parts, part{start, end})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return (b.end - b.start) - (a.end - a.start) })
	return func(yield func(affix, string) bool) {
		for _, p := range parts {
			if !yield(affix{before: id[:p.start], after: id[p.end:]}, id[p.start:p.end]) {
				return
			}
		}
	}
}

// affixOf returns the affix of a part of an id. The parts are those that cuts returns, also of long ids. ok is false if the id has no such
// part. It takes only as long as reading the id, because it is asked about each id of a truth.
func affixOf(id, part string) (a affix, ok bool) {
	for start := range startsOf(id) {
		end := start + len(part)
		if strings.HasPrefix(id[start:], part) && isBound(id, end) {
			return affix{before: id[:start], after: id[end:]}, true
		}
	}
	return affix{}, false
}

// startsOf returns an iterator over the first places at which parts of an id begin.
func startsOf(id string) iter.Seq[int] {
	return func(yield func(int) bool) {
		n := 0
		for i := range id {
			if !isBound(id, i) {
				continue
			}
			if n == maxBounds || !yield(i) {
				return
			}
			n++
		}
	}
}

// isBound reports whether a part of the id begins or ends at the place.
func isBound(id string, place int) bool {
	if place == 0 || place == len(id) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(id[:place])
	after, _ := utf8.DecodeRuneInString(id[place:])
	return class(before) != class(after)
}

// class returns 'a' for letters, '0' for digits, and 0 for other characters.
func class(r rune) rune {
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return 'a'
	case unicode.IsDigit(r):
		return '0'
	}
	return 0
}
