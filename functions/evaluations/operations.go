// Package evaluations serves the measures of runs, as lists and as leaderboards.
//
// Who sees an evaluation is decided by the review of its run. A sorted list is a leaderboard: it has the evaluations of one
// dataset against one version of its truth alone, because values against different truths do not compare. That is the
// dataset's boardVersion: while runs are evaluated against a newer truth, it has the results against the one before, and
// other lists too have of each run the evaluation against that one, and none of a run that failed against it. Reviews apply to both.
package evaluations

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

var (
	byDataset = page.Filter{Name: "datasetId", Type: page.ID}
	byTask    = page.Filter{Name: "taskId", Type: page.ID}
	byRun     = page.Filter{Name: "runId", Type: page.ID}
	byUser    = page.Filter{Name: "userId", Type: page.ID}
	best      = page.Filter{Name: "best", Type: page.Bool, Standalone: true}
	final     = page.Filter{Name: "final", Type: page.Bool, Standalone: true}
	view      = page.Filter{Name: "view", Type: page.Enum, Values: []string{record.CallerView, record.PublicView}, Standalone: true}
)

// views documents the values of `view`.
const views = " Owners find their own results here before others do, and organizers all, as the `audience` of each says. " +
	"`view=public` leaves out what others than they are not shown, and has anonymous teams under their aliases, also for them: ranks are " +
	"those that everyone gets who sees the task."

// versions says of which version of a truth lists are. A list that read the datasets to switch at once would cost a read for each.
const versions = " Lists have the results against the `boardVersion` of their datasets alone. When that changes, those with `sort` have " +
	"the new results at once, the others run by run within seconds; `truthVersion` says which truth a result is against."

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listEvaluations", Path: "/v1/evaluations", May: access.Anyone,
		Summary: "List evaluations",
		Description: "All evaluations that the caller may see, the newest first. With `sort`, the evaluations of one dataset, which " +
			"`filter[datasetId]` must name, the best first: by the primary measure with `sort=rank`, or by the measure named. `rank` is then the " +
			"place on the leaderboard, which filters do not change; equal values share it." + views + versions,
		Query: page.Spec{Sort: true, Filters: []page.Filter{byTask, byDataset, byRun, byUser, view}},
	}, api.NoTarget, list, columns),
	api.Get(api.Spec{
		ID: "getEvaluation", Path: "/v1/evaluations/{evaluationId}", May: access.Anyone,
		Summary: "Return an evaluation",
		Description: "With the values of each topic, where the evaluator has such. Values of single examples and what was " +
			"predicted for each label tell the truth, and are for the organizers of the task.",
	}, single, show),
	api.DocumentOf(api.Spec{
		ID: "exportLeaderboard", Path: "/v1/datasets/{datasetId}/leaderboard", May: access.Anyone,
		Summary: "Return a whole leaderboard",
		Description: "All entries that the caller sees of the dataset's leaderboard, in one answer: as CSV, whose columns are those of the " +
			"list of the task's evaluations but for the names of users, or, with `Accept: application/jsonl`, one evaluation in JSON on each line. They " +
			"are sorted by rank, or by the measure that `sort` names; `best=true` keeps the best run of each team, `final=true` its final runs." +
			views + " More than 4 MiB stand behind a link to which the answer leads for a while, and more than 3 MiB take a login.",
		Query:    page.Spec{Filters: []page.Filter{{Name: "sort", Standalone: true}, best, final, view}},
		Problems: append(slices.Clone(api.Quotas), problem.TooLarge, problem.Unauthorized), Large: true,
	}, []string{mediaCSV, mediaJSONL}, api.Load[record.DatasetItem]("datasetId", record.DatasetKey), whole),
	api.WithHTML(api.List(api.Spec{
		ID: "listTaskEvaluations", Path: "/v1/tasks/{taskId}/evaluations", May: access.Anyone,
		Summary: "List the evaluations of a task",
		Description: "The newest first, or, with `sort`, the leaderboard of a dataset: the best first by the primary measure (`sort=rank`) or " +
			"by the measure named. `filter[datasetId]` may be left out when the task has one dataset. `best=true` keeps the best run of each " +
			"team, `final=true` its final runs: those that it marked or, where it marked none, the last `finalRuns` that the caller sees. Both " +
			"sort by rank unless `sort` says otherwise. A value that is not defined comes last, and of equal ones the earlier " +
			"submission first; `rank` is the place on the leaderboard, which filters by run and user do not change, and equal values share it. A " +
			"browser gets the leaderboard as a page, of the newest dataset unless the filter names one, with the best run of each team, and how " +
			"many the team has there, unless `best` or a filter says otherwise." + views + versions,
		Query: page.Spec{Sort: true, Filters: []page.Filter{byDataset, byRun, byUser, best, final, view}},
	}, task, listOfTask, columns), boardPage),
}
