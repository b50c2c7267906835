package users

import (
	"context"
	"slices"
	"strings"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
	"assay/shared/visibility"
)

// remove begins the deletion of a user, who has no rights from then on: grants no longer count, and access tokens are gone. The
// evaluator does the rest.
func remove(ctx context.Context, c *api.Call, id userTarget) error {
	kept := store.Query{Partition: record.UserPartition(string(id)), Limit: store.MaxKeys, Consistency: store.Strong}
	items, err := itemsOf(ctx, c, kept)
	if err != nil {
		return err
	}
	g, err := record.DecodeGrants(items)
	switch {
	case err != nil || g.Profile.Deleting():
		return err
	case len(items) == 0:
		return visibility.Missing
	}
	if err := checkMemberships(ctx, c, string(id), g.Memberships); err != nil {
		return err
	}
	u := g.Profile
	if u == nil {
		u = &record.User{Meta: record.MetaOf(string(id), c.Now())}
	}
	u.Delete(c.Caller.ID, c.Now())
	c.Tx.Save(u, c.Now())
	tokens, err := itemsOf(ctx, c, store.Query{Partition: record.AccessTokenPartition(string(id)), Limit: record.MaxAccessTokens,
		Consistency: store.Strong})
	for _, it := range tokens {
		c.Tx.DeleteKey(it.Key)
	}
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "user deleted", "deleted", string(id), "user", c.Caller.ID)
	})
	return err
}

// itemsOf reads all that the query finds.
func itemsOf(ctx context.Context, c *api.Call, q store.Query) (all []store.Item, err error) {
	for it, err := range records.Items(ctx, c.Store, q) {
		if err != nil {
			return nil, err
		}
		all = append(all, it)
	}
	return all, nil
}

// checkMemberships refuses to delete the last known member of an organizer.
func checkMemberships(ctx context.Context, c *api.Call, userID string, organizerIDs []string) error {
	organizers, err := records.GetAll[record.Organizer](ctx, c.Store, store.Strong, records.Keys(organizerIDs, record.OrganizerKey)...)
	if err != nil {
		return err
	}
	var last []string
	for _, o := range organizers {
		if o == nil {
			continue
		}
		others := slices.DeleteFunc(o.Members, func(id string) bool { return id == userID })
		known, err := c.Profiles(ctx, others[:min(len(others), store.MaxKeys)])
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(known, func(u *record.User) bool { return u != nil }) {
			last = append(last, "/v1/organizers/"+o.ID)
		}
	}
	if len(last) == 0 {
		return nil
	}
	return problem.Conflict.New("The user is the last known member of %s. Add another member there first (PATCH, "+
		`[{"op":"add","path":"/members/-","value":"<user id>"}]), or delete the organizer.`, strings.Join(last, ", "))
}
