package trash

import (
	"context"

	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/team"
)

// checkTeam refuses that the team restores runs which it could not submit, or by which it would choose its final runs after the close. It
// adds to b that the registration and the task stay as they are.
func (t Trash) checkTeam(ctx context.Context, b *batch, d *record.DeletionItem) error {
	if d.RegistrationID == "" {
		return problem.Forbidden.New("This is a baseline without a registration, which only organizers of the task can restore.")
	}
	task, err := t.task(ctx, b, d.TaskID)
	if err != nil {
		return err
	}
	r, err := t.registration(ctx, b, d.TaskID, d.RegistrationID)
	if err != nil {
		return err
	}
	if err := team.CheckAccepted(r.State); err != nil {
		return err
	}
	if err := r.CheckTerms(task); err != nil {
		return err
	}
	runs, err := t.deletedRuns(ctx, d)
	if err != nil || len(runs) == 0 {
		return err
	}
	return team.CheckFinalChoice(ctx, t.Store, runs, t.Now())
}
