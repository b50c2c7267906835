// Package deletions serves the trash: what was deleted and can be restored.
//
// A team sees and restores what it deleted, and organizers whatever was deleted in their tasks.
package deletions

import (
	"context"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/page"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/visibility"
)

// Operations of the family.
var Operations = []api.Operation{
	api.List(api.Spec{
		ID: "listDeletions", Path: "/v1/deletions", May: access.User,
		Summary: "List what was deleted",
		Description: "What the caller can restore, the newest first: teams what they deleted, organizers all that was deleted in their tasks. " +
			"It counts as stored until `expiresAt`, and is then deleted with its files.",
		Query: page.Spec{Filters: []page.Filter{{Name: "taskId", Type: page.ID}, {Name: "kind", Type: page.Enum}}},
	}, api.NoTarget, list, nil),
	api.Get(api.Spec{
		ID: "getDeletion", Path: "/v1/deletions/{deletionId}", May: access.Owner | access.Organizer,
		Summary:     "Return what was deleted",
		Description: "An entry of the list.",
	}, find, api.ShowFor),
	api.Delete(api.Spec{
		ID: "undoDeletion", Path: "/v1/deletions/{deletionId}", May: access.Owner | access.Organizer,
		Token:   access.ScopeSubmit | access.ScopeOrganize,
		Summary: "Restore what was deleted",
		Description: "With everything that belonged to it, under its former path. Runs that waited wait again, and those that were evaluated " +
			"against an earlier ground truth are evaluated again. What it belonged to must be there: otherwise the answer is 409 and says what " +
			"to restore first. A team needs the accepted registration and terms that a new submission needs, and cannot restore runs of a " +
			"dataset with `finalRuns` whose window has closed; its organizers can. A large task comes back within minutes.",
		Problems: []*problem.Kind{problem.OutsideWindow},
	}, find, remove),
}

// find reads an entry from which something can be restored.
func find(ctx context.Context, c *api.Call) (*record.DeletionItem, error) {
	d, err := visibility.Find[record.DeletionItem](ctx, &c.Viewer, c.Param("deletionId"), record.DeletionKey)
	if err == nil && d.Over() {
		return nil, visibility.Missing
	}
	return d, err
}
