package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// Limits of access tokens.
const (
	MaxAccessTokens      = 50       // of one user, including expired ones
	DefaultTokenLifetime = 90 * Day // of tokens made without expiresAt
	maxTokenYears        = 1        // the longest lifetime
	tokenRetention       = 30 * Day // for which expired tokens are still listed
)

// AccessTokenDraft holds the members of an access token that clients write.
type AccessTokenDraft struct {
	Name      string   `json:"name" minLength:"1" maxLength:"200" doc:"distinguishes the token from others in a list" example:"nightly submissions"`
	Scopes    []string `json:"scopes" minItems:"1" maxItems:"4" enum:"read,submit,organize,work" doc:"what the token may be used for, within the rights of its user at that time: read: to see what the user sees; submit: also to take part in tasks; organize: also to act as a member of organizers; work: to lease runs over gRPC"`
	Pools     []string `json:"pools,omitempty" maxItems:"10" maxLength:"77" doc:"for work: the pools of workers whose runs can be leased, each the id of an organizer of the user, a slash and a name; administrators may name default too, or leave them out, for all pools" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK/gpu"`
	ExpiresAt *Instant `json:"expiresAt,omitempty" doc:"when it stops being accepted, at most a year ahead; 90 days ahead unless given"`
}

// AccessToken is a bearer token that a user made for programs. Only the answer that creates the token contains its secret.
type AccessToken struct {
	Meta
	AccessTokenDraft
	LastUsedOn string `json:"lastUsedOn,omitempty" format:"date" doc:"the last day, in UTC, on which the token was used to change something; absent before. Reading does not count"`
}

// AccessTokenItem is a stored access token. Its key contains the SHA-256 of its secret.
type AccessTokenItem struct {
	AccessToken
	UserID string `json:"userId"`
	Digest string `json:"digest"` // hexadecimal SHA-256 of the secret
	// Noticed reports whether the user was notified that the token expires.
	Noticed bool `json:"noticed,omitempty"`
}

// AccessTokenPartition returns the partition with the access tokens of a user. They are not in UserPartition, which nearly every
// request reads.
func AccessTokenPartition(userID string) string { return "TOKENS#" + userID }

// AccessTokenKey returns the key of the user's token whose secret has the digest.
func AccessTokenKey(userID, digest string) store.Key {
	return store.Key{Partition: AccessTokenPartition(userID), Sort: digest}
}

// Key implements Record.
func (t *AccessTokenItem) Key() store.Key { return AccessTokenKey(t.UserID, t.Digest) }

// Expiry returns when the store deletes the record. It is some time after the token expired, so that its user can find out why the
// token is refused.
func (t *AccessTokenItem) Expiry() time.Time { return t.ExpiresAt.Add(tokenRetention) }

// NoticeAt returns when to notify the user that the token expires. It returns the zero Time if the user was notified, and for tokens
// whose whole lifetime is not longer than TokenNotice.
func (t *AccessTokenItem) NoticeAt() time.Time {
	if at := t.ExpiresAt.Add(-TokenNotice); !t.Noticed && at.After(t.CreatedAt.Time) {
		return at
	}
	return time.Time{}
}

// Indexes implements Record.
func (t *AccessTokenItem) Indexes() [store.NumIndexes]store.Key {
	if t.NoticeAt().IsZero() {
		return indexes{}
	}
	return indexes{}.outbox(At(t.NoticeAt()), t.ID)
}

// TokenDay returns the UTC day of the instant in the form of LastUsedOn.
func TokenDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Use records that the token was used to change something. It reports whether that is the first such use of the day.
func (t *AccessTokenItem) Use(now time.Time) bool {
	day := TokenDay(now)
	known := t.LastUsedOn == day
	t.LastUsedOn = day
	return !known
}

// Grant returns the rights of the token.
func (t *AccessTokenItem) Grant() *access.Token {
	return &access.Token{Digest: t.Digest, Scopes: access.ParseTokenScopes(t.Scopes), Pools: t.Pools, Expires: t.ExpiresAt.Time,
		LastUsedOn: t.LastUsedOn}
}

// Check reports the draft's errors.
func (d *AccessTokenDraft) Check() []problem.Field {
	fields := append(checkName("/name", d.Name), checkDistinct("/scopes", d.Scopes)...)
	fields.AddIf(len(d.Pools) > 0 && !slices.Contains(d.Scopes, "work"), "/pools", "is for tokens with the scope work")
	for i, p := range d.Pools {
		fields.AddIf(p != DefaultPool && PoolOrganizer(p) == "" || !IsPool(p), fmt.Sprintf("/pools/%d", i),
			"must be default, or the id of an organizer, a slash, and up to 50 lower-case letters, digits and hyphens")
	}
	return fields
}

// CheckExpiry sets the default expiry, and reports an expiry that is not allowed.
func (d *AccessTokenDraft) CheckExpiry(now time.Time) error {
	d.ExpiresAt = cmp.Or(d.ExpiresAt, new(At(now.Add(DefaultTokenLifetime))))
	latest := now.AddDate(maxTokenYears, 0, 0)
	if d.ExpiresAt.After(now) && !d.ExpiresAt.After(latest) {
		return nil
	}
	return problem.InvalidMember("/expiresAt", "must be after now, %s, and at most a year later, until %s", At(now), At(latest))
}
