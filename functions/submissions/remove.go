package submissions

import (
	"context"
	"slices"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/team"
	"assay/shared/trash"
)

// remove deletes a submission with all that was made for it, which goes to the trash. What it used of the quota stays used, or deleting
// would be a way around it.
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
		if err := team.CheckFinalChoice(ctx, c.Store, runs, c.Now()); err != nil {
			return err
		}
	}
	if err := c.AuditFree(ctx, s.Scope(), record.SubmissionDeleted, path(s), s.Audited(), nil); err != nil {
		return err
	}
	bin := trash.Trash{Store: c.Store, Now: c.Now}
	entry := record.NewDeletion(c.Now(), record.SubmissionInTrash, s.ID, path(s), s.Title, s.Scope(), c.Caller.ID,
		c.TargetRoles&access.Owner != 0)
	if err := bin.Submission(ctx, c.Tx, s, runs, entry); err != nil {
		return err
	}
	c.Propagate(bin.Continue, entry.Key())
	return nil
}

func path(s *record.SubmissionItem) string { return "/v1/tasks/" + s.TaskID + "/submissions/" + s.ID }
