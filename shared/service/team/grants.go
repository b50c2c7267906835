package team

import (
	"context"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// grant adds to the transaction the grant of the registration to the user.
func (c Change) grant(t *record.TaskItem, r *record.RegistrationItem, userID string) {
	grant := r.Grant(userID, t.Visibility == record.Private, c.Now)
	if c.Ended == nil {
		c.Tx.Create(grant).Or(Registered)
		return
	}
	grant.Replaces(c.Ended)
	c.Tx.Replace(grant)
}

// endGrants adds to the transaction that the grants of the members end, because they are removed from the team or its registration is
// deleted. Members who do so themselves lose their grant. The grants of the others say from then on what became of them, and an event
// notifies them.
func (c Change) endGrants(ctx context.Context, r *record.RegistrationItem, removed bool, members ...string) error {
	others := lists.Without(members, c.ActorID)
	if len(others) < len(members) {
		c.Tx.DeleteKeys(record.RegisteredKey(c.ActorID, r.TaskID))
	}
	if len(others) == 0 {
		return nil
	}
	keys := records.Keys(others, func(id string) store.Key { return record.RegisteredKey(id, r.TaskID) })
	grants, err := records.GetAll[record.Registered](ctx, c.Store, store.Strong, keys...)
	if err != nil {
		return err
	}
	byOrganizers := !slices.Contains(r.Members, c.ActorID)
	for _, g := range grants {
		if g == nil || g.ID != r.ID {
			continue
		}
		g.Ended = &record.GrantEnd{At: record.At(c.Now), ByOrganizers: byOrganizers, Removed: removed}
		c.Tx.Save(g, c.Now)
	}
	ended := record.NewEvent(c.Now, record.EventRegistrationEnded, r.Scope(), Path(r))
	ended.UserIDs = others
	c.Tx.Create(ended)
	return nil
}
