package users

import (
	"cmp"
	"context"
	"encoding/json"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/visibility"
)

// changeQuota sets the quota of the user, with what the user took, so that the next charge holds to it. The profile becomes its next
// version: so the entity tag changes, and the change conflicts with the deletion of the user.
func changeQuota(ctx context.Context, c *api.Call, a *account, d record.QuotaDraft) (*account, error) {
	switch {
	case a.user == nil:
		return nil, visibility.Missing
	case a.user.Deleting():
		return nil, problem.Conflict.New("The user is being deleted, so there is nothing to limit any more.")
	}
	user := *a.user
	usage := *cmp.Or(a.usage, &record.Usage{Meta: record.MetaOf(a.user.ID, c.Now())})
	usage.Quota = d.Quota
	c.Tx.Save(&user, c.Now()).Save(&usage, c.Now())
	quota, err := json.Marshal(d.Quota)
	if err != nil {
		return nil, err
	}
	c.After(func(ctx context.Context) {
		c.Log.InfoContext(ctx, "quota of a user changed", "changed", user.ID, "quota", string(quota), "user", c.Caller.ID)
	})
	return &account{a.userTarget, &user, &usage}, c.UpsertProfile(ctx)
}
