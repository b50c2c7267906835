package organizers

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
)

func create(ctx context.Context, c *api.Call, _ api.PublicTarget, d record.OrganizerDraft) (path string, made api.URL, err error) {
	o := &record.Organizer{Meta: record.NewMeta(c.Now()), OrganizerDraft: d}
	o.Members, o.Owners = []string{c.Caller.ID}, []string{c.Caller.ID}
	path = "/v1/organizers/" + o.ID
	invite := problem.CreateOrganizerInvitation.With() // The organizer has no id yet.
	if err := problem.Check(slices.Concat(outsiders("/members", invite, d.Members, o.Members),
		outsiders("/owners", invite, d.Owners, o.Members))); err != nil {
		return "", made, err
	}
	if err := c.CheckNext(ctx, record.MembershipGrants); err != nil {
		return "", made, err
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return "", made, err
	}
	o.Payer = g.Usage.Payer()
	c.Tx.Create(o).Create(o.Membership(c.Caller.ID, c.Now()))
	c.Tx.Create(record.NewAudit(c.Now(), o.Scope(), c.Caller.ID, record.OrganizerCreated, path, nil, o.Audited(), o.Members...))
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeOrganizers, Count: 1, OrganizerID: o.ID}); err != nil {
		return "", made, err
	}
	return path, api.URL{ID: o.ID, URL: path}, c.UpsertProfile(ctx)
}
