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

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/ratelimit"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"

	lru "github.com/hashicorp/golang-lru/v2"
)

// An access token consists of the prefix, the id of its user, 26 random characters, and a checksum of 7 characters over everything before
// it. Random characters and checksum are in base32. Scanners for secrets recognise it by
//
//	assay_[0-7][0-9A-HJKMNP-TV-Z]{25}[A-Z2-7]{33}
const (
	accessTokenPrefix = "assay_"
	idChars           = 26
	randomChars       = 26 // of rand.Text, 130 bits
	checksumChars     = 7
)

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewAccessToken returns the secret of a new access token for the user, and the digest under which the token is stored.
func NewAccessToken(userID string) (secret, digest string) {
	return newSecret(accessTokenPrefix, userID)
}

// NewInvitation returns the secret of a new invitation to the resource with the id, and the digest under which the invitation is stored.
// The secret has the form of an access token, with another prefix and the id of the resource in place of the user's.
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

// ParseInvitation returns the id of the resource that the invitation is to, and the digest of the secret. ok is false if the checksum is
// wrong.
func ParseInvitation(secret string) (id, digest string, ok bool) {
	id, ok = idInSecret(record.InvitationPrefix, secret)
	return id, secretDigest(secret), ok
}

// idInSecret returns the id in a secret with a correct checksum.
func idInSecret(prefix, secret string) (id string, ok bool) {
	length := len(prefix) + idChars + randomChars
	if len(secret) != length+checksumChars || !strings.HasPrefix(secret, prefix) || checksum(secret[:length]) != secret[length:] {
		return "", false
	}
	id = secret[len(prefix):][:idChars]
	return id, record.IsID(id)
}

// Authenticator identifies callers by their tokens. It verifies tokens of the sign-in issuer, and looks access tokens up in the store.
type Authenticator struct {
	issued  func(ctx context.Context, token string) (access.Caller, error)
	store   store.Store
	now     func() time.Time
	rates   *ratelimit.Limiter
	lookups chan struct{} // has one element for each lookup under way
	cache   *lru.Cache[string, knownGrant]
}

// maxLookups bounds the concurrent lookups of access tokens.
const maxLookups = 64

// NewAuthenticator returns an Authenticator. It passes tokens without the prefix of access tokens to issued. rates bounds how many unknown
// access tokens an address may send; nil: any number.
func NewAuthenticator(issued func(context.Context, string) (access.Caller, error), s store.Store, now func() time.Time,
	rates *ratelimit.Limiter) *Authenticator {
	return &Authenticator{issued: issued, store: s, now: now, rates: rates, lookups: make(chan struct{}, maxLookups),
		cache: newCache[string, knownGrant]()}
}

type addressKey struct{}

// WithAddress returns a context for a request from the address. The address comes from ratelimit.Network.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Caller returns the caller that the token identifies. It returns problems, except for errors of the store.
func (a *Authenticator) Caller(ctx context.Context, token string) (access.Caller, error) {
	if !strings.HasPrefix(token, accessTokenPrefix) {
		return a.issued(ctx, token)
	}
	userID, ok := idInSecret(accessTokenPrefix, token)
	if !ok {
		return access.Caller{}, problem.InvalidToken.New("This is no whole access token: one has 65 characters, of which the last 7 are a "+
			"checksum. Copy it again, or make a new one with %s.", problem.CreateToken.With())
	}
	grant, err := a.lookUp(ctx, userID, secretDigest(token))
	if err != nil {
		return access.Caller{}, err
	}
	if !a.now().Before(grant.Expires) {
		return access.Caller{}, problem.InvalidToken.New("The access token expired at %s. Make a new one with %s.", grant.Expires,
			problem.CreateToken.With())
	}
	return access.Caller{ID: userID, Token: grant}, nil
}

// lookUp returns the grant of the token with the digest. It returns a cached grant that was read within the last accessTokenCacheTime.
func (a *Authenticator) lookUp(ctx context.Context, userID, digest string) (*access.Token, error) {
	now := a.now()
	known, _ := a.cache.Get(digest)
	if now.Before(known.until) {
		return known.grant, nil
	}
	// Only unknown tokens are limited: the address may be that of a load balancer, and its known users must not be refused.
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
		return nil, problem.InvalidToken.New("There is no such access token: it was revoked, or its user was deleted. Make a new one with "+
			"%s.", problem.CreateToken.With())
	}
	grant := t.Grant()
	a.cache.Add(digest, knownGrant{grant, now.Add(accessTokenCacheTime)})
	return grant, nil
}

// NoteUse records that the caller changed something with an access token. It writes at most once a day for each token, and nothing for
// callers without one. The record only informs the user, so a failure is logged.
func NoteUse(ctx context.Context, s store.Store, c access.Caller, now time.Time, log *slog.Logger) {
	if c.Token == nil || c.Token.LastUsedOn == record.TokenDay(now) {
		return
	}
	use := func(t *record.AccessTokenItem, _ *records.Tx) (bool, error) { return t.Use(now), nil }
	if _, err := records.Update(ctx, s, record.AccessTokenKey(c.ID, c.Token.Digest), use); err != nil {
		log.WarnContext(ctx, "cannot record the use of an access token", "user", c.ID, "error", err)
	}
}

// accessTokenCacheTime bounds how long a process that has cached a token still accepts it after it was revoked.
const accessTokenCacheTime = 5 * time.Second

// knownGrant is a cached grant. A client that sends many requests costs one read. After until the grant is read again. A nil grant means
// that the token is unknown.
type knownGrant struct {
	grant *access.Token
	until time.Time
}
