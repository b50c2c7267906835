// Package runs serves runs and their reviews. A run is one submission applied to one dataset.
//
// Callers who see the submission of a run see the run. Its team and the organizers label it, cancel it and delete it. Only organizers
// delete a run whose review is published. Each run has one review. A transaction that publishes or blinds a review also changes the run and
// all its evaluations.
package runs

import (
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/files"
)

// problems are the kinds of problems that a batch can answer with.
var problems = slices.Concat(api.Quotas, []*problem.Kind{problem.InvalidCursor})

var run = api.Load[record.RunItem]("runId", record.RunKey)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listRuns", Path: "/v1/runs", May: access.Anyone,
		Summary:     "List runs",
		Description: "All runs that the caller may see, the newest first. Only `getRun` returns links to files.",
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
		Description: "`files` have links to their bytes for the team and the organizers, and for everyone who sees the run once its review is " +
			"published and not blinded. Until then, other callers do not see names and digests of the files of an anonymous team. The team also " +
			"finds links to upload pending files. Links work for " + files.LinkLife + "; get the run again for new links.",
	}, run, show),
	api.Patch(api.Spec{
		ID: "updateRun", Path: "/v1/runs/{runId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Update or cancel a run",
		Description: "`label` is free text. Setting `state` to `cancelled` cancels a run that has not ended; no other value can be set. A " +
			"cancelled run does not count in the quota. `final` marks the run as one of the final runs of its team, at most `finalRuns` of the " +
			"dataset. A run that is cancelled, or fails without ever having had a result, is no longer final, so that the team can mark another " +
			"one. A run that had a result and fails because the organizers changed the truth stays final. Teams mark runs until their window " +
			"closes, also teams that the organizers rejected, and organizers at any time.",
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, run, show, change),
	api.Delete(api.Spec{
		ID: "deleteRun", Path: "/v1/runs/{runId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Delete a run",
		Description: "With its files, its review and its evaluations. Only organizers can delete a run whose review is published (409). With " +
			"`publish: onCompletion` of the dataset, reviews are published when runs complete. Only organizers can delete a run of a dataset with " +
			"`finalRuns` whose window has closed (403), or restore it. A deleted run still counts in the quota. " + api.InTrash,
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, run, remove),
	api.Get(api.Spec{
		ID: "getReview", Path: "/v1/runs/{runId}/review", May: access.Owner | access.Organizer,
		Summary: "Return the review of a run",
		Description: "Every run has a review from the start. It is not published, and blinded if the dataset's split is `test`. Organizers " +
			"find all `diagnostics` of the run in it, also the diagnostics that its team does not see while it sees no values of the run.",
	}, review, showReview),
	api.Patch(api.Spec{
		ID: "updateReview", Path: "/v1/runs/{runId}/review", May: access.Organizer, Problems: api.Quotas,
		Token:   access.ScopeOrganize,
		Summary: "Update the review of a run",
		Description: "`published` shows the run's evaluations to everyone who sees the task, unless the dataset withholds scores until the last " +
			"close. `blinded` hides them from everyone except the organizers, also from the team. Each change is an audit entry. Flags that " +
			"contradict each other are refused. `notice` says what leaderboards hide of a published run, because it is blinded, failed, belongs " +
			"to a private submission or to an anonymous team.",
	}, review, showReview, changeReview),
	api.Batch(api.Spec{
		ID: "updateReviews", Path: "/v1/datasets/{datasetId}/reviews", May: access.Organizer, Problems: problems,
		Token:   access.ScopeOrganize,
		Summary: "Update the reviews of many runs of a dataset",
		Description: "Updates up to 100 reviews, of the runs in `runIds` or of the runs that match `filter`. If more runs match, the answer " +
			"has a `cursor` for the next request. Each review changes in a transaction of its own, like in `updateReview`. `data` has the status " +
			"of each run, with the review or the problem. A review with the requested values stays unchanged, so a request without an answer, or " +
			"with 503 for some runs, can be repeated. Only the review of a run in `listTodos` gets a reviewer and an audit entry in any case.",
		Example: map[string]any{"filter": map[string]any{"states": []any{"completed"}}, "review": map[string]any{"published": true,
			"blinded": false}},
	}, dataset, reviewRuns),
}
