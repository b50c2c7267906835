// Package deletions serves the trash: deleted resources that can be restored.
//
// Teams see their deleted submissions and runs, and restore those that they deleted themselves. Organizers see and restore all deleted
// resources of their tasks.
package deletions

import (
	"context"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/visibility"
)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listDeletions", Path: "/v1/deletions", May: access.User,
		Summary: "List the trash",
		Description: "Deleted resources, the newest first. Teams find their submissions and runs, and `byOrganizers` says which of them " +
			"organizers deleted. Organizers find everything that was deleted in their tasks. A resource counts as stored until `expiresAt`, and " +
			"is then purged with its files.",
		Query: page.Spec{Filters: []page.Filter{{Name: "organizerId", Type: page.ID}, {Name: "taskId", Type: page.ID},
			{Name: "kind", Type: page.Enum}}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getDeletion", Path: "/v1/deletions/{deletionId}", May: access.Owner | access.Organizer,
		Summary: "Return an entry of the trash",
		Description: "As `listDeletions` returns it. `refusal` says why you cannot restore it, `restorableUntil` until when you can, and " +
			"`unmarkedRunIds` names final runs that restoring would not make final again.",
	}, find, show),
	api.Delete(api.Spec{
		ID: "undoDeletion", Path: "/v1/deletions/{deletionId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Restore a deleted resource",
		Description: "With everything that belonged to it, under its former path. Queued runs are queued again, and runs that were evaluated " +
			"against an earlier ground truth are evaluated again. If a resource that it belongs to is deleted, the answer is 409 and names the " +
			"resource to restore first. Only organizers restore what organizers deleted. A team needs the same accepted registration and terms " +
			"as for a new submission, and at most `rates.waitingRuns` of `/info` unfinished runs. The last also holds for the baselines of a " +
			"user, also when another organizer restores one. Only organizers restore runs of a dataset with `finalRuns` whose window has closed. " +
			"A final run is final again unless its team has meanwhile marked `finalRuns` others: `getDeletion` names such runs before, and the " +
			"audit entry afterwards (`unmarkedRunIds`). Restoring a large task takes minutes.",
		Problems: []*problem.Kind{problem.OutsideWindow, problem.QuotaExhausted},
	}, find, remove),
}

// find finds the entry that the path names. An entry from which nothing can be restored any more is missing.
func find(ctx context.Context, c *api.Call) (*record.DeletionItem, error) {
	d, err := visibility.Find[record.DeletionItem](ctx, &c.Viewer, c.Param("deletionId"), record.DeletionKey)
	if err == nil && d.Over() {
		return nil, visibility.Missing
	}
	return d, err
}
