package invitations

import (
	"cmp"
	"context"

	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// NewInvitation is the answer to the creation of an invitation, the only one that has the secret.
type NewInvitation struct {
	record.Invitation
	Link   string `json:"link,omitempty" format:"uri" doc:"where those who are invited sign in and join; it has the secret"`
	Secret string `json:"secret,omitempty" doc:"what those who are invited send to POST /v1/user/memberships. It is shown this once; a repeated answer, by Idempotency-Key, lacks it" example:"assay-invitation_01JZ3V7Q0D8T5RZ0S6R1W9C4XKABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"`
}

// WithoutSecret is the answer as it may be kept.
func (n NewInvitation) WithoutSecret() any { return n.Invitation }

// audited is the part of an invitation that an audit entry has.
type audited struct {
	Role string `json:"role,omitempty"`
	Uses int    `json:"uses"`
}

func create[T api.Target](ctx context.Context, c *api.Call, t T, d record.InvitationDraft) (location string, made NewInvitation,
	err error) {
	i := to(t)
	if err := d.Complete(c.Now(), i.TaskID == ""); err != nil {
		return "", made, err
	}
	open, ended, err := stored(ctx, c, t)
	if err != nil {
		return "", made, err
	}
	for _, i := range ended[:min(len(ended), record.MaxInvitations)] {
		c.Tx.DeleteKeys(i.Key())
	}
	if len(open) >= record.MaxInvitations {
		return "", made, problem.Conflict.New("There are %d invitations, which is the most. Withdraw one first: "+
			"DELETE %s/invitations/{invitationId}.", len(open), i.Parent())
	}
	i.Meta = record.NewMeta(c.Now())
	i.InvitationDraft = d
	i.InvitedBy = c.Caller.ID
	i.ByAdmin = c.Caller.Admin
	made.Secret, i.Digest = auth.NewInvitation(i.To())
	made.Invitation = i.Invitation
	made.Link = c.BaseURL() + record.InvitationLink(made.Secret)
	if d.Email != "" {
		if err := countAddress(ctx, c, i); err != nil {
			return "", made, err
		}
		e := record.NewEvent(c.Now(), record.EventInvitationCreated, i.Scope(), i.Path())
		e.Secret = made.Secret
		c.Tx.Create(e)
	}
	c.Tx.Create(i)
	return i.Path(), made, c.Audit(ctx, i.Scope(), record.InvitationCreated, i.Path(), nil, audited{i.Role, i.Uses})
}

// countAddress counts an invitation to an e-mail address. Whether somebody here has the address is not looked at, so nobody finds it out.
func countAddress(ctx context.Context, c *api.Call, i *record.InvitationItem) error {
	a, err := records.Get[record.Addressed](ctx, c.Store, store.Strong, record.AddressedKey(i.CountedFor()))
	if err != nil {
		return err
	}
	a = cmp.Or(a, &record.Addressed{Meta: record.MetaOf(i.CountedFor(), c.Now())})
	if err := a.Add(i.ID, c.Now()); err != nil {
		return err
	}
	c.Tx.Save(a, c.Now())
	return nil
}
