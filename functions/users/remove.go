package users

import (
	"context"
	"slices"

	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/deletion"
)

// remove begins the deletion of a user. From then on the user has no rights: grants no longer count, and access tokens are deleted. The
// background worker deletes the rest.
func remove(ctx context.Context, c *api.Call, id userTarget) error {
	if _, err := c.Grants(ctx); err != nil {
		return err // An administrator who is being deleted cannot delete users.
	}
	d := deletion.Deleter{Store: c.Store, Now: c.Now}
	if err := d.DeleteUser(ctx, c.Tx, string(id), c.Caller.ID); err != nil || c.Tx.Len() == 0 {
		return err
	}
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "user deleted", "deleted", string(id), "user", c.Caller.ID)
	})
	return nil
}

// removeCurrent begins the deletion of the caller. The query must have the caller's id, so that no faulty program deletes its user.
func removeCurrent(ctx context.Context, c *api.Call, u *Current) error {
	if !slices.Equal(c.Page.Values("id"), []string{u.ID}) {
		return problem.InvalidParameter.New("This deletes your account and your data, and cannot be undone. To confirm, give your id: %s.",
			problem.DeleteCurrentUser.With().Query("id", u.ID))
	}
	if err := remove(ctx, c, userTarget(u.ID)); !problem.NotFound.Is(err) {
		return err
	}
	return nil // Nothing is stored of a user who never changed anything.
}
