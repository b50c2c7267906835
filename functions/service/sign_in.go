package service

import (
	"context"
	_ "embed"
	"net/url"
	"slices"
	"strings"

	"assay/shared/api"
	"assay/shared/auth"
	"assay/shared/problem"
	"assay/shared/webpage"
)

//go:embed sign_in.js
var signInScript string

// signInView has the data of the page to sign in.
type signInView struct {
	issuer, clientID string
	development      bool // the server signs in every caller
	endpoints        auth.Endpoints
}

func (v *signInView) works() bool { return v.development || v.clientID != "" }

// scopes are those that are asked for: of groups, which give roles, if the issuer knows them by a scope.
func (v *signInView) scopes() []string {
	scopes := []string{"openid", "email", "profile"}
	if slices.Contains(v.endpoints.Scopes, "groups") {
		scopes = append(scopes, "groups")
	}
	return scopes
}

// signIn writes the page that signs in by the authorization code flow with PKCE (RFC 6749, RFC 7636). Its script exchanges the code, so
// that no token reaches the server before its user sends it, and the server needs no state and no secret.
func signIn(ctx context.Context, c *api.Call) error {
	v := signInView{issuer: c.Info.Issuer, clientID: c.Info.ClientID, development: isDevelopment(c.Info.Issuer, c.BaseURL())}
	page := webpage.Page{Title: "Sign in", Here: "/sign-in"}
	if v.works() {
		page.Script, page.Connect = signInScript, "'self'"
	}
	if v.clientID != "" {
		var err error
		if v.endpoints, err = c.Endpoints(ctx); err != nil {
			return err
		}
		token, err := url.Parse(v.endpoints.Token)
		if err != nil || token.Scheme != "https" && token.Scheme != "http" || strings.ContainsAny(token.Host, "*;,' ") {
			return problem.Unavailable.Wrap(err, "You can't sign in, because the discovery document of %s names no address for tokens.", v.issuer)
		}
		page.Connect += " " + token.Scheme + "://" + token.Host
	}
	page.Main = signInPage(v)
	return page.Send(ctx, c)
}

// isDevelopment reports whether the issuer is the server's own, which gives everyone a token.
func isDevelopment(issuer, base string) bool { return issuer == base+"/dev" }
