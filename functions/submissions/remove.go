package submissions

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
	"assay/shared/service/records"
	"assay/shared/service/team"
	"assay/shared/storage/store"
)

// remove moves a submission to the trash, with its runs, reviews, evaluations and files. Its runs still count in the quota. Otherwise teams
// could submit more by deleting.
func remove(ctx context.Context, c *api.Call, s *record.SubmissionItem) error {
	runs, err := records.GetExisting[record.RunItem](ctx, c.Store, store.Strong, s.RunIDs, record.RunKey)
	if err != nil {
		return err
	}
	published := func(r *record.RunItem) bool { return r.Access.Published }
	if !c.Organizes() {
		if slices.ContainsFunc(runs, published) {
			return problem.Conflict.New("A review of the submission is published, so only the organizers can delete it. Ask them.")
		}
		if _, err := team.CheckFinalChoice(ctx, c.Store, runs, c.Now()); err != nil {
			return err
		}
	}
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	entry, err := d.DeleteSubmission(ctx, c.Tx, s, runs, c.Caller.ID, c.TargetRoles&access.Owner != 0)
	if err != nil {
		return err
	}
	c.Propagate(d.Continue, entry.Key())
	return c.UpsertProfile(ctx)
}
