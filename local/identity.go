package main

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"

	"assay/shared/access"
	"assay/shared/auth"
	"assay/shared/auth/devissuer"
)

// The groups of tokens that give a role on the whole platform.
const (
	groupAdmins  = "admins"
	groupWorkers = "workers"
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
func newIdentity(c config, baseURL string) (identity, error) {
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
	id.verify = func(ctx context.Context, token string) (access.Caller, error) {
		who, err := v.Verify(ctx, token)
		if err != nil {
			return access.Caller{}, err
		}
		return caller(who), nil
	}
	return id, nil
}

// caller is who the identity is to the platform.
func caller(who auth.Identity) access.Caller {
	return access.Caller{
		ID: who.UserID(), Name: who.Name, Email: who.Email,
		Admin: slices.Contains(who.Groups, groupAdmins), Worker: slices.Contains(who.Groups, groupWorkers),
	}
}
