package server

import (
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// authorizeToken returns a problem if the user of a worker's access token may no longer lease from the token's pools. Pools of
// organizers require membership of those organizers. Pools of the platform, or a token for all pools, require an administrator. Callers
// without an access token are allowed, because the issuer gives them their role.
func (e Env) authorizeToken(ctx context.Context, c access.Caller) error {
	if c.Token == nil {
		return nil
	}
	keys := []store.Key{record.UserKey(c.ID)}
	onlyOwn := len(c.Token.Pools) > 0
	for _, pool := range c.Token.Pools {
		organizer := record.PoolOrganizer(pool)
		onlyOwn = onlyOwn && organizer != ""
		if key := record.MembershipKey(c.ID, organizer); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	items, err := e.Store.Get(ctx, store.Strong, keys...)
	if err != nil {
		return records.Failed(err)
	}
	user, err := records.Decode[record.User](items[0])
	if err != nil || user.RunsPlatform(e.Now()) {
		return err
	}
	if !onlyOwn || slices.ContainsFunc(items[1:], func(it store.Item) bool { return !it.Exists() }) {
		return problem.Forbidden.New("The user of this access token may not work for its pools any more: it takes membership of the organizers "+
			"that they belong to, or for other pools an administrator who changed something with a login within the last 30 days "+
			"(%s with an empty object is enough).", problem.UpdateCurrentUser.With())
	}
	return nil
}

// leaseIdentity returns the identity that may use a lease. It is the user or, with an access token, that token. So a token for some
// pools cannot work on runs of other pools.
func leaseIdentity(c access.Caller) string {
	if c.Token == nil {
		return c.ID
	}
	return c.ID + " " + c.Token.Digest
}
