package evaluations

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

func list(ctx context.Context, c *api.Call, _ api.PublicTarget) (none page.Page[record.Evaluation], err error) {
	applyView(c)
	ids := c.Page.Values("datasetId")
	switch {
	case c.Page.Sort == "":
		return unsorted(ctx, c, func() ([]records.Source, error) {
			return c.PartitionsFor(ctx, record.KindEvaluation, visibility.Filter{
				DatasetIDs: ids, TaskIDs: c.Page.Values("taskId"), UserIDs: c.Page.Values("userId"),
			})
		})
	case len(ids) != 1:
		return none, problem.InvalidParameter.New("{?sort} compares the evaluations of one dataset: name it with {?filter[datasetId]}.")
	}
	c.Consistency = store.Strong // the rules of the dataset decide who sees values
	d, _, err := visibility.Get[record.DatasetItem](ctx, &c.Viewer, ids[0], record.DatasetKey)
	if err != nil {
		if problem.NotFound.Is(err) {
			err = nil
		}
		return none, err
	}
	return leaderboard(ctx, c, d, optionsOf(c))
}

// taskItem is a task, with the dataset that the request names. The dataset is nil if the request names none of the task.
type taskItem struct {
	*record.TaskItem
	dataset *record.DatasetItem
}

// task loads the task and the dataset in one call, so that a page of a leaderboard costs two calls. The rules of the dataset decide who
// sees values, so the call has strong consistency.
func task(ctx context.Context, c *api.Call) (taskItem, error) {
	id, datasetID := c.Param("taskId"), c.RawQuery(byDataset.Param())
	if !record.IsID(id) {
		return taskItem{}, visibility.Missing
	}
	var found taskItem
	wanted := []records.Target{records.Into(&found.TaskItem, record.TaskKey(id)).Or(visibility.Missing)}
	if record.IsID(datasetID) {
		wanted = append(wanted, records.Into(&found.dataset, record.DatasetKey(datasetID)))
	}
	err := records.Read(ctx, c.Store, store.Strong, wanted...)
	if found.dataset != nil && found.dataset.TaskID != id {
		found.dataset = nil
	}
	return found, err
}

func listOfTask(ctx context.Context, c *api.Call, t taskItem) (none page.Page[record.Evaluation], err error) {
	applyView(c)
	if o := optionsOf(c); (o.best || o.final) && c.Page.Sort == "" {
		if c.Page.Cursor != "" {
			return none, problem.InvalidParameter.New(
				"{?best} and {?final} do not go with {?cursor}: their list is sorted, and paged with {?offset} and {?limit}.")
		}
		c.Page.SortBy(rank)
	}
	ids := c.Page.Values("datasetId")
	if c.Page.Sort == "" {
		return unsorted(ctx, c, func() ([]records.Source, error) {
			if t.dataset != nil {
				return c.VisibleIn(ctx, record.KindEvaluation, record.KindDataset, t.dataset.ID, t.Scope())
			}
			return c.VisibleIn(ctx, record.KindEvaluation, record.KindTask, t.ID, t.Scope())
		}, t.ID)
	}
	if len(ids) > 1 {
		return none, problem.InvalidParameter.New("A sorted list compares the evaluations of one dataset: name one with {?filter[datasetId]}.")
	}
	if len(ids) == 0 {
		if t.dataset, err = onlyDataset(ctx, c, t.TaskItem); err != nil {
			return none, err
		}
	}
	if t.dataset == nil {
		return none, nil
	}
	return leaderboard(ctx, c, t.dataset, optionsOf(c))
}

// onlyDataset returns the dataset of a task, or nil if the task has none. It refuses tasks with several datasets.
func onlyDataset(ctx context.Context, c *api.Call, t *record.TaskItem) (*record.DatasetItem, error) {
	q := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(t.ID), Limit: 2}
	datasets, err := records.Query[record.DatasetItem](ctx, c.Store, q)
	switch {
	case err != nil || len(datasets) == 0:
		return nil, err
	case len(datasets) > 1:
		return nil, problem.InvalidParameter.New("The task has several datasets, and a sorted list compares the evaluations of one: name it " +
			"with {?filter[datasetId]}.")
	}
	return current(ctx, c, datasets[0])
}

// current reads a dataset of a list again, with strong consistency. It returns nil if the dataset was deleted.
func current(ctx context.Context, c *api.Call, d *record.DatasetItem) (*record.DatasetItem, error) {
	return records.Get[record.DatasetItem](ctx, c.Store, store.Strong, d.Key())
}

// applyView limits the roles of the caller to those of everyone who sees the task, if the request asks for the public view.
func applyView(c *api.Call) { c.Public = c.Page.Value(view.Name) == record.PublicView }

// unsorted returns a page of the evaluations in the sources, or, with a filter by runs, of the evaluations of these runs. It leaves out
// evaluations of other tasks than taskIDs, if there are any.
func unsorted(ctx context.Context, c *api.Call, sources func() ([]records.Source, error),
	taskIDs ...string) (p page.Page[record.Evaluation], err error) {
	var from []records.Source
	if runs := c.Page.Values("runId"); len(runs) > 0 {
		from, err = ofRuns(ctx, c, runs)
	} else {
		from, err = sources()
	}
	if err != nil {
		return p, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return p, err
	}
	var found []string
	keep := func(e *record.EvaluationItem) bool {
		return matchesFilters(c, e, rolesOf(e.Scope())) && (len(taskIDs) == 0 || slices.Contains(taskIDs, e.TaskID))
	}
	p.Cursor, err = records.List(ctx, c.Store, records.Selection{Sources: from, Cursor: c.Page.Cursor, Limit: c.Page.Limit}, keep,
		func(e *record.EvaluationItem) (bool, error) {
			found = append(found, e.ID)
			return false, nil
		})
	if err != nil {
		return p, err
	}
	err = addCurrent(ctx, c, &p, found, keep)
	return p, err
}

// addCurrent adds the evaluations with the ids that the caller sees and keep accepts. Lists of a store can lag behind its records, so
// it reads the records again with strong consistency: what a review or a column hides is hidden at once.
func addCurrent(ctx context.Context, c *api.Call, p *page.Page[record.Evaluation], ids []string,
	keep func(*record.EvaluationItem) bool) error {
	current, err := records.GetAll[record.EvaluationItem](ctx, c.Store, store.Strong, records.Keys(ids, record.EvaluationKey)...)
	if err != nil {
		return err
	}
	var of []record.DatasetRef
	for _, e := range current {
		if e != nil {
			ref, _ := e.Rated()
			of = append(of, ref)
		}
	}
	if err := c.ReadRules(ctx, of...); err != nil {
		return err
	}
	for i, e := range current {
		if e == nil || e.Unlisted || !keep(e) {
			continue
		}
		sight, err := c.Sight(ctx, e, c.Now())
		if err != nil {
			return err
		}
		if !sight.Entry() {
			continue
		}
		full, err := p.Add(e.For(sight))
		if err != nil {
			return err
		}
		if full && i+1 < len(ids) {
			p.Cursor = ids[i+1]
			return nil
		}
	}
	return nil
}

// ofRuns returns the source of the listed evaluations of runs. Each run has at most one. Evaluations that the caller may not see are not
// read.
func ofRuns(ctx context.Context, c *api.Call, ids []string) ([]records.Source, error) {
	runs, err := records.GetExisting[record.RunItem](ctx, c.Store, c.Consistency, ids, record.RunKey)
	if err != nil {
		return nil, err
	}
	rolesOf, err := c.RolesOf(ctx)
	if err != nil {
		return nil, err
	}
	var evaluations []string
	for _, r := range runs {
		if r.IsListedFor(rolesOf(r.Scope())) {
			evaluations = append(evaluations, r.ListedID())
		}
	}
	return []records.Source{records.ByIDs(evaluations, record.EvaluationKey)}, nil
}

// matchesFilters applies the filters to an evaluation as a caller with the roles sees it, so that no filter finds an anonymous team by
// its user.
func matchesFilters(c *api.Call, e *record.EvaluationItem, roles access.Role) bool {
	return c.Page.Matches("taskId", e.TaskID) && c.Page.Matches("datasetId", e.DatasetID) &&
		c.Page.Matches("runId", e.RunID) && c.Page.Matches("userId", e.ShownUserID(roles))
}

// header returns the names of the columns of a table of evaluations. The last columns are the measures.
func header(measures []string) []string {
	return append([]string{"rank", "team", "userId", "runId", "submissionId", "datasetId", "taskId", "createdAt", "baseline",
		"final", "audience", "alias", "affiliation", "title", "label", "runTag", "paperUrl", "submittedAt"}, measures...)
}

// cells returns the row of an evaluation in a table with columns for the measures.
func cells(e record.Evaluation, measures []string) []string {
	row := []string{"", e.Team, e.UserID, e.RunID, e.SubmissionID, e.DatasetID, e.TaskID, e.CreatedAt.String(),
		strconv.FormatBool(e.Baseline), strconv.FormatBool(e.Final),
		e.Audience, e.Alias, e.Affiliation, e.Title, e.Label, e.RunTag, e.PaperURL, e.SubmittedAt.String()}
	if e.Rank > 0 {
		row[0] = strconv.Itoa(e.Rank)
	}
	for _, name := range measures {
		cell := ""
		if v := e.Measures[name]; v != nil {
			cell = strconv.FormatFloat(*v, 'g', -1, 64)
		}
		row = append(row, cell)
	}
	return row
}

// columns returns the rows of a table of evaluations. The measures of the first evaluation come first, in the order of its dataset, then
// further measures of the others.
func columns(list []record.Evaluation) [][]string {
	var names []string
	for _, e := range list {
		for _, name := range e.Columns {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	rows := [][]string{header(names)}
	for _, e := range list {
		rows = append(rows, cells(e, names))
	}
	if !slices.ContainsFunc(list, func(e record.Evaluation) bool { return e.User != nil }) {
		return rows
	}
	for i := range rows { // Organizers see names and addresses of users.
		user := &record.Person{Name: "userName", Email: "userEmail"}
		if i > 0 {
			user = cmp.Or(list[i-1].User, new(record.Person))
		}
		rows[i] = slices.Insert(rows[i], slices.Index(rows[0], "userId")+1, user.Name, user.Email)
	}
	return rows
}
