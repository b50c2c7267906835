// Package devissuer is an OpenID Connect issuer for development and tests: it gives anyone who asks a token for any
// user they name. It lets Assay be tried with nothing else installed, while its tokens go through
// exactly the verification of real ones.
//
// It must never be reachable by anyone who is not meant to be an admin.
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

	"assay/shared/durable"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Lifetime is how long a token is valid.
const Lifetime = 12 * time.Hour

// Issuer makes tokens.
type Issuer struct {
	url       string
	parsedURL *url.URL // of url
	audience  string
	signer    jose.Signer
	public    jose.JSONWebKey
}

// User has the claims of a token about its user.
type User struct {
	User   string   `json:"user,omitempty"` // the subject
	Name   string   `json:"name,omitempty" nullable:"true"`
	Email  string   `json:"email,omitempty" nullable:"true"`
	Groups []string `json:"groups,omitempty" nullable:"true"`
}

// Open makes an issuer with the given URL, whose tokens are meant for the given audience. Its key is kept in the file
// keyFile, which is made when it is missing, so that tokens outlive a restart. Without a file the key ends with the process.
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

// Token returns a token that is valid from now for Lifetime. A user without a name is called by their subject.
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

// makeKey makes a key and keeps it in a file, if there is one, whole or not at all.
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

// RoundTrip reaches the issuer within this process, whatever host its URL names. So a server can verify the tokens of its own issuer
// before it serves, and behind any proxy.
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
