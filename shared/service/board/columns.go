package board

import (
	"context"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/visibility"
)

// Columns are the columns of a dataset's leaderboard for one caller at one instant.
type Columns struct {
	dataset *record.DatasetItem
	rules   *record.ValueRules
	now     time.Time
	sorts   access.Audience // of the columns by which the caller can sort
	shows   access.Audience // of the columns that the caller sees of some runs
}

// ColumnsOf returns the columns for the caller of the viewer. The rules are those of the dataset.
func ColumnsOf(ctx context.Context, v *visibility.Viewer, d *record.DatasetItem, rules *record.ValueRules,
	now time.Time) (c Columns, err error) {
	roles, err := v.Roles(ctx, d.Scope())
	class := classOf(roles)
	c = Columns{dataset: d, rules: rules, now: now, sorts: class, shows: class}
	if roles&access.User != 0 && !v.Public { // can have runs of their own
		c.shows = min(class, access.Owners)
	}
	return c, err
}

// Shown returns the columns that the caller sees of some runs, as answers show them.
func (c Columns) Shown() []record.Column { return c.dataset.ColumnsFor(c.rules, c.shows, c.now) }

// Sortable returns the keys of the columns by which the caller can sort. The first is the default.
func (c Columns) Sortable() []string {
	return lists.Map(c.rules.Sorting(c.sorts, c.now), func(c record.Column) string { return c.Key })
}

// Default returns the key of the column that sorts unless the caller names one. It is empty if the caller can sort by none.
func (c Columns) Default() string {
	for _, key := range c.Sortable() {
		return key
	}
	return ""
}

// Named returns the key of the column that the name denotes. It returns "" if the caller cannot sort by it, whether it exists or not.
func (c Columns) Named(name string) string {
	shown := c.dataset.Board()
	if key := shown.Evaluator.Measure(name); slices.Contains(c.Sortable(), key) {
		return key
	}
	return ""
}
