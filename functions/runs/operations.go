// Package runs serves runs, each one submission applied to one dataset, and their reviews.
//
// Callers who see the submission of a run see the run. Its owner and the organizers label it, cancel it and delete it; only
// organizers delete a run whose review is published. The review belongs to the run: publishing or blinding changes the
// run and all its evaluations in the transaction of the review.
package runs

import (
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/files"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
)

var problems = slices.Concat(api.Quotas, []*problem.Kind{problem.InvalidCursor}) // of a batch

var run = api.Load[record.RunItem]("runId", record.RunKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listRuns", Path: "/v1/runs", May: access.Anyone,
		Summary:     "List runs",
		Description: "All runs that the caller may see, the newest first. Only a single run has links to its files.",
		Query: page.Spec{Filters: []page.Filter{
			{Name: "taskId", Type: page.ID},
			{Name: "datasetId", Type: page.ID},
			{Name: "userId", Type: page.ID},
			{Name: "submissionId", Type: page.ID},
			{Name: "state", Type: page.Enum},
		}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getRun", Path: "/v1/runs/{runId}", May: access.Anyone,
		Summary: "Return a run",
		Description: "`files` have links to their bytes for its team and the organizers, and for everyone who sees the run once its review is " +
			"published and not blinded; the team also finds there where to send the bytes of pending files. Links work for " + files.LinkLife +
			"; get the run again for new ones. Until then, nobody else is shown the names and digests of the files of an anonymous team.",
	}, run, show),
	api.Patch(api.Spec{
		ID: "updateRun", Path: "/v1/runs/{runId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Update or cancel a run",
		Description: "`label` is free text. The one value that `state` can be set to is `cancelled`, as long as the run has not ended; a " +
			"cancelled run does not count in the quota. `final` marks up to `finalRuns` of the dataset as those of the team that count in the " +
			"end, until its window closes; organizers mark later too.",
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, run, show, change),
	api.Delete(api.Spec{
		ID: "deleteRun", Path: "/v1/runs/{runId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Delete a run",
		Description: "With its files, its review and its evaluations. Only the organizers can delete a run whose review is published (409), " +
			"which a dataset with `publish: onCompletion` does as the run completes, or that is on a dataset with `finalRuns` whose window " +
			"has closed (403). What counted in the quota still does. " + api.InTrash,
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, run, remove),
	api.Get(api.Spec{
		ID: "getReview", Path: "/v1/runs/{runId}/review", May: access.Owner | access.Organizer,
		Summary: "Return the review of a run",
		Description: "Every run has one from the start: not published, and blinded when the dataset's split is test. " +
			"Organizers find the run's `diagnostics` in it, also those that its team is not shown while the run is blinded.",
	}, review, api.ShowFor),
	api.Patch(api.Spec{
		ID: "updateReview", Path: "/v1/runs/{runId}/review", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update the review of a run",
		Description: "`published` shows the run's evaluations to everyone who sees the task, `blinded` hides them from all but the organizers, " +
			"from the team too. Each change is an audit entry. Flags that contradict each other are refused, and `notice` says what leaderboards " +
			"do not show of a published run: because it is blinded or failed, or of a private submission or an anonymous team.",
	}, review, api.ShowFor, changeReview),
	api.Batch(api.Spec{
		ID: "updateReviews", Path: "/v1/datasets/{datasetId}/reviews", May: access.Organizer, Problems: problems,
		Token:   access.ScopeOrganize,
		Summary: "Update the reviews of many runs of a dataset",
		Description: "Of up to 100 runs, by `runIds`, or by `filter`; while more pass it, the answer has a `cursor` for " +
			"the request that goes on. Each review changes by itself, as `updateReview` changes it, and `data` has for each the status, with " +
			"the review or the problem. A review that is as the request has it stays as it is, so a request that got no answer, or was " +
			"answered for some runs with 503, can be sent again; that of a run in `listTodos` gets its reviewer and an audit entry all the same.",
		Example: map[string]any{"filter": map[string]any{"states": []any{"completed"}}, "review": map[string]any{"published": true,
			"blinded": false}},
	}, dataset, reviewRuns),
}
