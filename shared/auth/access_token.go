package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/problem"
	"assay/shared/ratelimit"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// The form of an access token: the prefix, the id of its user, 26 random characters and 7 of a checksum over all that is before,
// the last two in base32. Scanners for secrets recognise it by
//
//	assay_[0-7][0-9A-HJKMNP-TV-Z]{25}[A-Z2-7]{33}
const (
	accessTokenPrefix = "assay_"
	idChars           = 26
	randomChars       = 26 // 130 bits, as rand.Text makes them
	checksumChars     = 7
)

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewAccessToken returns the secret of a new access token of the user, and the digest under which it is stored.
func NewAccessToken(userID string) (secret, digest string) {
	return newSecret(accessTokenPrefix, userID)
}

// NewInvitation returns the secret of a new invitation to what has the id, and the digest under which it is stored. Its form is that of an
// access token, with another prefix, and the id of what it is to in place of a user's.
func NewInvitation(id string) (secret, digest string) { return newSecret(record.InvitationPrefix, id) }

func newSecret(prefix, id string) (secret, digest string) {
	body := prefix + id + rand.Text()
	secret = body + checksum(body)
	return secret, secretDigest(secret)
}

func checksum(body string) string {
	return base32Text.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body))))
}

func secretDigest(secret string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))
}

// ParseInvitation returns the id of what the invitation is to, and the digest, of a secret that is whole.
func ParseInvitation(secret string) (id, digest string, ok bool) {
	id, ok = idInSecret(record.InvitationPrefix, secret)
	return id, secretDigest(secret), ok
}

// idInSecret returns the id in a secret that is whole.
func idInSecret(prefix, secret string) (id string, ok bool) {
	length := len(prefix) + idChars + randomChars
	if len(secret) != length+checksumChars || !strings.HasPrefix(secret, prefix) || checksum(secret[:length]) != secret[length:] {
		return "", false
	}
	id = secret[len(prefix):][:idChars]
	return id, record.IsID(id)
}

// Authenticator identifies the bearers of tokens: those of the sign-in issuer, and access tokens, which are looked up in the store.
type Authenticator struct {
	issued  func(ctx context.Context, token string) (access.Caller, error)
	store   store.Store
	now     func() time.Time
	rates   *ratelimit.Limiter
	lookups chan struct{} // has an element for each that is under way
	cache   *lru.Cache[string, knownGrant]
}

// maxLookups is how many access tokens are looked up at a time.
const maxLookups = 64

// NewAuthenticator makes an Authenticator that takes for tokens of the issuer all that are no access tokens. Of those, an address may send
// as many that are not known yet as the rates allow; nil: any number.
func NewAuthenticator(issued func(context.Context, string) (access.Caller, error), s store.Store, now func() time.Time,
	rates *ratelimit.Limiter) *Authenticator {
	return &Authenticator{issued: issued, store: s, now: now, rates: rates, lookups: make(chan struct{}, maxLookups),
		cache: newCache[string, knownGrant]()}
}

type addressKey struct{}

// WithAddress returns a context for a request from the address, as ratelimit.Network returns it.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Caller returns who the bearer of the token is to the platform. Its errors are problems.
func (a *Authenticator) Caller(ctx context.Context, token string) (access.Caller, error) {
	if !strings.HasPrefix(token, accessTokenPrefix) {
		return a.issued(ctx, token)
	}
	userID, ok := idInSecret(accessTokenPrefix, token)
	if !ok {
		return access.Caller{}, problem.InvalidToken.New("This is no whole access token: one has 65 characters, of which the last 7 are a " +
			"checksum. Copy it again, or make a new one with POST /v1/user/tokens.")
	}
	grant, err := a.lookUp(ctx, userID, secretDigest(token))
	if err != nil {
		return access.Caller{}, err
	}
	if !a.now().Before(grant.Expires) {
		return access.Caller{}, problem.InvalidToken.New("The access token expired at %s. Make a new one with POST /v1/user/tokens.",
			record.At(grant.Expires))
	}
	return access.Caller{ID: userID, Token: grant}, nil
}

// lookUp returns what the token with the digest conveys: as it was read within the last accessTokenCacheTime, or now.
func (a *Authenticator) lookUp(ctx context.Context, userID, digest string) (*access.Token, error) {
	now := a.now()
	known, _ := a.cache.Get(digest)
	if now.Before(known.until) {
		return known.grant, nil
	}
	// A token that was accepted before is not refused because others come from its address, which may be that of a load balancer.
	address, _ := ctx.Value(addressKey{}).(string)
	if known.grant == nil {
		if wait := a.rates.Take(now, ratelimit.Token, address, false, http.Header{}); wait > 0 {
			return nil, problem.Unavailable.New("Access tokens that this server has not seen come from your address faster than it looks them " +
				"up. Wait for as long as Retry-After says.").After(wait)
		}
	}
	select {
	case a.lookups <- struct{}{}:
		defer func() { <-a.lookups }()
	case <-ctx.Done():
		return nil, problem.Unavailable.Wrap(ctx.Err(), "The token can't be checked now. Try again in a second.").After(time.Second)
	}
	t, err := records.Get[record.AccessTokenItem](ctx, a.store, store.Strong, record.AccessTokenKey(userID, digest))
	if err != nil {
		return nil, err
	}
	if t == nil {
		if known.grant != nil {
			a.cache.Add(digest, knownGrant{})
		}
		return nil, problem.InvalidToken.New("There is no such access token: it was revoked, or its user was deleted. Make a new one with " +
			"POST /v1/user/tokens.")
	}
	grant := t.Grant()
	a.cache.Add(digest, knownGrant{grant, now.Add(accessTokenCacheTime)})
	return grant, nil
}

// NoteUse notes in the store that the caller changed something with an access token, if that is what the caller came with, and if it is
// not known of this day. It is for the user's information alone, so a failure is only logged.
func NoteUse(ctx context.Context, s store.Store, c access.Caller, now time.Time, log *slog.Logger) {
	if c.Token == nil || c.Token.LastUsedOn == record.TokenDay(now) {
		return
	}
	use := func(t *record.AccessTokenItem, _ *records.Tx) (bool, error) { return t.Use(now), nil }
	if _, err := records.Update(ctx, s, record.AccessTokenKey(c.ID, c.Token.Digest), use); err != nil {
		log.WarnContext(ctx, "the use of an access token is not noted", "user", c.ID, "error", err)
	}
}

// accessTokenCacheTime is how long a token that was revoked may still be accepted by a process that had seen it.
const accessTokenCacheTime = 5 * time.Second

// knownGrant is what an access token conveys until then without being read again, so that a client that sends many requests costs one
// read; nil: nothing is known of it.
type knownGrant struct {
	grant *access.Token
	until time.Time
}
