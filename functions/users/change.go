package users

import (
	"cmp"
	"context"
	"encoding/json"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/visibility"
)

// changeQuota sets the quota of the user in the record of the user's usage, so that the next charge applies it. It also saves the unchanged
// profile with the next version. So the entity tag changes, and the change conflicts with the deletion of the user.
func changeQuota(ctx context.Context, c *api.Call, a *account, d record.QuotaDraft) (*account, error) {
	switch {
	case a.user == nil:
		return nil, visibility.Missing
	case a.user.Deleting():
		return nil, problem.Conflict.New("The user is being deleted.")
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
