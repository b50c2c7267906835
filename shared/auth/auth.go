// Package auth authenticates callers: it verifies the bearer tokens of one OpenID Connect issuer. What a caller may do is
// decided by package access.
//
// Discovery is go-oidc's, signatures and times are go-jose's. The published keys are held by this package, since
// go-oidc's own key set asks the issuer again for every signature that doesn't verify, and so lets
// anyone make this server flood the issuer.
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

	"assay/shared/access"
	"assay/shared/problem"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/oklog/ulid/v2"
)

const (
	// MaxTokenBytes is the longest token that is looked at.
	MaxTokenBytes = 16 << 10
	// skew is how far the clocks of issuer and server may be apart.
	skew = time.Minute
)

// algorithms that a token may be signed with. Those with a shared secret and "none" must never be among them: a published
// key would then pass for the secret.
var algorithms = []jose.SignatureAlgorithm{
	oidc.RS256, oidc.RS384, oidc.RS512,
	oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.EdDSA, ed25519Name,
}

// ed25519Name is the name of Ed25519 by itself (RFC 9864).
const ed25519Name = "Ed25519"

// Identity is the user that a token identifies, in the words of its issuer. Name, Username, Email and Groups may be missing.
type Identity struct {
	Issuer       string
	Subject      string
	Name         string
	Username     string // the name to log in with, which is all that an access token of Cognito says
	Email        string // one that the issuer has confirmed
	EmailRefused bool   // the token has an e-mail address that does not count
	Groups       []string
	Expires      time.Time
}

// UserID is the id of the user: the first 128 bits of SHA-256 over issuer, a zero byte and subject, written as a
// ULID. So everyone who has a token has an id, and nothing need be stored for it.
func (i Identity) UserID() string {
	sum := sha256.Sum256([]byte(i.Issuer + "\x00" + i.Subject))
	return ulid.ULID(sum[:16]).String()
}

// Config says whom a Verifier trusts.
type Config struct {
	Issuer   string // exactly as it stands in its tokens
	Audience string // whom its tokens must be meant for
	// VerifiesEmail says that the issuer confirms each e-mail address before it puts it into a token, also where email_verified is missing.
	VerifiesEmail bool
	// Transport makes the requests to the issuer; nil means http.DefaultTransport. Each is given up after some seconds.
	Transport http.RoundTripper
	Now       func() time.Time // nil means time.Now
}

// maxCached is how many tokens are remembered, by their digests.
const maxCached = 4096

func newCache[D comparable, V any]() *lru.Cache[D, V] {
	cache, _ := lru.New[D, V](maxCached) // it fails for a size below 1 alone
	return cache
}

// Verifier verifies tokens. It may be used concurrently.
type Verifier struct {
	Config
	keys  *keySet
	cache *lru.Cache[[sha256.Size]byte, verified]
}

// verified is the identity of a token, since verifying a signature costs as much as all the rest of a small request. It counts until the
// token expires, and as long as the keys of its issuer are not fetched again: a key that is withdrawn withdraws its tokens.
type verified struct {
	keys     *published
	identity Identity
}

// New makes a Verifier. It sends nothing: the issuer is first asked when the first token comes.
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

// Begin fetches the keys in the background, so that they are there when the first token comes. If that fails, the token
// fetches them again.
func (v *Verifier) Begin() { v.keys.refresh() }

// CheckIssuer waits for a fetch of the keys. Its error says that the discovery document is another
// issuer's, whose tokens would all be refused. That the issuer cannot be reached is no error: it may be later.
func (v *Verifier) CheckIssuer(ctx context.Context) error {
	var other *oidc.IssuerMismatchError
	if !errors.As(v.keys.wait(ctx), &other) {
		return nil
	}
	return fmt.Errorf("issuer %q: its discovery document is that of %q; give the issuer exactly as it stands there and in its tokens, to "+
		"the last slash", other.Provided, other.Discovered)
}

// Endpoints are where an issuer signs people in, as its discovery document has them (OpenID Connect Discovery 1.0, section 3).
type Endpoints struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Scopes        []string `json:"scopes_supported"`
}

// Endpoints returns those of the issuer, once it has answered. Its error is a problem.
func (v *Verifier) Endpoints(ctx context.Context) (Endpoints, error) {
	if _, err := v.keys.current(ctx); err != nil {
		return Endpoints{}, problem.Unavailable.Wrap(err, "You can't sign in now, because %s does not answer. Try again soon.",
			v.Issuer).After(minFetchInterval)
	}
	return *v.keys.endpoints.Load(), nil
}

// Verify returns the identity in a token. Its errors are problems: InvalidToken says what is wrong with the token, and
// Unavailable that it cannot be verified now, because the keys of its issuer cannot be fetched.
func (v *Verifier) Verify(ctx context.Context, raw string) (Identity, error) {
	if len(raw) > MaxTokenBytes {
		return Identity{}, problem.InvalidToken.New("The bearer token has %d bytes; at most %d are accepted. Ask %s for one with fewer claims.",
			len(raw), MaxTokenBytes, v.Issuer)
	}
	digest := sha256.Sum256([]byte(raw))
	if known, _ := v.cache.Get(digest); known.keys != nil && known.keys == v.keys.fresh() && v.Now().Before(known.identity.Expires) {
		return known.identity.clone(), nil
	}
	token, err := jwt.ParseSigned(raw, algorithms)
	if err != nil {
		return Identity{}, problem.InvalidToken.Wrap(err,
			"The bearer token is not a JSON Web Token signed with one of %v. Send the access token or ID token of %s as it was given.",
			algorithms, v.Issuer)
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

// clone returns the identity with groups of its own, which the caller may change.
func (i Identity) clone() Identity {
	i.Groups = slices.Clone(i.Groups)
	return i
}

// isIdentityType reports whether a token with the header may say who sends it. A type of its own has what an issuer signs for
// another purpose (RFC 8725, section 3.11), such as logout+jwt; some issuers put a prefix before that of access tokens (RFC 9068).
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

// verifySignature returns the claims of a token, and the published keys among which the one was that it is signed with. When
// the issuer may have begun to use another key, it is asked for its present ones.
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

// Caller returns who the identity is to the platform.
func (i Identity) Caller() access.Caller {
	return access.Caller{
		ID: i.UserID(), Name: i.Name, Username: i.Username, Email: i.Email, EmailRefused: i.EmailRefused,
		Admin: slices.Contains(i.Groups, groupAdmins), Worker: slices.Contains(i.Groups, groupWorkers),
	}
}

// Caller verifies a token and returns who its bearer is to the platform. Its errors are those of Verify.
func (v *Verifier) Caller(ctx context.Context, token string) (access.Caller, error) {
	who, err := v.Verify(ctx, token)
	if err != nil {
		return access.Caller{}, err
	}
	return who.Caller(), nil
}
