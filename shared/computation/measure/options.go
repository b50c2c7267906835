package measure

// Options restrict the ids of a ground truth (qrels, labels) and of its runs. The zero value uses all ids.
type Options struct {
	// Only selects ids; nil selects all. The lines of other ids count as if neither the truth nor a run had them, except that faults
	// within these lines are still reported. Values and diagnostics are those of files without these lines, apart from line numbers.
	// Goroutines may call Only at the same time; each of them uses a Selector of its own.
	//
	// Some faults show that a run belongs to another truth. A part of the files does not show that, so these are no errors if Only is set:
	// a file without selected ids, a run without selected topics, and predictions of which none is a label of the truth.
	Only func() Selector
	// ExtraIDs says whether a run may have ids that the truth lacks.
	ExtraIDs ExtraIDs
}

// Selector returns a new Selector, or nil if all ids are selected.
func (o Options) Selector() Selector {
	if o.Only == nil {
		return nil
	}
	return o.Only()
}

// Selector selects ids in the order of a file. It is for one goroutine, and may keep a place in this order. Nil selects all ids.
type Selector func(id []byte) bool

// Selects reports whether the id is selected.
func (s Selector) Selects(id []byte) bool { return s == nil || s(id) }

// NothingSelected is the error about a truth without a selected id.
const NothingSelected = "none of the ids to measure is in the truth"

// ExtraIDs says whether a run may have ids that the ground truth lacks. The zero value is IgnoreExtraIDs for rankings, and RefuseExtraIDs
// for other kinds.
type ExtraIDs string

// Ignored ids do not count, and a warning names some of them.
const (
	RefuseExtraIDs ExtraIDs = "refuse"
	IgnoreExtraIDs ExtraIDs = "ignore"
)
