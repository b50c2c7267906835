package deletion

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// maxOwnerships is how many organizers a deleted user may own, so that one transaction ends that together with the access tokens.
const maxOwnerships = 45

// DeleteUser adds to tx that the deletion of a user begins, unless it has begun. From then on the user has no rights: grants no longer
// count, and access tokens are deleted. ContinueUser does the rest. The error is visibility.Missing for a user of whom nothing is stored.
func (d Deleter) DeleteUser(ctx context.Context, tx *records.Tx, id, by string) error {
	g, err := visibility.GrantsOf(ctx, d.Store, store.Strong, id)
	switch {
	case err != nil || g.Profile.Deleting():
		return err
	case g.Profile == nil && len(g.Memberships)+len(g.Registered) == 0:
		return visibility.Missing
	}
	if err := d.endOwnerships(ctx, tx, id, g.Memberships); err != nil {
		return err
	}
	u := cmp.Or(g.Profile, &record.User{Meta: record.MetaOf(id, d.Now())})
	u.Delete(by, d.Now())
	tx.Save(u, d.Now())
	tokens, err := records.Query[record.AccessTokenItem](ctx, d.Store, store.Query{
		Partition: record.AccessTokenPartition(id), Limit: record.MaxAccessTokens, Consistency: store.Strong})
	for _, t := range tokens {
		tx.Delete(t)
	}
	return err
}

// endOwnerships removes the user from the owners of organizers. It is part of the transaction that begins the deletion, so that of two
// owners who are deleted at the same moment one stays. It refuses to remove the last owner.
func (d Deleter) endOwnerships(ctx context.Context, tx *records.Tx, userID string, memberships []access.Membership) error {
	ids := lists.Map(memberships, func(m access.Membership) string { return m.OrganizerID })
	organizers, err := records.GetExisting[record.Organizer](ctx, d.Store, store.Strong, ids, record.OrganizerKey)
	if err != nil {
		return err
	}
	var owned []string // their ids
	var last []problem.Part
	for _, o := range organizers {
		if !slices.Contains(o.Owners, userID) {
			continue
		}
		owned = append(owned, o.ID)
		if len(o.Owners) == 1 {
			last = append(last, problem.Resource("organizer", o.ID).Named(o.Name))
		}
		o.Owners = slices.DeleteFunc(o.Owners, func(id string) bool { return id == userID })
		tx.Save(o, d.Now())
	}
	switch {
	case len(last) > 0:
		return problem.Conflict.New("The user is the last owner of %s. Make another member an owner there first, or delete the organizer.",
			last)
	case len(owned) > maxOwnerships:
		return problem.Conflict.New("The user owns %s, and may own %d to be deleted. Have the user leave some first: %s.",
			plural.Count(len(owned), "organizer"), maxOwnerships, problem.DeleteMember.With(owned[0], userID))
	}
	return nil
}
