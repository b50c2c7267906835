package evaluations

import (
	"context"
	"slices"
	"strconv"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/board"
)

// rank is the value of sort for the order by the first column.
const rank = "rank"

// boardOptions select the entries of a leaderboard.
type boardOptions struct {
	final bool // only final runs
	best  bool // only the best run of each team
	count bool // each entry has the number of the team's runs on the board
}

// optionsOf returns the options of the request.
func optionsOf(c *api.Call) boardOptions {
	is := func(f page.Filter) bool { return c.Page.Value(f.Name) == "true" }
	return boardOptions{final: is(final), best: is(best)}
}

// boardReader reads the leaderboard of a dataset as the caller sees it at one instant.
type boardReader struct {
	*api.Call
	dataset *record.DatasetItem
	boardOptions
	rules   *record.ValueRules
	columns board.Columns
	now     time.Time
}

// newReader returns the reader of the dataset's leaderboard, which must have been read with strong consistency.
func newReader(ctx context.Context, c *api.Call, d *record.DatasetItem, o boardOptions) (*boardReader, error) {
	rules, err := c.RulesOf(ctx, d)
	if err != nil {
		return nil, err
	}
	r := &boardReader{Call: c, dataset: d, boardOptions: o, rules: rules, now: c.Now()}
	r.columns, err = board.ColumnsOf(ctx, &c.Viewer, d, rules, r.now)
	return r, err
}

// sorting returns the measure that sorts the entries. It is empty if the caller sees no column of runs that others see.
func (r *boardReader) sorting() (string, error) {
	if r.Page.Sort == rank {
		return r.columns.Default(), nil
	}
	if name := r.columns.Named(r.Page.Sort); name != "" {
		return name, nil
	}
	return "", problem.InvalidParameter.New("{?sort} must be %s.", lists.Or(append([]string{rank}, r.columns.Sortable()...)))
}

// measures returns the names of the columns that the caller sees, in the order of the dataset.
func (r *boardReader) measures() []string {
	return lists.Map(r.columns.Shown(), func(c record.Column) string { return c.Key })
}

// shownEntry is an entry of a leaderboard that the caller sees. It is rendered only if the caller does not have the answer yet.
type shownEntry struct {
	item       *record.EvaluationItem
	roles      access.Role
	rank, runs int
}

// addTo adds what the rendered entry depends on, apart from the rules of the dataset.
func (e *shownEntry) addTo(in *api.Inputs) {
	in.Text(e.item.ID)
	in.Number(int(e.item.Stored()), int(e.roles), e.rank, e.runs)
}

// render returns the entry as the caller sees it.
func (r *boardReader) render(e shownEntry) record.Evaluation {
	v := e.item.For(r.rules.For(e.item.Access, e.roles, r.now))
	v.Rank, v.Runs = e.rank, e.runs
	return v
}

// shownPage is a page of a leaderboard that is not rendered yet.
type shownPage struct {
	entries []shownEntry
	more    bool // entries follow the page
}

// page reads the requested page. Ranks count all entries that the caller sees, or with best the best run of each team. Filters by run or
// user do not change ranks.
func (r *boardReader) page(ctx context.Context) (p shownPage, err error) {
	err = r.each(ctx, func(e shownEntry) (more bool, err error) {
		p.more = len(p.entries) == r.Page.Limit
		if !p.more {
			p.entries = append(p.entries, e)
		}
		return !p.more, nil
	})
	return p, err
}

// pageUnchanged answers 304 if the caller already has the answer, which depends on the inputs and on the page. It does nothing for a page
// without entries: a list answers 204 without a tag, and a web page says why it is empty, which depends on other records.
func (r *boardReader) pageUnchanged(p shownPage, in *api.Inputs) (done bool, err error) {
	if len(p.entries) == 0 {
		return false, nil
	}
	in.Text(r.rules.State(r.now), strconv.FormatBool(p.more))
	for i := range p.entries {
		p.entries[i].addTo(in)
	}
	return r.Unchanged(in)
}

// renderPage returns the page with as many entries as fit in an answer.
func (r *boardReader) renderPage(p shownPage) (rendered page.Page[record.Evaluation], err error) {
	rendered.More = p.more
	for i, e := range p.entries {
		full, err := rendered.Add(r.render(e))
		if err != nil {
			return rendered, err
		}
		if full && i+1 < len(p.entries) {
			rendered.More = true
			break
		}
	}
	return rendered, nil
}

// leaderboard returns the requested page of the dataset's leaderboard, unless it answers 304. Answers to organizers have names of users,
// which come from records that the leaderboard does not read. Such answers are always rendered.
func leaderboard(ctx context.Context, c *api.Call, d *record.DatasetItem, o boardOptions) (none page.Page[record.Evaluation], err error) {
	r, err := newReader(ctx, c, d, o)
	if err != nil {
		return none, err
	}
	p, err := r.page(ctx)
	if err != nil {
		return none, err
	}
	named := slices.ContainsFunc(p.entries, func(e shownEntry) bool { return e.roles&(access.Organizer|access.Admin) != 0 })
	if !named {
		if done, err := r.pageUnchanged(p, c.Inputs()); done || err != nil {
			return none, err
		}
	}
	return r.renderPage(p)
}

// query asks for the leaderboard in the order of the measure.
func (r *boardReader) query(measure string) board.Query {
	return board.Query{Viewer: &r.Viewer, Dataset: r.dataset, TruthVersion: r.dataset.Board().TruthVersion, Measure: measure, Best: r.best,
		Count: r.count, Final: r.final, AtOnce: r.Page.Offset + r.Page.Limit + 1, Now: r.now}
}

// each calls do with each entry of the leaderboard that the caller sees, until do returns false. It starts at the offset of the request, in
// the requested order.
func (r *boardReader) each(ctx context.Context, do func(shownEntry) (bool, error)) error {
	rolesOf, err := r.RolesOf(ctx)
	if err != nil {
		return err
	}
	if r.final && r.dataset.FinalRuns == 0 {
		return problem.InvalidParameter.New("The dataset takes no final runs. Leave {?final} out.")
	}
	measure, err := r.sorting()
	if err != nil {
		return err
	}
	q := r.query(measure)
	filtered := len(r.Page.Values("runId"))+len(r.Page.Values("userId"))+len(r.Page.Values("taskId")) > 0
	skip := 0 // entries that pass the filters
	if filtered {
		skip = r.Page.Offset
	} else {
		q.Offset = r.Page.Offset
	}
	entries, err := r.Boards.Entries(ctx, q)
	if err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		item, err := e.Item()
		if err != nil {
			return err
		}
		roles := rolesOf(item.Scope())
		if !r.rules.For(item.Access, roles, r.now).Entry() || !matchesFilters(r.Call, item, roles) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if more, err := do(shownEntry{item: item, roles: roles, rank: e.Rank, runs: e.Runs}); err != nil || !more {
			return err
		}
	}
	return nil
}
