// Package evaluations serves the measures of runs, as lists and as leaderboards.
//
// The review of a run decides who sees its evaluations. A sorted list is a leaderboard. It has the evaluations of one dataset against one
// version of its ground truth, because values against different truths do not compare. This version is the dataset's boardVersion. While
// runs are evaluated against a newer truth, all lists show the results against boardVersion, and nothing for runs that failed against it.
package evaluations

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
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
const views = " Teams see their own results before others do, and organizers see all results; `audience` says who sees a result, " +
	"and `hidden` why others do not. With `view=public`, teams and organizers get the same entries, aliases and ranks as everyone else who " +
	"sees the task."

// versions documents the truth version in lists. Lists without sort do not read their datasets, because each would cost a read.
const versions = " Lists have only results against the `boardVersion` of their datasets. When it changes, lists with `sort` have the new " +
	"results at once, and other lists within seconds, run by run. `truthVersion` is the version that a result was computed against."

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listEvaluations", Path: "/v1/evaluations", May: access.Anyone,
		Summary: "List evaluations",
		Description: "All evaluations that the caller may see, the newest first. With `sort`, the evaluations of the dataset that " +
			"`filter[datasetId]` names, the best first: `sort=rank` sorts by the first column of the dataset, other values name a measure. `rank` is then the " +
			"place on the leaderboard. Filters do not change it, and equal values share it." + views + versions,
		Query: page.Spec{Sort: true, Filters: []page.Filter{byTask, byDataset, byRun, byUser, view}},
	}, api.NoTarget, list, columns),
	api.Get(api.Spec{
		ID: "getEvaluation", Path: "/v1/evaluations/{evaluationId}", May: access.Anyone,
		Summary: "Return an evaluation",
		Description: "With the values of each topic, if the evaluator computes them. Only the organizers of the task see values of single " +
			"examples and predictions for each label, because these reveal the truth.",
	}, single, show),
	api.DocumentOf(api.Spec{
		ID: "exportLeaderboard", Path: "/v1/datasets/{datasetId}/leaderboard", May: access.Anyone,
		Summary: "Return a whole leaderboard",
		Description: "All entries of the dataset's leaderboard that the caller sees, in one answer. CSV has the same columns as " +
			"`listTaskEvaluations`, without the names of users. With `Accept: application/jsonl`, each line is an evaluation in JSON. The entries " +
			"are sorted by rank, or by the measure that `sort` names. `best=true` keeps the best run of each team, `final=true` its final runs, " +
			"and both keep all baselines without a team." + views + " More than 4 MiB are answered with a redirect to a link that " +
			"works for a while. More than 3 MiB need a login.",
		Query:    page.Spec{Filters: []page.Filter{{Name: "sort", Standalone: true}, best, final, view}},
		Problems: append(slices.Clone(api.Quotas), problem.TooLarge, problem.Unauthorized), Large: true,
	}, []string{mediaCSV, mediaJSONL}, dataset, whole),
	api.WithHTML(api.List(api.Spec{
		ID: "listTaskEvaluations", Path: "/v1/tasks/{taskId}/evaluations", May: access.Anyone,
		Summary: "List the evaluations of a task",
		Description: "The newest first, or, with `sort`, the leaderboard of a dataset: the best first by its first column (`sort=rank`) or " +
			"by the named measure. `filter[datasetId]` is optional if the task has one dataset. `best=true` keeps the best run of each team. " +
			"`final=true` keeps the runs that each team marked as final or, if none of these has a result, not even one that the caller does not " +
			"see, the last `finalRuns` that the caller sees. Both keep all baselines without a team, and sort by rank unless `sort` names a " +
			"measure. Undefined values come last, and of equal values the earlier submission comes first. `rank` is the place on the leaderboard. " +
			"Filters by run and user do not change it, and equal values share it. A browser gets a page: the leaderboard of the newest dataset " +
			"unless the filter names another, with the best run and the number of runs of each team unless `best` or a filter selects other " +
			"runs." + views + versions,
		Query: page.Spec{Sort: true, Filters: []page.Filter{byDataset, byRun, byUser, best, final, view}},
	}, task, listOfTask, columns), boardPage),
}
