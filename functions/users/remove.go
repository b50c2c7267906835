package users

import (
	"cmp"
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
	if _, err := c.Grants(ctx); err != nil {
		return err // of an administrator who is being deleted
	}
	g, err := visibility.GrantsOf(ctx, c.Store, store.Strong, string(id))
	switch {
	case err != nil || g.Profile.Deleting():
		return err
	case g.Profile == nil && len(g.Memberships)+len(g.Registered) == 0:
		return visibility.Missing
	}
	if err := checkMemberships(ctx, c, string(id), g.Memberships); err != nil {
		return err
	}
	u := cmp.Or(g.Profile, &record.User{Meta: record.MetaOf(string(id), c.Now())})
	u.Delete(c.Caller.ID, c.Now())
	c.Tx.Save(u, c.Now())
	tokens, err := tokensOf(ctx, c, string(id))
	for _, t := range tokens {
		c.Tx.Delete(t)
	}
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "user deleted", "deleted", string(id), "user", c.Caller.ID)
	})
	return err
}

// checkMemberships refuses to delete the last known member of an organizer.
func checkMemberships(ctx context.Context, c *api.Call, userID string, organizerIDs []string) error {
	organizers, err := records.GetAll[record.Organizer](ctx, c.Store, store.Strong, records.Keys(organizerIDs, record.OrganizerKey)...)
	if err != nil {
		return err
	}
	var last []string
	for _, o := range slices.DeleteFunc(organizers, func(o *record.Organizer) bool { return o == nil }) {
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
