package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/store"
)

// Limits of access tokens.
const (
	MaxAccessTokens      = 50       // of one user, whether expired or not
	DefaultTokenLifetime = 90 * Day // of one that does not say when it expires
	maxTokenYears        = 1        // for which one can be valid
	tokenRetention       = 30 * Day // for which an expired one is still listed
)

// AccessTokenDraft is what a client writes of an access token.
type AccessTokenDraft struct {
	Name      string   `json:"name" minLength:"1" maxLength:"200" doc:"what tells the token from others in a list" example:"nightly submissions"`
	Scopes    []string `json:"scopes" minItems:"1" maxItems:"4" enum:"read,submit,organize,work" doc:"what the token may be used for, within what its user may do at that time: read: what the user sees; submit: that, and to take part in tasks; organize: that, and to act as a member of organizers; work: to lease runs over gRPC"`
	Pools     []string `json:"pools,omitempty" maxItems:"10" maxLength:"77" doc:"for work: the pools of workers whose runs can be leased, each the id of an organizer of the user, a slash and a name; administrators may name default too, or leave them out, for all pools" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK/gpu"`
	ExpiresAt *Instant `json:"expiresAt,omitempty" doc:"when it stops being accepted, at most a year ahead; 90 days ahead unless given"`
}

// AccessToken is a bearer token that a user made for programs. Its secret is shown once, in the answer that it was made by.
type AccessToken struct {
	Meta
	AccessTokenDraft
	LastUsedOn string `json:"lastUsedOn,omitempty" format:"date" doc:"the last day, in UTC, on which something was changed with it; absent before. What only reads is not noted"`
}

// AccessTokenItem is an access token as the store holds it, under the SHA-256 of its secret.
type AccessTokenItem struct {
	AccessToken
	UserID string `json:"userId"`
	Digest string `json:"digest"` // hexadecimal SHA-256 of the secret
	// Noticed says that its user was notified that it expires.
	Noticed bool `json:"noticed,omitempty"`
}

// AccessTokenPartition holds the access tokens of a user. It is apart from UserPartition, which nearly every request reads.
func AccessTokenPartition(userID string) string { return "TOKENS#" + userID }

// AccessTokenKey is the key of the token of the user whose secret has the digest.
func AccessTokenKey(userID, digest string) store.Key {
	return store.Key{Partition: AccessTokenPartition(userID), Sort: digest}
}

// Key implements Record.
func (t *AccessTokenItem) Key() store.Key { return AccessTokenKey(t.UserID, t.Digest) }

// Expiry says when the record goes by itself, a while after the token expired, so that its user finds out why it is refused.
func (t *AccessTokenItem) Expiry() time.Time { return t.ExpiresAt.Add(tokenRetention) }

// NoticeAt is when its user is to be notified that it expires; the zero Time when that was done, and for one that is valid for no longer.
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

// TokenDay is the day of the instant in UTC, as LastUsedOn has it.
func TokenDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Use notes that the token was used to change something, and reports whether that was not known of this day.
func (t *AccessTokenItem) Use(now time.Time) bool {
	day := TokenDay(now)
	known := t.LastUsedOn == day
	t.LastUsedOn = day
	return !known
}

// Grant is what the token conveys.
func (t *AccessTokenItem) Grant() *access.Token {
	return &access.Token{Digest: t.Digest, Scopes: access.ParseTokenScopes(t.Scopes), Pools: t.Pools, Expires: t.ExpiresAt.Time,
		LastUsedOn: t.LastUsedOn}
}

// Check says what is wrong with the draft.
func (d *AccessTokenDraft) Check() []problem.Field {
	fields := append(checkName("/name", d.Name), checkDistinct("/scopes", d.Scopes)...)
	fields.AddIf(len(d.Pools) > 0 && !slices.Contains(d.Scopes, "work"), "/pools", "is for tokens with the scope work")
	for i, p := range d.Pools {
		fields.AddIf(p != DefaultPool && PoolOrganizer(p) == "" || !IsPool(p), fmt.Sprintf("/pools/%d", i),
			"must be default, or the id of an organizer, a slash, and up to 50 lower-case letters, digits and hyphens")
	}
	return fields
}

// CheckExpiry says what is wrong with when the draft expires, and sets the default.
func (d *AccessTokenDraft) CheckExpiry(now time.Time) error {
	d.ExpiresAt = cmp.Or(d.ExpiresAt, new(At(now.Add(DefaultTokenLifetime))))
	latest := now.AddDate(maxTokenYears, 0, 0)
	if d.ExpiresAt.After(now) && !d.ExpiresAt.After(latest) {
		return nil
	}
	return problem.InvalidMember("/expiresAt", "must be after now, %s, and at most a year later, until %s", At(now), At(latest))
}
