package record

import (
	"maps"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/clock"
)

// ShowsLike reports whether both datasets show each measure to the same readers from the same time on.
func (d *DatasetItem) ShowsLike(other *DatasetItem) bool {
	rules := func(d *DatasetItem) map[string]Column { // without those that show values to everyone at once
		narrowed := map[string]Column{}
		for _, c := range append(d.boardColumns(), d.columns()...) {
			if rule := (Column{Audience: c.Audience, From: c.From.short()}); rule != (Column{}) {
				narrowed[c.Key] = rule
			}
		}
		return narrowed
	}
	return maps.Equal(rules(d), rules(other))
}

// IsTimed reports whether a column of the dataset is shown from a close or an instant on.
func (d *DatasetItem) IsTimed() bool {
	return slices.ContainsFunc(d.boardColumns(), func(c Column) bool {
		_, isInstant := c.From.At()
		return isInstant || c.From == FromClose
	})
}

// Wait says when readers of a class see a first column of the runs whose review shows them. Exactly one of Over, Never and Until holds.
type Wait struct {
	Over  bool // they see one
	Never bool // no column is for them
	Until      // otherwise
}

// Until is an instant from which a column is shown.
type Until struct {
	At      Instant // zero if Unknown
	Close   bool    // it is the close of the last window of a team
	Unknown bool    // no window closes
}

// Wait returns for how long readers of the class wait at now.
func (r *ValueRules) Wait(class access.Audience, now time.Time) Wait {
	published := &AccessAttributes{Published: true}
	if r.Widest(published, now) >= class {
		return Wait{Over: true}
	}
	w := Wait{Never: true}
	for i := range r.columns {
		c := &r.columns[i]
		if u, ok := r.until(c); ok && c.Audience.audience() >= class && (w.Never || u.before(w.Until)) {
			w = Wait{Until: u}
		}
	}
	return w
}

// WaitFor returns for how long readers of the class wait at now for the column with the key.
func (r *ValueRules) WaitFor(key string, class access.Audience, now time.Time) Wait {
	one := &ValueRules{release: r.release}
	if c := find(r.columns, key); c != nil {
		one.columns = []Column{*c}
	}
	return one.Wait(class, now)
}

// AwaitPublication reports whether teams see values only of their runs whose review is published.
func (r *ValueRules) AwaitPublication(now time.Time) bool {
	rule := r.EntryRule(now)
	return rule.Unpublished < access.Owners && rule.Published >= access.Owners
}

// AreAlike reports whether the same readers see all columns at now, and wait equally for them.
func (r *ValueRules) AreAlike(now time.Time) bool {
	published := &AccessAttributes{Published: true}
	unpublished := new(AccessAttributes)
	for i := range r.columns {
		c := &r.columns[i]
		one := &ValueRules{release: r.release, columns: []Column{*c}}
		if one.Widest(published, now) != r.Widest(published, now) || one.Widest(unpublished, now) != r.Widest(unpublished, now) {
			return false
		}
		for _, class := range []access.Audience{access.Owners, access.Registrants} {
			if !one.Wait(class, now).Equal(r.Wait(class, now)) {
				return false
			}
		}
	}
	return true
}

// Keys returns the keys of the columns, in order.
func (r *ValueRules) Keys() []string { return r.keys }

// Equal reports whether the waits are the same.
func (w Wait) Equal(other Wait) bool {
	return w.Over == other.Over && w.Never == other.Never && w.Close == other.Close && w.Unknown == other.Unknown &&
		w.At.Equal(other.At.Time)
}

// before reports whether u is known to be sooner than the other.
func (u Until) before(other Until) bool {
	return !u.Unknown && (other.Unknown || u.At.Before(other.At.Time))
}

// until returns from when the column is shown, if it has an instant or waits for a close.
func (r *ValueRules) until(c *Column) (u Until, ok bool) {
	if c.From == FromClose {
		return Until{At: r.release.At, Close: true, Unknown: r.release.Unknown}, true
	}
	at, ok := c.From.At()
	return Until{At: at}, ok
}

// Next returns the first instant after now from which a column is shown. It is zero if there is none.
func (r *ValueRules) Next(now time.Time) (next time.Time) {
	for i := range r.columns {
		u, ok := r.until(&r.columns[i])
		if ok && !u.Unknown && u.At.After(now) && (next.IsZero() || u.At.Before(next)) {
			next = u.At.Time
		}
	}
	return next
}

// Condition says what ends the wait, to follow the word once.
func (u Until) Condition() string {
	if u.Close {
		return "the window of every team has closed"
	}
	return clock.Instant(u.At.Time) + " has passed"
}
