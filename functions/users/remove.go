package users

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/lists"
	"assay/shared/plural"
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
	if err := endOwnerships(ctx, c, string(id), g.Memberships); err != nil {
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

// maxOwnerships is how many organizers a user who is deleted may own, so that one transaction ends that together with the access tokens.
const maxOwnerships = 45

// endOwnerships takes the user from the owners of organizers, in the transaction of the deletion, so that of two owners who are deleted
// at the same moment one stays. It refuses to take the last one.
func endOwnerships(ctx context.Context, c *api.Call, userID string, memberships []access.Membership) error {
	ids := lists.Map(memberships, func(m access.Membership) string { return m.OrganizerID })
	organizers, err := records.GetExisting[record.Organizer](ctx, c.Store, store.Strong, ids, record.OrganizerKey)
	if err != nil {
		return err
	}
	var owned, last []string
	for _, o := range organizers {
		if !slices.Contains(o.Owners, userID) {
			continue
		}
		path := "/v1/organizers/" + o.ID
		owned = append(owned, path)
		if len(o.Owners) == 1 {
			last = append(last, o.Name+" ("+path+")")
		}
		o.Owners = slices.DeleteFunc(o.Owners, func(id string) bool { return id == userID })
		c.Tx.Save(o, c.Now())
	}
	switch {
	case len(last) > 0:
		return problem.Conflict.New("The user is the last owner of %s. Make another member an owner there first, or delete the organizer.",
			strings.Join(last, ", "))
	case len(owned) > maxOwnerships:
		return problem.Conflict.New("The user owns %s, and may own %d to be deleted. Have the user leave some first: "+
			"DELETE %s/members/%s.",
			plural.Count(len(owned), "organizer"), maxOwnerships, owned[0], userID)
	}
	return nil
}

// removeCurrent begins the deletion of the caller, who says so by the id, which no slip of a program has in a query.
func removeCurrent(ctx context.Context, c *api.Call, u *Current) error {
	if !slices.Equal(c.Page.Values("id"), []string{u.ID}) {
		return problem.InvalidParameter.New("This deletes you, with all that you said, and cannot be undone. Say that you mean it by your id, "+
			"which GET /v1/user has: DELETE /v1/user?id=%s.", u.ID)
	}
	if err := remove(ctx, c, userTarget(u.ID)); !problem.NotFound.Is(err) {
		return err
	}
	return nil // of one who never changed anything, nothing is stored
}
