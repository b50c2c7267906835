package evaluations

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
	"assay/shared/service/board"
	"assay/shared/service/records"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// boardView is the data of a leaderboard page.
type boardView struct {
	task         *record.Task
	datasets     []*record.DatasetItem
	dataset      *record.DatasetItem // nil when the task has none
	shown        record.BoardTruth   // the truth and the evaluator of the entries
	columns      []record.Column     // of the entries, in the dataset's order
	progress     *record.Reevaluation
	entries      page.Page[record.Evaluation]
	empty        *board.EmptyBoard // why the whole board has no entries
	hidden       int               // number of entries that others do not see
	sort         string            // measure that sorts the entries
	boardOptions                   // selection of the entries
	waitNote     problem.Text      // who sees scores, while others than the organizers or the teams see none
	public       bool              // only entries that everyone sees who sees the task
	login        bool              // the reader is logged in
	base         string            // URL of the server
	query        url.Values        // query of the request
}

// boardPage writes the leaderboard of a dataset of the task as a page, with links to the leaderboards of the other datasets. The request
// names the dataset; otherwise it is the newest. The page costs one more read than the list, for the datasets.
func boardPage(ctx context.Context, c *api.Call, t taskItem) error {
	applyView(c)
	v := boardView{task: &t.Task, base: c.BaseURL(), public: c.Public || c.Caller.Anonymous(), login: !c.Caller.Anonymous()}
	_, raw := c.Address()
	v.query, _ = url.ParseQuery(raw) // It was parsed before, so it cannot fail.
	v.boardOptions = optionsOf(c)
	if !v.query.Has(best.Name) && !v.query.Has(final.Name) && !v.filtered() { // A filter shows all matching runs.
		v.best = true
	}
	v.count = v.best
	var err error
	if v.datasets, err = records.Datasets(ctx, c.Store, t.ID); err != nil {
		return err
	}
	slices.Reverse(v.datasets) // the newest first, like the list of datasets
	if len(c.Page.Values(byDataset.Name)) > 0 {
		v.dataset = t.dataset
	} else if len(v.datasets) > 0 {
		if v.dataset, err = current(ctx, c, v.datasets[0]); err != nil {
			return err
		}
	}
	in := v.inputs(c, t)
	console := "/tasks/" + t.ID + "/leaderboard"
	if v.dataset != nil {
		console += "?dataset=" + v.dataset.ID
		roles, err := c.Roles(ctx, v.dataset.Scope())
		if err != nil {
			return err
		}
		v.shown, v.progress = v.dataset.Board(), v.dataset.For(roles).Reevaluation
		if c.Page.Sort == "" {
			c.Page.SortBy(rank)
		}
		r, err := newReader(ctx, c, v.dataset, v.boardOptions)
		if err != nil {
			return err
		}
		if v.sort, err = r.sorting(); err != nil {
			return err
		}
		v.waitNote = board.WaitText(r.rules, r.now, "Only the organizers see scores")
		in.Record(v.dataset)
		in.Number(int(roles))
		in.Text(v.waitNote.Detail)
		if done, err := v.readEntries(ctx, r, in); done || err != nil {
			return err
		}
		v.columns = r.columns.Shown()
		path, query := c.Address()
		v.entries.Link(path, query, c.Page)
	}
	return webpage.Page{Title: "Leaderboard of " + t.Name, Console: console, Main: leaderboardPage(v)}.Send(ctx, c)
}

// inputs returns what the page depends on, apart from the dataset and its entries.
func (v *boardView) inputs(c *api.Call, t taskItem) *api.Inputs {
	in := c.Inputs()
	in.Text(strconv.FormatBool(v.public), strconv.FormatBool(v.login))
	in.Record(t)
	for _, d := range v.datasets {
		in.Record(d)
	}
	return in
}

// readEntries reads the requested page of the leaderboard, or why the whole board is empty. It reports done if it answered 304, because the
// caller already has the page. in holds the other inputs of the page.
func (v *boardView) readEntries(ctx context.Context, r *boardReader, in *api.Inputs) (done bool, err error) {
	if r.Page.PastEnd() {
		return false, nil
	}
	p, err := r.page(ctx)
	if err != nil {
		return false, err
	}
	if done, err := r.pageUnchanged(p, in); done || err != nil {
		return done, err
	}
	if v.entries, err = r.renderPage(p); err != nil {
		return false, err
	}
	for _, e := range v.entries.Data {
		if e.Hidden != "" {
			v.hidden++
		}
	}
	if len(v.entries.Data) == 0 && !v.filtered() && r.Page.Offset == 0 {
		v.empty, err = r.Boards.Empty(ctx, r.query(""))
	}
	return false, err
}

// datasetLink returns the text of the link to the dataset. A browser opens its page without a login, so the page has links only to inputs
// that everyone gets who sees the dataset.
func (v *boardView) datasetLink() string {
	if len(v.dataset.For(access.Anyone).Inputs) == 0 {
		return "The dataset"
	}
	return "The dataset, with links to its inputs"
}

// saysWait reports whether the page says above the entries who sees scores: unless it is empty for that reason.
func (v *boardView) saysWait() bool {
	return v.waitNote.Detail != "" && (v.empty == nil || v.empty.Reason != board.EmptyColumns)
}

// choices returns links to the leaderboard with each selection of runs.
func (v *boardView) choices() []choice {
	all := []choice{
		{"All runs", "All " + webpage.Selection(v.public) + ".", v.address(best.Name, "false", final.Name, ""), !v.best && !v.final},
		{"Best run of each team", "The best run of each team, of the " + webpage.Selection(v.public) + ".",
			v.address(best.Name, "true", final.Name, ""), v.best && !v.final},
	}
	if v.dataset.FinalRuns > 0 {
		for i := range all {
			all[i].kept += " " + webpage.NotOnlyFinalRuns(v.dataset.FinalRuns)
		}
		all = append(all, choice{
			name:    "Final runs of each team",
			kept:    webpage.FinalRuns(v.dataset.FinalRuns, v.public),
			address: v.address(best.Name, "false", final.Name, "true"),
			current: v.final,
		})
	}
	return all
}

type choice struct {
	name    string
	kept    string // sentence that says which runs the page shows
	address string
	current bool
}

// sortedFirst returns the columns: the one that sorts, then the others in the dataset's order.
func (v *boardView) sortedFirst() []record.Column {
	by := v.sortedBy()
	if by.Key == "" {
		return v.columns
	}
	return append([]record.Column{by}, slices.DeleteFunc(slices.Clone(v.columns), func(c record.Column) bool { return c.Key == by.Key })...)
}

// sortedBy returns the column that sorts the entries. It is zero if the reader sees none.
func (v *boardView) sortedBy() (none record.Column) {
	for _, c := range v.columns {
		if c.Key == v.sort {
			return c
		}
	}
	return none
}

// heading returns the text over the entries.
func (v *boardView) heading() string {
	if v.sort == "" {
		return "Results"
	}
	return "Results by " + v.sortedBy().Heading()
}

// address returns the address of the page with changed parameters, without an offset. The changes are pairs of name and value; an empty
// value removes the parameter.
func (v *boardView) address(changes ...string) string {
	q := url.Values{"sort": {cmp.Or(v.sort, rank)}, best.Name: {strconv.FormatBool(v.best)}}
	if v.final {
		q.Set(final.Name, "true")
	}
	if v.dataset != nil {
		q.Set(byDataset.Param(), v.dataset.ID)
	}
	for _, name := range []string{"limit", view.Name} {
		if v.query.Has(name) {
			q.Set(name, v.query.Get(name))
		}
	}
	for change := range slices.Chunk(changes, 2) {
		q.Set(change[0], change[1])
		if change[1] == "" {
			q.Del(change[0])
		}
	}
	return "/v1/tasks/" + v.task.ID + "/evaluations?" + q.Encode()
}

// addressOf returns the address of the page with the other dataset. It leaves out the selections that the dataset does not take.
func (v *boardView) addressOf(d *record.DatasetItem) string {
	changes := []string{byDataset.Param(), d.ID, "sort", rank}
	if v.final && d.FinalRuns == 0 {
		changes = append(changes, final.Name, "", best.Name, "true")
	}
	return v.address(changes...)
}

// viewed returns the address of the page in a view.
func (v *boardView) viewed(name string) string { return v.address(view.Name, name) }

// filtered reports whether the address has a filter besides the dataset.
func (v *boardView) filtered() bool {
	for name, values := range v.query {
		if strings.HasPrefix(name, "filter[") && name != byDataset.Param() && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

// tool returns the address of the leaderboard tool's result for this leaderboard.
func (v *boardView) tool() (string, error) {
	input, err := json.Marshal(map[string]any{
		"datasetId": v.dataset.ID, "measure": v.sort, "best": v.best, "final": v.final,
		view.Name: cmp.Or(v.query.Get(view.Name), record.CallerView),
	})
	return api.InputAddress("/v1/tools/leaderboard/result", input), err
}

// command returns a shell command that gets the largest page of the leaderboard as CSV.
func (v *boardView) command() string {
	return "curl -sg -H 'Accept: text/csv' '" + v.base + v.address("limit", strconv.Itoa(page.MaxLimit)) + "'"
}

// notice explains which results the page shows while runs are evaluated again.
func (v *boardView) notice() string {
	stand := "Shown are the results against " + record.TruthVersionName(v.shown.TruthVersion) + ". "
	if v.shown.TruthVersion == v.dataset.TruthVersion {
		stand += "Some runs have not been evaluated against it yet"
	} else {
		stand += "They stand until the runs have been evaluated against version " + strconv.FormatInt(v.dataset.TruthVersion, 10)
	}
	if p := v.progress.Progress; p != nil {
		stand += ": " + strconv.Itoa(p.Runs-p.Waiting) + " of " + strconv.Itoa(p.Runs) + " have"
	} else if v.dataset.Reevaluation.Progress == nil {
		stand += "; they are being counted"
	}
	return stand + "."
}

// bar returns the length of the bar of a value, in percent. It is empty where bars would mislead: lower values are better, a value is
// negative, or the bars of two pages would have different scales.
func (v *boardView) bar(value *float64) string {
	by := v.sortedBy()
	if value == nil || by.Key == "" || by.Lower() {
		return ""
	}
	longest := 1.0
	for _, e := range v.entries.Data {
		if x := e.Measures[v.sort]; x != nil {
			if *x < 0 {
				return ""
			}
			longest = max(longest, *x)
		}
	}
	if longest > 1 && (v.query.Has("offset") || v.entries.Links.Next != "") {
		return ""
	}
	return strconv.FormatFloat(100**value/longest, 'f', 1, 64)
}

// baselines reports whether the page has baselines.
func (v *boardView) baselines() bool {
	return slices.ContainsFunc(v.entries.Data, func(e record.Evaluation) bool { return e.Baseline })
}
