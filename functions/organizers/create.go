package organizers

import (
	"context"
	"slices"

	"assay/shared/api"
	"assay/shared/record"
)

func create(ctx context.Context, c *api.Call, _ api.PublicTarget, d record.OrganizerDraft) (path string, made api.URL, err error) {
	o := &record.Organizer{Meta: record.NewMeta(c.Now()), OrganizerDraft: d}
	members := d.Members // in this order the problems' pointers are those of the body
	if !slices.Contains(members, c.Caller.ID) {
		members = append(slices.Clip(members), c.Caller.ID)
		o.Members = append([]string{c.Caller.ID}, d.Members...)
	}
	path = "/v1/organizers/" + o.ID
	c.Tx.Create(o).Create(record.NewAudit(c.Now(), o.Scope(), c.Caller.ID, record.OrganizerCreated, path, nil, o.Audited(), o.Members...))
	if err := c.Charge(ctx, record.Charge{Kind: record.MadeOrganizers, Count: 1}); err != nil {
		return "", made, err
	}
	return path, api.URL{ID: o.ID, URL: path}, setMembers(ctx, c, o.ID, nil, members)
}
