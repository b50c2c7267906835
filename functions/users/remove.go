package users

import (
	"context"
	"slices"

	"assay/shared/api"
	"assay/shared/deletion"
	"assay/shared/problem"
)

// remove begins the deletion of a user. The evaluator does the rest.
func remove(ctx context.Context, c *api.Call, id userTarget) error {
	if _, err := c.Grants(ctx); err != nil {
		return err // of an administrator who is being deleted
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
