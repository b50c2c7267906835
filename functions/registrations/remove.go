package registrations

import (
	"context"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/team"
)

var rejected = problem.Forbidden.New("The organizers rejected your registration, so only they can change who is registered. Ask them.")

// remove withdraws a registration for all members of the team. A rejected team cannot withdraw, because its members could register again.
func remove(ctx context.Context, c *api.Call, r *record.RegistrationItem) error {
	if r.State == record.Rejected && !c.Organizes() {
		return rejected
	}
	if !c.Organizes() && !ownsTeam(c, r) {
		return problem.Forbidden.New("Only the owner of the team can withdraw it. Leave it: %s.",
			problem.DeleteTeamMember.With(r.TaskID, r.ID, c.Caller.ID))
	}
	if err := changeOf(c).Withdraw(ctx, r); err != nil {
		return err
	}
	others := lists.Without(r.Members, r.UserID)
	return c.AuditFree(ctx, r.Scope(), record.RegistrationDeleted, team.Path(r), team.Decided{State: r.State}, nil, others...)
}
