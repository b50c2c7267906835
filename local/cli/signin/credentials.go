// Package signin keeps who somebody is at which server, and gets the tokens that say so.
package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"assay/shared/durable"

	"golang.org/x/oauth2"
)

// Credentials are what a sign-in left for one server.
type Credentials struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Refresh and the members after it get the next token; absent for access tokens of Assay's own.
	Refresh  string `json:"refresh,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	TokenURL string `json:"tokenUrl,omitempty"`
	Uses     string `json:"uses,omitempty"` // idToken where the server takes that instead of the access token of the issuer
	// Developer is who the development issuer was asked for, with Groups, and is asked for again.
	Developer string   `json:"developer,omitempty"`
	Groups    []string `json:"groups,omitempty"`
}

// File is where credentials are kept, by server; the last that was signed in to is the current one.
type File struct {
	path    string
	Current string                  `json:"current,omitempty"`
	Servers map[string]*Credentials `json:"servers"`
}

// Open reads the file of the folder; of one that is missing there are no credentials yet.
func Open(folder string) (*File, error) {
	f := &File{path: filepath.Join(folder, "credentials.json"), Servers: map[string]*Credentials{}}
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err = cmp.Or(err, json.Unmarshal(content, f)); err != nil {
		return nil, fmt.Errorf("the credentials in %s cannot be read: %w; remove the file and sign in again", f.path, err)
	}
	return f, nil
}

// Save writes the file for its owner's eyes alone.
func (f *File) Save() error {
	content, err := json.MarshalIndent(f, "", "  ")
	folder := filepath.Dir(f.path)
	if err := cmp.Or(err, os.MkdirAll(folder, 0o700)); err != nil {
		return err
	}
	return durable.WriteBytes(folder, f.path, content) // with 0600, as temporary files have
}

// early is how long before its end a token is replaced.
const early = 30 * time.Second

// Fresh returns a token for the server, another one where it is about to expire or was refused; empty: nobody is signed in.
func (f *File) Fresh(ctx context.Context, server string, refused bool) (string, error) {
	c := cmp.Or(f.Servers[server], &Credentials{})
	used := c.Token
	expired := func() bool { return !c.ExpiresAt.IsZero() && time.Until(c.ExpiresAt) < early }
	if !refused && !expired() || c.Developer+c.Refresh == "" {
		return c.Token, nil
	}
	now, err := Open(filepath.Dir(f.path)) // as other processes left it: with the next token, or signed out
	if err != nil {
		return "", err
	}
	*f, c = *now, cmp.Or(now.Servers[server], &Credentials{})
	if c.Token != used && !expired() {
		return c.Token, nil
	}
	if c.Developer != "" {
		base, err := url.Parse(server)
		if err == nil {
			err = c.Develop(ctx, base)
		}
		if err != nil {
			return "", err
		}
		return c.Token, f.Save()
	}
	config := oauth2.Config{ClientID: c.ClientID, Endpoint: oauth2.Endpoint{TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
	t, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: c.Refresh}).Token()
	if err != nil {
		if _, gone := errors.AsType[*oauth2.RetrieveError](err); gone { // the sign-in is over: the server says so
			return c.Token, nil
		}
		return "", fmt.Errorf("the sign-in issuer does not answer: %w", err)
	}
	c.take(t)
	return c.Token, f.Save()
}

// take keeps what the issuer answered.
func (c *Credentials) take(t *oauth2.Token) {
	c.Token, c.ExpiresAt = t.AccessToken, t.Expiry
	if id, ok := t.Extra("id_token").(string); ok && c.Uses == usesIDToken {
		c.Token = id
	}
	if t.RefreshToken != "" {
		c.Refresh = t.RefreshToken
	}
}

const usesIDToken = "idToken"
