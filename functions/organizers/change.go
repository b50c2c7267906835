package organizers

import (
	"context"
	"errors"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
)

func change(ctx context.Context, c *api.Call, o *record.Organizer, d record.OrganizerDraft) (*record.Organizer, error) {
	changed := *o
	changed.OrganizerDraft = d
	c.Tx.Save(&changed, c.Now())
	err := setMembers(ctx, c, o.ID, o.Members, d.Members)
	if errors.Is(err, errNobodyKnown) {
		return nil, problem.InvalidMember("/members",
			"must keep a known user: the last known member cannot be removed. Add another first, or delete the organizer")
	}
	return &changed, err
}
