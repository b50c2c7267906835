package evaluations

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/webpage"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// boardView is a leaderboard as a page shows it.
type boardView struct {
	task     *record.Task
	datasets []*record.DatasetItem
	dataset  *record.DatasetItem // nil when the task has none
	shown    record.BoardTruth   // what the entries were evaluated with
	progress *record.Reevaluation
	entries  page.Page[record.Evaluation]
	hidden   int        // how many of the entries others do not see
	sort     string     // name of the measure that it is sorted by
	options             // which runs it has
	scoresAt string     // until when others are shown no scores, if they wait
	public   bool       // it is what everyone sees who sees the task
	login    bool       // of the reader
	base     string     // URL of the server
	query    url.Values // what was asked for
}

// boardPage writes the leaderboard of one of the task's datasets as a page: of that which the request names, or else of
// the newest, with links to the others. It costs one more read than the list: the datasets.
func boardPage(ctx context.Context, c *api.Call, t taskItem) error {
	applyView(c)
	v := boardView{task: &t.Task, base: c.BaseURL(), public: c.Public || c.Caller.Anonymous(), login: !c.Caller.Anonymous()}
	_, raw := c.Address()
	v.query, _ = url.ParseQuery(raw) // parsed before, so it cannot fail
	v.options = optionsOf(c)
	if !v.query.Has(best.Name) && !v.query.Has(final.Name) && !v.filtered() { // with a filter, all matching runs
		v.best = true
	}
	v.count = v.best
	sources := records.Of(record.KindTask, t.ID, record.KindDataset)
	err := records.Each(ctx, c.Store, record.MaxTaskDatasets, sources, func(d *record.DatasetItem) error {
		v.datasets = append(v.datasets, d)
		return nil
	})
	if err != nil {
		return err
	}
	if len(c.Page.Values(byDataset.Name)) > 0 {
		v.dataset = t.dataset
	} else if len(v.datasets) > 0 {
		v.dataset = v.datasets[0]
	}
	console := "/tasks/" + t.ID + "/leaderboard"
	if v.dataset != nil {
		console += "?dataset=" + v.dataset.ID
		roles, err := c.Roles(ctx, v.dataset.Scope())
		if err != nil {
			return err
		}
		if v.scoresAt, err = scoresAt(ctx, c, v.dataset); err != nil {
			return err
		}
		v.shown, v.progress = v.dataset.Board(), v.dataset.For(roles).Reevaluation
		if c.Page.Sort == "" {
			c.Page.SortBy(rank)
		}
		if v.sort = cmp.Or(v.shown.Evaluator.Measure(c.Page.Sort), c.Page.Sort); v.sort == rank {
			v.sort = v.shown.Evaluator.PrimaryMeasure
		}
		if !c.Page.PastEnd() {
			if v.entries, err = leaderboard(ctx, c, v.dataset, v.options); err != nil {
				return err
			}
		}
		for _, e := range v.entries.Data {
			if e.Hidden() != "" {
				v.hidden++
			}
		}
		path, query := c.Address()
		v.entries.Link(path, query, c.Page)
	}
	return webpage.Page{Title: "Leaderboard of " + t.Name, Console: console, Main: leaderboardPage(v)}.Send(ctx, c)
}

// scoresAt says until when nobody but the organizers is shown scores of the dataset; empty when they are shown.
func scoresAt(ctx context.Context, c *api.Call, d *record.DatasetItem) (string, error) {
	if d.Scores != record.ScoresAfterClose {
		return "", nil
	}
	r, err := c.Release(ctx, d.TaskID, d.ID)
	switch {
	case err != nil || !r.Withholds(c.Now()):
		return "", err
	case r.Unknown:
		return "the organizers say when the dataset closes", nil
	default:
		return r.At.String(), nil
	}
}

// choices are links to the board with other runs.
func (v *boardView) choices() []choice {
	all := []choice{
		{"All runs", "All ", v.address(best.Name, "false", final.Name, ""), !v.best && !v.final},
		{"Best run of each team", "The best run of each team, of the ", v.address(best.Name, "true", final.Name, ""), v.best && !v.final},
	}
	if v.dataset.FinalRuns > 0 {
		all = append(all, choice{
			name:    "Final runs of each team",
			kept:    "The final runs of each team, of the ",
			address: v.address(best.Name, "false", final.Name, "true"),
			current: v.final,
		})
	}
	return all
}

type choice struct {
	name    string
	kept    string // what the page says of the runs that it has
	address string
	current bool
}

// measures lists the names of the columns: the measure that sorts, then the others in the dataset's order.
func (v *boardView) measures() []string {
	others := slices.DeleteFunc(slices.Clone(v.shown.Evaluator.Measures), func(name string) bool { return name == v.sort })
	return append([]string{v.sort}, others...)
}

// address is that of the page with parameters changed, given as pairs of name and value, and from its beginning.
func (v *boardView) address(changes ...string) string {
	q := url.Values{"sort": {v.sort}, best.Name: {strconv.FormatBool(v.best)}}
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

// viewed is the address of the page in the view.
func (v *boardView) viewed(name string) string { return v.address(view.Name, name) }

// filtered reports whether the address asks for other things than a dataset.
func (v *boardView) filtered() bool {
	for name, values := range v.query {
		if strings.HasPrefix(name, "filter[") && name != byDataset.Param() && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

// tool is the address of what the tool for leaderboards says of this one.
func (v *boardView) tool() (string, error) {
	input, err := json.Marshal(map[string]any{
		"datasetId": v.dataset.ID, "measure": v.sort, "best": v.best, "final": v.final,
		view.Name: cmp.Or(v.query.Get(view.Name), record.CallerView),
	})
	return api.InputAddress("/v1/tools/leaderboard/result", input), err
}

// command is how to get the leaderboard as a table of text, as much of it as one answer has.
func (v *boardView) command() string {
	return "curl -sg -H 'Accept: text/csv' '" + v.base + v.address("limit", strconv.Itoa(page.MaxLimit)) + "'"
}

// notice says which results are shown while the runs are evaluated again.
func (v *boardView) notice() string {
	stand := "Shown are the results against version " + strconv.FormatInt(v.shown.TruthVersion, 10) + " of the truth. "
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

// bar is how long the bar of a value is, of 100; empty when bars would mislead: where lower is better, values are
// negative, or those of one page do not compare with those of the next.
func (v *boardView) bar(value *float64) string {
	if value == nil || v.shown.Evaluator.LessIsBetter(v.sort) {
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

// baselines reports whether the page has any.
func (v *boardView) baselines() bool {
	return slices.ContainsFunc(v.entries.Data, func(e record.Evaluation) bool { return e.Baseline })
}
