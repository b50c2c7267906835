package registrations

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/team"
	"assay/shared/service/visibility"
)

// member is the target of a request about a member of a team.
type member struct {
	*record.RegistrationItem
	userID string
}

// WidestScope returns the scope of any registration.
func (member) WidestScope() access.Scope { return new(record.RegistrationItem).Scope() }

// teamMember finds the team and the member that the path names.
func teamMember(ctx context.Context, c *api.Call) (m member, err error) {
	r, err := registration(ctx, c)
	if err == nil && !slices.Contains(r.Members, c.Param("userId")) {
		err = visibility.Missing
	}
	return member{r, c.Param("userId")}, err
}

// changeOf returns a change of a team by the caller in c.Tx.
func changeOf(c *api.Call) team.Change {
	return team.Change{Store: c.Store, Tx: c.Tx, Now: c.Now(), ActorID: c.Caller.ID}
}

// removeMember ends a membership. Users end their own memberships. The owner of the team and the organizers end all memberships.
func removeMember(ctx context.Context, c *api.Call, m member) error {
	switch {
	case m.State == record.Rejected && !c.Organizes(): // Members of a rejected team could leave it and register again.
		return rejected
	case m.userID != c.Caller.ID && !c.Organizes() && !ownsTeam(c, m.RegistrationItem):
		return problem.Forbidden.New("Only the owner of the team and the organizers can remove other members.")
	}
	if err := changeOf(c).Leave(ctx, m.RegistrationItem, m.userID); err != nil {
		return err
	}
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeAudits, Count: 1}); err != nil {
		return err
	}
	return c.UpsertProfile(ctx)
}
