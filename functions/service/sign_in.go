package service

import (
	"context"
	_ "embed"
	"net/url"
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
	issuer      string
	development bool   // the server signs in every caller
	metadata    string // of issuer and client, as JSON for the script; empty: the page can't sign in
}

// signInMetadata is what the script knows of issuer and client.
type signInMetadata struct {
	ClientID string `json:"client_id"`
	auth.Endpoints
}

// signIn writes the page that signs in by the authorization code flow with PKCE (RFC 6749, RFC 7636). Its script exchanges the code, so
// that no token reaches the server before its user sends it, and the server needs no state and no secret.
func signIn(ctx context.Context, c *api.Call) error {
	v := signInView{issuer: c.Info.Issuer, development: isDevelopment(c.Info.Issuer, c.BaseURL())}
	page := webpage.Page{Title: "Sign in", Here: "/sign-in"}
	if v.development {
		v.metadata = "{}"
	}
	if c.Info.ClientID != "" {
		endpoints, err := c.Endpoints(ctx)
		if err != nil {
			return err
		}
		token, err := url.Parse(endpoints.Token)
		if err != nil || token.Scheme != "https" && token.Scheme != "http" || strings.ContainsAny(token.Host, "*;,' ") {
			return problem.Unavailable.Wrap(err, "You can't sign in, because the discovery document of %s names no address for tokens.", v.issuer)
		}
		metadata, err := api.Encode(signInMetadata{c.Info.ClientID, endpoints})
		if err != nil {
			return err
		}
		v.metadata, page.Connect = string(metadata), " "+token.Scheme+"://"+token.Host
	}
	if v.metadata != "" {
		page.Script, page.Connect = signInScript, "'self'"+page.Connect
	}
	page.Main = signInPage(v)
	return page.Send(ctx, c)
}

// isDevelopment reports whether the issuer is the server's own, which gives everyone a token.
func isDevelopment(issuer, base string) bool { return issuer == base+"/dev" }
