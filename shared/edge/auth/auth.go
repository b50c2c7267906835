// Package auth authenticates callers by the bearer tokens of one OpenID Connect issuer, and by access tokens. Package access decides what
// callers may do.
//
// go-oidc does the discovery, and go-jose verifies signatures and times. This package caches the published keys itself. The key set of
// go-oidc asks the issuer again for every signature that does not verify, so anyone could make this server flood the issuer.
package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/oklog/ulid/v2"
)

const (
	// MaxTokenBytes is the greatest length of a token. Longer tokens are refused unread.
	MaxTokenBytes = 16 << 10
	// skew is the tolerated difference between the clocks of issuer and server.
	skew = time.Minute
)

// algorithms lists the accepted signature algorithms. It must never contain "none" or an algorithm with a shared secret, because a
// published key would then serve as the secret.
var algorithms = []jose.SignatureAlgorithm{
	oidc.RS256, oidc.RS384, oidc.RS512,
	oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.EdDSA, ed25519Name,
}

// ed25519Name is the algorithm name that RFC 9864 gives to Ed25519.
const ed25519Name = "Ed25519"

// Identity is the user that a token identifies, as the issuer describes them. Name, Username, Email and Groups may be empty.
type Identity struct {
	Issuer       string
	Subject      string
	Name         string
	Username     string // login name; the only name in an access token of Cognito
	Email        string // confirmed by the issuer
	EmailRefused bool   // the token has an address that is not confirmed or not plain
	Groups       []string
	Expires      time.Time
}

// UserID returns the id of the user: the first 128 bits of SHA-256 over issuer, a zero byte and subject, written as a ULID. So everyone
// with a token has an id, and nothing needs to be stored.
func (i Identity) UserID() string {
	sum := sha256.Sum256([]byte(i.Issuer + "\x00" + i.Subject))
	return ulid.ULID(sum[:16]).String()
}

// Config holds the settings of a Verifier.
type Config struct {
	Issuer   string // exactly as in its tokens
	Audience string // that tokens must be meant for
	// VerifiesEmail says that the issuer confirms every e-mail address in its tokens, even if email_verified is missing.
	VerifiesEmail bool
	// Transport sends the requests to the issuer; nil means http.DefaultTransport. Each request has a timeout of some seconds.
	Transport http.RoundTripper
	Now       func() time.Time // nil means time.Now
}

// maxCached is the number of entries in a cache of tokens.
const maxCached = 4096

func newCache[D comparable, V any]() *lru.Cache[D, V] {
	cache, _ := lru.New[D, V](maxCached) // fails only for sizes below 1
	return cache
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	Config
	keys  *keySet
	cache *lru.Cache[[sha256.Size]byte, verified]
}

// verified is a cached identity. Verifying a signature costs as much as the rest of a small request. The entry is valid until the token
// expires or the keys of the issuer are fetched again, so that withdrawing a key withdraws its tokens.
type verified struct {
	keys     *published
	identity Identity
}

// New returns a Verifier. It sends no request; the first token does.
func New(c Config) (*Verifier, error) {
	issuer, err := url.Parse(c.Issuer)
	if err != nil || issuer.Scheme != "http" && issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" ||
		issuer.Fragment != "" {
		return nil, fmt.Errorf("issuer %q: give its URL as it stands in its tokens, such as https://login.example", c.Issuer)
	}
	if c.Audience == "" {
		return nil, fmt.Errorf("issuer %s: say which audience its tokens must be meant for", c.Issuer)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	client := &http.Client{Transport: boundedTransport{cmp.Or(c.Transport, http.DefaultTransport)}}
	return &Verifier{Config: c, keys: &keySet{issuer: c.Issuer, client: client, now: c.Now},
		cache: newCache[[sha256.Size]byte, verified]()}, nil
}

// Begin fetches the keys in the background, so that they are available for the first token. If the fetch fails, a token starts another
// one.
func (v *Verifier) Begin() { v.keys.refresh() }

// CheckIssuer waits for a fetch of the keys. It returns an error if the discovery document names another issuer, because then all tokens
// would be refused. It returns nil if the issuer cannot be reached, because that may change.
func (v *Verifier) CheckIssuer(ctx context.Context) error {
	var other *oidc.IssuerMismatchError
	if !errors.As(v.keys.wait(ctx), &other) {
		return nil
	}
	return fmt.Errorf("issuer %q: its discovery document is that of %q; give the issuer exactly as it stands there and in its tokens, to "+
		"the last slash", other.Provided, other.Discovered)
}

// Endpoints are the sign-in endpoints in the issuer's discovery document (OpenID Connect Discovery 1.0, section 3).
type Endpoints struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Scopes        []string `json:"scopes_supported"`
}

// Endpoints returns the endpoints of the issuer. It waits for the issuer's first answer. Its error is a problem.
func (v *Verifier) Endpoints(ctx context.Context) (Endpoints, error) {
	if _, err := v.keys.current(ctx); err != nil {
		return Endpoints{}, problem.Unavailable.Wrap(err, "You can't sign in now, because %s does not answer. Try again soon.",
			v.Issuer).After(minFetchInterval)
	}
	return *v.keys.endpoints.Load(), nil
}

// Verify returns the identity in a token. Its errors are problems. InvalidToken says what is wrong with the token. Unavailable says that
// the keys of the issuer cannot be fetched now.
func (v *Verifier) Verify(ctx context.Context, raw string) (Identity, error) {
	if len(raw) > MaxTokenBytes {
		return Identity{}, problem.InvalidToken.New("The bearer token has %s; at most %s are accepted. Ask %s for one with fewer claims.",
			problem.Size(len(raw)), problem.Size(MaxTokenBytes), v.Issuer)
	}
	digest := sha256.Sum256([]byte(raw))
	if known, _ := v.cache.Get(digest); known.keys != nil && known.keys == v.keys.fresh() && v.Now().Before(known.identity.Expires) {
		return known.identity.clone(), nil
	}
	token, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return Identity{}, problem.InvalidToken.Wrap(err,
			"The bearer token is not a JSON Web Token signed with one of %s. Send the access token or ID token of %s as it was given.",
			lists.Or(algorithms), v.Issuer)
	}
	if !isIdentityType(token.Headers[0]) {
		return Identity{}, problem.InvalidToken.New("The token is of another type (`typ`) than access tokens and ID tokens are. Send one of "+
			"those of %s.", v.Issuer)
	}
	c, keys, err := v.verifySignature(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	id, err := v.identity(c)
	if err != nil {
		return Identity{}, err
	}
	v.cache.Add(digest, verified{keys, id.clone()})
	return id, nil
}

// clone returns a copy of the identity, so that the caller may change its groups.
func (i Identity) clone() Identity {
	i.Groups = slices.Clone(i.Groups)
	return i
}

// isIdentityType reports whether a token with the header may identify its sender. Other types, such as logout+jwt, mark tokens that the
// issuer signs for another purpose (RFC 8725, section 3.11). Some issuers put a prefix before the type of access tokens (RFC 9068).
func isIdentityType(header jose.Header) bool {
	switch typ := header.ExtraHeaders[jose.HeaderType].(type) {
	case nil:
		return true
	case string:
		typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
		return typ == "jwt" || strings.HasSuffix("-"+typ, "-at+jwt")
	default:
		return false
	}
}

var errSignature = errors.New("no key of the issuer verifies the signature")

// verifySignature returns the claims of a token, and the published keys that verified it. If no held key fits, it asks the issuer for
// newer keys.
func (v *Verifier) verifySignature(ctx context.Context, token *jwt.JSONWebToken) (claims, *published, error) {
	keys, err := v.keys.current(ctx)
	if err != nil {
		return claims{}, nil, v.unavailable(err)
	}
	c, err := keys.claims(token)
	if errors.Is(err, errUnknownKey) {
		newer, fetchErr := v.keys.newer(ctx, keys)
		if fetchErr != nil {
			return claims{}, nil, v.unavailable(fetchErr)
		}
		if newer != keys {
			keys = newer
			c, err = keys.claims(token)
		}
	}
	switch {
	case errors.Is(err, errUnknownKey), errors.Is(err, errSignature):
		return claims{}, nil, problem.InvalidToken.Wrap(err, "The token is not signed by %s with a key that it uses now. Get a new one there.",
			v.Issuer)
	case err != nil:
		return claims{}, nil, problem.InvalidToken.Wrap(err, "The claims of the token can't be read. Get a new one from %s.", v.Issuer)
	}
	return c, keys, nil
}

func (v *Verifier) unavailable(err error) error {
	return problem.Unavailable.Wrap(err, "The token can't be checked now, because %s does not hand out its keys. Try again soon.",
		v.Issuer).After(minFetchInterval)
}

// Caller returns the caller with the identity.
func (i Identity) Caller() access.Caller {
	return access.Caller{
		ID: i.UserID(), Name: i.Name, Username: i.Username, Email: i.Email, EmailRefused: i.EmailRefused,
		Admin: slices.Contains(i.Groups, groupAdmins), Worker: slices.Contains(i.Groups, groupWorkers),
	}
}

// Caller verifies a token and returns the caller that it identifies. It returns the errors of Verify.
func (v *Verifier) Caller(ctx context.Context, token string) (access.Caller, error) {
	who, err := v.Verify(ctx, token)
	if err != nil {
		return access.Caller{}, err
	}
	return who.Caller(), nil
}
