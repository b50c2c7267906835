package main

import (
	"cmp"
	"context"
	"net/http"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/signin"
	"assay/shared/language/buildinfo"

	"github.com/cli/browser"
	"golang.org/x/oauth2"
)

// serverInfo holds the members of GET /info that commands need.
type serverInfo struct {
	Issuer, ClientID string
	Limits           struct{ InlineFiles int64 }
}

func signIn(c *call) {
	c.connect(c.arg(0))
	about := ask[serverInfo](c, http.MethodGet, "/info", nil)
	if c.err != nil {
		return
	}
	var who me
	kept, err := c.newCredentials(about, func(token string) (err error) {
		c.Token = func(context.Context, bool) (string, error) { return token, nil }
		who, err = client.Get[me](c.ctx, c.Client, client.Path("user"))
		return err
	})
	if c.fail(err) {
		return
	}
	c.keep(func(f *signin.File) { f.Current, f.Servers[c.server] = c.server, kept })
	c.say(map[string]string{"server": c.server, "id": who.ID, "name": who.Name}, "Signed in to %s as %s.", c.server,
		cmp.Or(who.Name, who.ID))
}

// keep changes the file of credentials.
func (c *call) keep(change func(*signin.File)) {
	file, err := signin.Open(filepath.Join(c.folder, "assay"))
	if !c.fail(err) {
		change(file)
		c.fail(file.Save())
	}
}

// newCredentials signs in with the method that the flags name, or otherwise with a method of the server.
func (c *call) newCredentials(about serverInfo, accepted func(token string) error) (*signin.Credentials, error) {
	switch {
	case c.yes("with-token"):
		content, err := c.input("")
		token := strings.TrimSpace(string(content))
		return &signin.Credentials{Token: token}, cmp.Or(err, accepted(token))
	case about.ClientID == "" && strings.HasSuffix(about.Issuer, "/dev"): // The issuer is the server itself, by any of its names.
		k := &signin.Credentials{Developer: c.text("user")}
		if u, err := user.Current(); err == nil && k.Developer == "" {
			k.Developer = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
		}
		if c.yes("admin") {
			k.Groups = []string{"admins"}
		}
		if err := k.Develop(c.ctx, c.Base); err != nil {
			return nil, err
		}
		return k, accepted(k.Token)
	case about.ClientID == "":
		return nil, &refusal{notSignedIn, "This server has no client at its issuer for programs to sign in with.",
			"make an access token where you sign in, and: assay login " + c.server + " --with-token < token.txt"}
	}
	issuer, err := signin.Discover(c.ctx, about.Issuer, about.ClientID)
	if err != nil {
		return nil, err
	}
	var token *oauth2.Token
	if c.yes("device") {
		token, err = issuer.ByDevice(c.ctx, func(address, code string) {
			c.note("Open %s on any device and enter the code %s, if %s may act as you", address, code, c.server)
		})
	} else {
		token, err = issuer.ByBrowser(c.ctx, c.number("port"), func(address string) {
			c.note("Sign in with your browser, if %s may act as you. If none opens, open this address on this machine:\n%s", c.server, address)
			if c.terminal && link.MatchString(address) { // Addresses of other schemes could run programs.
				browser.Stdout = c.errs
				go func() { _ = browser.OpenURL(address) }() // If it fails, the user opens the address that was printed.
			}
		})
	}
	if err != nil {
		return nil, err
	}
	return issuer.Keep(token, accepted)
}

func signOut(c *call) {
	c.connect(c.arg(0))
	c.keep(func(f *signin.File) {
		delete(f.Servers, c.server)
		if f.Current == c.server {
			f.Current = ""
		}
	})
	c.say(map[string]string{"server": c.server}, "Signed out of %s on this machine.", c.server)
}

func makeToken(c *call) {
	scopes, err := c.flags.GetStringSlice("scopes")
	c.fail(err)
	made := c.post(client.Path("user", "tokens"), map[string]any{"name": c.arg(0), "scopes": scopes,
		"expiresAt": time.Now().AddDate(0, 0, c.number("days")).UTC().Truncate(time.Second)})
	c.say(made, "%s", made.text("secret"))
}

func deleteToken(c *call) {
	ask[object](c, http.MethodDelete, client.Path("user", "tokens", c.arg(0)), nil)
	c.say(map[string]string{"id": c.arg(0)}, "Deleted the access token %s.", c.arg(0))
}

func showVersion(c *call) {
	v, commit := buildinfo.Version, buildinfo.Commit()
	c.say(map[string]string{"version": v, "commit": commit}, "%s", strings.TrimSpace("assay "+v+" "+commit))
}
