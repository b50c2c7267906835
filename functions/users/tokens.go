package users

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

// NewToken is the answer to the creation of an access token. No other answer has the secret.
type NewToken struct {
	record.AccessToken
	Secret string `json:"secret,omitempty" doc:"secret that programs send in a header: Authorization: Bearer <secret>. It is shown only once; an answer that is repeated for its Idempotency-Key lacks it" example:"assay_01JZ3V7Q0D8T5RZ0S6R1W9C4XKABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG"`
}

// WithoutSecret returns the answer that may be stored.
func (n NewToken) WithoutSecret() any { return n.AccessToken }

// tokensOf reads all access tokens of the user, the newest first.
func tokensOf(ctx context.Context, c *api.Call, userID string) ([]*record.AccessTokenItem, error) {
	all, err := records.Query[record.AccessTokenItem](ctx, c.Store, store.Query{
		Partition: record.AccessTokenPartition(userID), Limit: record.MaxAccessTokens, Consistency: store.Strong})
	slices.SortFunc(all, func(a, b *record.AccessTokenItem) int { return strings.Compare(b.ID, a.ID) })
	return all, err
}

// ownedToken is the target of a request about an access token of a user.
type ownedToken struct {
	userTarget
	*record.AccessTokenItem
}

// token finds the access token that the path names. It requires the right to all tokens of the user first, so that other callers do not
// learn which tokens exist.
func token(ctx context.Context, c *api.Call) (found ownedToken, err error) {
	user, err := userID(ctx, c)
	if err != nil {
		return found, err
	}
	if err := c.Require(ctx, access.Owner|access.Admin, user.Scope()); err != nil {
		return found, err
	}
	all, err := tokensOf(ctx, c, string(user))
	if err != nil {
		return found, err
	}
	i := slices.IndexFunc(all, func(t *record.AccessTokenItem) bool { return t.ID == c.Param("tokenId") })
	if i < 0 {
		return found, visibility.Missing
	}
	return ownedToken{user, all[i]}, nil
}

func listTokens(ctx context.Context, c *api.Call, user userTarget) (p page.Page[record.AccessToken], err error) {
	all, err := tokensOf(ctx, c, string(user))
	if err != nil {
		return p, err
	}
	shown := lists.Map(all, func(t *record.AccessTokenItem) record.AccessToken { return t.AccessToken })
	return page.Of(c.Page, shown, func(t record.AccessToken) string { return t.ID })
}

func createToken(ctx context.Context, c *api.Call, _ userTarget, d record.AccessTokenDraft) (location string, made NewToken, err error) {
	if err := d.CheckExpiry(c.Now()); err != nil {
		return "", made, err
	}
	if err := checkWork(ctx, c, d); err != nil {
		return "", made, err
	}
	all, err := tokensOf(ctx, c, c.Caller.ID)
	if err != nil {
		return "", made, err
	}
	if len(all) >= record.MaxAccessTokens {
		return "", made, problem.Conflict.New("You have %d access tokens, which is the most. Revoke one first: %s.", len(all),
			problem.DeleteToken.With())
	}
	secret, digest := auth.NewAccessToken(c.Caller.ID)
	t := &record.AccessTokenItem{
		AccessToken: record.AccessToken{Meta: record.NewMeta(c.Now()), AccessTokenDraft: d}, UserID: c.Caller.ID, Digest: digest,
	}
	c.Tx.Create(t)
	if err := c.UpsertProfile(ctx); err != nil {
		return "", made, err
	}
	if g, err := c.Grants(ctx); err != nil {
		return "", made, err
	} else if g.Profile != nil && !c.Tx.Writes(g.Profile.Key()) {
		c.Tx.Replace(g.Profile) // Concurrent requests conflict, so that each counts the tokens of the other.
	}
	return "/v1/user/tokens/" + t.ID, NewToken{t.AccessToken, secret}, nil
}

// checkWork allows a token with the scope work only for administrators, and for members of the organizers whose pools it names.
func checkWork(ctx context.Context, c *api.Call, d record.AccessTokenDraft) error {
	if c.Caller.Admin || !slices.Contains(d.Scopes, "work") {
		return nil
	}
	if len(d.Pools) == 0 {
		return problem.InvalidMember("/pools", "must name pools of your organizers: only administrators make tokens for all pools")
	}
	g, err := c.Grants(ctx)
	if err != nil {
		return err
	}
	var fields problem.Fields
	for i, pool := range d.Pools {
		fields.AddIf(!g.MemberOf(record.PoolOrganizer(pool)), fmt.Sprintf("/pools/%d", i),
			"must belong to an organizer of which you are a member")
	}
	return problem.Check(fields)
}

func removeToken(_ context.Context, c *api.Call, t ownedToken) error {
	c.Tx.Delete(t)
	return nil
}
