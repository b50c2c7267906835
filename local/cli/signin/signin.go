package signin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"

	"golang.org/x/oauth2"
)

// Issuer is the configuration to sign in at the OpenID Connect issuer of a server.
type Issuer struct{ config oauth2.Config }

// Discover reads the configuration of the issuer (OpenID Connect Discovery 1.0).
func Discover(ctx context.Context, issuer, clientID string, notify client.Notify) (*Issuer, error) {
	base, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	has, err := client.Get[struct {
		Issuer string
		Auth   string   `json:"authorization_endpoint"`
		Token  string   `json:"token_endpoint"`
		Device string   `json:"device_authorization_endpoint"`
		Scopes []string `json:"scopes_supported"`
	}](ctx, client.New(base, "", notify), strings.TrimSuffix(base.Path, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, fmt.Errorf("the sign-in issuer of the server: %w", err)
	}
	if has.Issuer != issuer {
		return nil, fmt.Errorf("the sign-in issuer %s calls itself %s", issuer, has.Issuer)
	}
	scopes := []string{"openid", "email", "profile"}
	for _, s := range []string{"groups", "offline_access"} { // These scopes give roles and a refresh token, if the issuer has them.
		if slices.Contains(has.Scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return &Issuer{oauth2.Config{ClientID: clientID, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: has.Auth, TokenURL: has.Token,
		DeviceAuthURL: has.Device, AuthStyle: oauth2.AuthStyleInParams}}}, nil // The client is public.
}

// patiently returns a context in which package oauth2 uses the client of this program.
func patiently(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, client.Plain())
}

// ByDevice signs in on another device. It calls show with the address and the code to enter there.
func (i *Issuer) ByDevice(ctx context.Context, show func(address, code string)) (*oauth2.Token, error) {
	if i.config.Endpoint.DeviceAuthURL == "" {
		return nil, errors.New("the issuer cannot sign in other devices: leave --device out")
	}
	ctx = patiently(ctx)
	a, err := i.config.DeviceAuth(ctx)
	if err != nil {
		return nil, err
	}
	show(cmp.Or(a.VerificationURIComplete, a.VerificationURI), a.UserCode)
	return i.config.DeviceAccessToken(ctx, a)
}

// ByBrowser signs in with an authorization code and PKCE (RFC 7636). The browser returns to a port of this machine (RFC 8252, section 7.3);
// the port 0 means any free port. It calls show with the address to open.
func (i *Issuer) ByBrowser(ctx context.Context, port int, show func(address string)) (*oauth2.Token, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	config := i.config
	config.RedirectURL = "http://" + l.Addr().String() + "/callback"
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	codes := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 16, Handler: callback(state, codes)}
	go func() { _ = server.Serve(l) }() // Shutdown ends it.
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier)}
	if slices.Contains(config.Scopes, "offline_access") {
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent")) // OpenID Connect Core 1.0, section 11
	}
	show(config.AuthCodeURL(state, options...))
	select {
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), server.Close())
	case answer := <-codes:
		soon, stop := context.WithTimeout(ctx, time.Second) // Wait until the page is sent, but not for idle connections.
		defer stop()
		_ = errors.Join(server.Shutdown(soon), server.Close())
		if code := answer.Get("error"); code != "" {
			return nil, fmt.Errorf("the issuer refused: %s. Those who run this server let the client %s return to 127.0.0.1",
				strings.TrimSpace(code+" "+answer.Get("error_description")), config.ClientID)
		}
		return config.Exchange(patiently(ctx), answer.Get("code"), oauth2.VerifierOption(verifier))
	}
}

// callback returns a handler that accepts the issuer's answer to the sign-in with the state, once.
func callback(state string, codes chan<- url.Values) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		if r.URL.Path != "/callback" || r.FormValue("state") != state {
			http.Error(w, "This is no answer to the sign-in that was begun in the terminal.", http.StatusNotFound)
			return
		}
		select {
		case codes <- r.Form:
			_, _ = fmt.Fprintln(w, "Go on in the terminal. This page can be closed.") // Without the page, the sign-in still works.
		default:
			http.Error(w, "This sign-in is over.", http.StatusNotFound)
		}
	})
}

// Keep returns credentials for the server from a token of the issuer. Some servers take the issuer's ID token, and others its access token.
// accepted returns an error if the server refuses a token.
func (i *Issuer) Keep(t *oauth2.Token, accepted func(token string) error) (*Credentials, error) {
	var refused error
	for _, uses := range []string{usesIDToken, ""} {
		c := &Credentials{ClientID: i.config.ClientID, TokenURL: i.config.Endpoint.TokenURL, Uses: uses}
		c.take(t)
		if err := accepted(c.Token); err == nil {
			return c, nil
		} else if refused == nil {
			refused = err
		}
	}
	return nil, refused
}

// Develop gets a token from the development issuer of a server. This issuer gives tokens for any user.
func (c *Credentials) Develop(ctx context.Context, server *url.URL, notify client.Notify) error {
	t, err := client.Call[struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}](ctx, client.New(server, "", notify), http.MethodPost, "/dev/token",
		map[string]any{"user": c.Developer, "groups": c.Groups})
	c.Token = t.AccessToken
	c.ExpiresAt = time.Now().Add(time.Duration(t.ExpiresIn) * time.Second)
	return err
}
