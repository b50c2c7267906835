package board

import (
	"iter"
	"sort"
)

// view is a selection of a board as one reader sees it. It consists of the rows that everyone of the reader's class gets and, in place of
// those of some teams of the reader, the rows that these teams get. It never changes.
type view struct {
	selector
	rows     []row
	replaced []int // places in rows, ascending
	own      []row // in order
}

// before returns how many rows of the view precede row n of rows, apart from own.
func (v *view) before(n int) int { return n - sort.SearchInts(v.replaced, n) }

// rank returns one more than the number of better rows, or 0 for a row without a value.
func (v *view) rank(r row) int {
	if r.key == undefined {
		return 0
	}
	return 1 + v.before(better(v.rows, r.key)) + better(v.own, r.key)
}

// from yields the rows from the place on, with their ranks. The places before it cost nothing.
func (v *view) from(place int) iter.Seq2[int, row] {
	return func(yield func(int, row) bool) {
		own := 0
		for own < len(v.own) && own+v.before(v.find(v.rows, v.own[own])) < place {
			own++
		}
		next := place - own
		skipped := 0
		for skipped < len(v.replaced) && v.replaced[skipped] <= next+skipped {
			skipped++
		}
		next += skipped
		rank, last := 0, undefined
		for ; ; place++ {
			for skipped < len(v.replaced) && v.replaced[skipped] == next {
				skipped++
				next++
			}
			var r row
			switch {
			case next < len(v.rows) && (own == len(v.own) || v.compare(v.rows[next], v.own[own]) < 0):
				r = v.rows[next]
				next++
			case own < len(v.own):
				r = v.own[own]
				own++
			default:
				return
			}
			if r.key != last {
				rank, last = v.rank(r), r.key
			}
			if !yield(rank, r) {
				return
			}
		}
	}
}
