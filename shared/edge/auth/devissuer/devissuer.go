// Package devissuer is an OpenID Connect issuer for development and tests. It gives everyone a token for any user they name. With it,
// Assay runs with nothing else installed, and its tokens are verified exactly like those of a real issuer.
//
// Everyone who can reach the issuer can become an admin.
package devissuer

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/storage/durable"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Lifetime is the validity of a token.
const Lifetime = 12 * time.Hour

// Issuer issues tokens.
type Issuer struct {
	url       string
	parsedURL *url.URL // of url
	audience  string
	signer    jose.Signer
	public    jose.JSONWebKey
}

// User is a request for a token. It has the claims about the user.
type User struct {
	User   string   `json:"user,omitempty"` // the subject
	Name   string   `json:"name,omitempty" nullable:"true"`
	Email  string   `json:"email,omitempty" nullable:"true"`
	Groups []string `json:"groups,omitempty" nullable:"true"`
}

// Open returns an issuer with the URL that issues tokens for the audience. It reads its key from keyFile, and creates a missing file, so
// that tokens remain valid after a restart. If keyFile is empty, the key is lost when the process ends.
func Open(keyFile, issuerURL, audience string) (*Issuer, error) {
	u, err := url.Parse(issuerURL)
	if err != nil || u.Host == "" || strings.HasSuffix(u.Path, "/") {
		return nil, fmt.Errorf("development issuer: %q is no URL such as http://127.0.0.1:8080/dev, without a slash at the end", issuerURL)
	}
	key, err := readKey(keyFile)
	if keyFile == "" || errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(keyFile)
	}
	if err != nil {
		return nil, fmt.Errorf("development issuer: %w", err)
	}
	public := jose.JSONWebKey{Key: key.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("development issuer: %w", err)
	}
	public.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: public.KeyID}},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return nil, fmt.Errorf("development issuer: %w", err)
	}
	return &Issuer{url: issuerURL, parsedURL: u, audience: audience, signer: signer, public: public}, nil
}

// Token returns a token that is valid from now for Lifetime. An empty name defaults to the subject.
func (i *Issuer) Token(u User) (string, error) {
	now := time.Now()
	return jwt.Signed(i.signer).Claims(jwt.Claims{
		Issuer:   i.url,
		Subject:  u.User,
		Audience: jwt.Audience{i.audience},
		IssuedAt: jwt.NewNumericDate(now),
		Expiry:   jwt.NewNumericDate(now.Add(Lifetime)),
	}).Claims(struct {
		Name     string   `json:"name"`
		Email    string   `json:"email,omitempty"`
		Verified bool     `json:"email_verified,omitempty"`
		Groups   []string `json:"groups,omitempty"`
	}{Name: cmp.Or(u.Name, u.User), Email: u.Email, Verified: u.Email != "", Groups: u.Groups}).Serialize()
}

func readKey(file string) (*ecdsa.PrivateKey, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	broken := func(why string) error {
		return fmt.Errorf("key file %s %s: remove it to have a new one made; tokens given out before then stop working", file, why)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, broken("is not in PEM form")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, broken("holds no PKCS #8 key")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, broken("holds no key on the curve P-256")
	}
	return key, nil
}

// makeKey generates a key. If file is not empty, it writes the key to the file atomically.
func makeKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil || file == "" {
		return key, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, durable.WriteBytes(filepath.Dir(file), file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// RoundTrip answers requests to the issuer within this process, whatever host they name. So a server can verify the tokens of its own
// issuer before it listens, and behind any proxy.
func (i *Issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := i.respond(r)
	if err != nil {
		return nil, err
	}
	document, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(document)), ContentLength: int64(len(document)), Request: r,
	}, nil
}
