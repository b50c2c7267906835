// Package signin stores the credentials of a user for servers, and gets tokens from sign-in issuers.
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

	"assay/local/cli/client"
	"assay/shared/storage/durable"

	"golang.org/x/oauth2"
)

// Credentials is the result of a sign-in to one server.
type Credentials struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Refresh and the members after it get the next token. They are empty for access tokens of Assay.
	Refresh  string `json:"refresh,omitempty"`
	ClientID string `json:"clientId,omitempty"`
	TokenURL string `json:"tokenUrl,omitempty"`
	Uses     string `json:"uses,omitempty"` // idToken if the server takes the issuer's ID token instead of its access token
	// Developer and Groups are the user of the development issuer.
	Developer string   `json:"developer,omitempty"`
	Groups    []string `json:"groups,omitempty"`
}

// File holds credentials by server. The current server is the server of the latest sign-in.
type File struct {
	path    string
	Notify  client.Notify           `json:"-"` // called before each wait for an issuer
	Current string                  `json:"current,omitempty"`
	Servers map[string]*Credentials `json:"servers"`
}

// Open reads the file in the folder. A missing file has no credentials.
func Open(folder string) (*File, error) {
	f := &File{Notify: func(string, time.Duration) {}, path: filepath.Join(folder, "credentials.json"), Servers: map[string]*Credentials{}}
	content, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err = cmp.Or(err, json.Unmarshal(content, f)); err != nil {
		return nil, fmt.Errorf("the credentials in %s cannot be read: %w; remove the file and sign in again", f.path, err)
	}
	return f, nil
}

// Save writes the file. Only its owner can read it.
func (f *File) Save() error {
	content, err := json.MarshalIndent(f, "", "  ")
	folder := filepath.Dir(f.path)
	if err := cmp.Or(err, os.MkdirAll(folder, 0o700)); err != nil {
		return err
	}
	return durable.WriteBytes(folder, f.path, content) // It writes files with the mode 0600.
}

// early is the time before the expiry of a token at which it is replaced.
const early = 30 * time.Second

// Fresh returns a token for the server. It gets another token if the current token is about to expire or was refused. The token is empty if
// nobody is signed in.
func (f *File) Fresh(ctx context.Context, server string, refused bool) (string, error) {
	c := cmp.Or(f.Servers[server], &Credentials{})
	used := c.Token
	expired := func() bool { return !c.ExpiresAt.IsZero() && time.Until(c.ExpiresAt) < early }
	if !refused && !expired() || c.Developer+c.Refresh == "" {
		return c.Token, nil
	}
	now, err := Open(filepath.Dir(f.path)) // Another process may have stored a new token, or signed out.
	if err != nil {
		return "", err
	}
	now.Notify = f.Notify
	*f, c = *now, cmp.Or(now.Servers[server], &Credentials{})
	if c.Token != used && !expired() {
		return c.Token, nil
	}
	if c.Developer != "" {
		base, err := url.Parse(server)
		if err == nil {
			err = c.Develop(ctx, base, f.Notify)
		}
		if err != nil {
			return "", err
		}
		return c.Token, f.Save()
	}
	config := oauth2.Config{ClientID: c.ClientID, Endpoint: oauth2.Endpoint{TokenURL: c.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
	t, err := config.TokenSource(patiently(ctx), &oauth2.Token{RefreshToken: c.Refresh}).Token()
	if err != nil {
		if _, gone := errors.AsType[*oauth2.RetrieveError](err); gone { // The sign-in is over. The server refuses the old token and says so.
			return c.Token, nil
		}
		return "", fmt.Errorf("the sign-in issuer does not answer: %w", err)
	}
	c.take(t)
	return c.Token, f.Save()
}

// take stores the tokens of an answer of the issuer.
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
