package main

import (
	"context"
	"net/http"
	"path/filepath"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/auth/devissuer"
)

// audience is whom the development issuer's tokens are meant for.
const audience = "assay"

// identity is who the server trusts.
type identity struct {
	issuer string
	verify func(ctx context.Context, token string) (access.Caller, error)
	dev    *devissuer.Issuer // nil unless the development issuer is on
}

// newIdentity trusts the issuer of the flags or, without one, a development issuer at the base URL, whose tokens are
// verified in exactly the same way.
func newIdentity(ctx context.Context, c settings, baseURL string) (identity, error) {
	id := identity{issuer: c.issuer}
	trust := auth.Config{Issuer: c.issuer, Audience: c.audience, Client: &http.Client{}}
	if c.issuer == "" {
		id.issuer = baseURL + "/dev"
		dev, err := devissuer.Open(filepath.Join(c.data, "dev-issuer.key"), id.issuer, audience)
		if err != nil {
			return id, err
		}
		id.dev = dev
		trust = auth.Config{Issuer: id.issuer, Audience: audience, Client: dev.Client()}
	}
	v, err := auth.New(trust)
	if err != nil {
		return id, err
	}
	id.verify = v.Caller
	return id, v.CheckIssuer(ctx)
}
