package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/local/cli/client"
	"assay/local/cli/signin"
	"assay/shared/language/buildinfo"
	"assay/shared/language/lists"

	"github.com/cli/browser"
	"golang.org/x/oauth2"
)

// serverInfo holds the members of GET /info that commands need.
type serverInfo struct {
	Issuer, ClientID string
	Mail             bool
	Limits           struct{ InlineFiles, File, EvaluatedFiles int64 }
}

// info returns the description of the server. It asks the server once.
func (c *call) info() serverInfo {
	if c.about == nil {
		about := ask[serverInfo](c, http.MethodGet, "/info", nil)
		if c.err != nil {
			return about
		}
		c.about = &about
	}
	return *c.about
}

func signIn(c *call) {
	c.connect(c.arg(0))
	about := c.info()
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
	c.say(map[string]string{"server": c.server, "id": who.ID, "name": who.Name}, "Signed in to %s as %s.", c.server, who.name())
	c.noteEnvironment(who)
}

// noteEnvironment says which variables of the environment have precedence over the sign-in of a user.
func (c *call) noteEnvironment(who me) {
	if elsewhere := c.getenv("ASSAY_URL"); elsewhere != "" && !onServer(elsewhere, c.server) {
		c.note("But ASSAY_URL is set, so commands ask %s. To use this sign-in: unset ASSAY_URL", elsewhere)
		return
	}
	token := strings.TrimSpace(c.getenv("ASSAY_TOKEN"))
	if token == "" || c.err != nil {
		return
	}
	c.Token = func(context.Context, bool) (string, error) { return token, nil }
	other, err := client.Get[me](c.ctx, c.Client, client.Path("user"))
	switch {
	case err != nil:
		c.note("But ASSAY_TOKEN is set and comes first, and the server refuses it. To use this sign-in: unset ASSAY_TOKEN")
	case other.ID != who.ID:
		c.note("But ASSAY_TOKEN is set and comes first, so commands act as %s. To act as %s: unset ASSAY_TOKEN", other.name(), who.name())
	default:
		c.note("ASSAY_TOKEN is set and comes first. It is an access token of the same user.")
	}
}

// onServer reports whether a URL is on a server.
func onServer(text, server string) bool {
	return strings.HasPrefix(strings.TrimSuffix(text, "/")+"/", server+"/")
}

// keep changes the file of credentials.
func (c *call) keep(change func(*signin.File)) {
	file, err := signin.Open(filepath.Join(c.folder, "assay"))
	if !c.fail(err) {
		change(file)
		c.fail(file.Save())
	}
}

// develops reports whether the server has the development issuer. The issuer is the server itself, by any of its names.
func (i serverInfo) develops() bool { return i.ClientID == "" && strings.HasSuffix(i.Issuer, "/dev") }

// checkSignIn refuses flags that do not go with the server or with each other.
func (c *call) checkSignIn(about serverInfo) error {
	for _, flag := range []string{"user", "admin"} {
		switch {
		case !c.flags.Changed(flag):
		case c.yes("with-token"):
			return &refusal{failed, "An access token names its user, so --with-token does not go with --" + flag + ".",
				"the same command without --" + flag}
		case !about.develops():
			return &refusal{failed, "This server asks its sign-in issuer who you are: --" + flag + " is for development servers only.",
				"the same command without --" + flag}
		}
	}
	for _, flag := range []string{"device", "port"} {
		if given(c.flags, flag) && about.develops() {
			return &refusal{failed, "This development server signs in without a browser: --" + flag + " does nothing here.",
				"the same command without --" + flag}
		}
	}
	if c.flags.Changed("user") && strings.TrimSpace(c.text("user")) == "" {
		return &refusal{failed, "--user has no name.", "the same command with --user NAME"}
	}
	return nil
}

// newCredentials signs in with the method that the flags name, or otherwise with a method of the server.
func (c *call) newCredentials(about serverInfo, accepted func(token string) error) (*signin.Credentials, error) {
	if err := c.checkSignIn(about); err != nil {
		return nil, err
	}
	switch {
	case c.yes("with-token"):
		content, err := c.input("")
		token := strings.TrimSpace(string(content))
		if err == nil && token == "" {
			return nil, &refusal{failed, "There is no token on standard input.", "assay login " + c.server + " --with-token < token.txt"}
		}
		return &signin.Credentials{Token: token}, cmp.Or(err, accepted(token))
	case about.develops():
		k := &signin.Credentials{Developer: c.text("user")}
		if u, err := user.Current(); err == nil && k.Developer == "" {
			k.Developer = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
		}
		if c.yes("admin") {
			k.Groups = []string{"admins"}
		}
		if err := k.Develop(c.ctx, c.Base, c.noteWait); err != nil {
			return nil, err
		}
		return k, accepted(k.Token)
	case about.ClientID == "":
		return nil, &refusal{notSignedIn, "This server has no client at its issuer for programs to sign in with.",
			"make an access token where you sign in, and: assay login " + c.server + " --with-token < token.txt"}
	}
	issuer, err := signin.Discover(c.ctx, about.Issuer, about.ClientID, c.noteWait)
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
	forgotten, current := false, ""
	c.keep(func(f *signin.File) {
		forgotten = f.Servers[c.server] != nil
		delete(f.Servers, c.server)
		if f.Current == c.server {
			f.Current = ""
		}
		current = f.Current
	})
	said := "Signed out of %s on this machine."
	if !forgotten {
		said = "You were not signed in to %s on this machine."
	}
	c.say(map[string]string{"server": c.server}, said, c.server)
	if c.getenv("ASSAY_TOKEN") == "" {
		return
	}
	which := "commands"
	if c.getenv("ASSAY_URL") == "" && current == "" {
		which = "commands with --server"
	}
	c.note("But ASSAY_TOKEN is set, so %s still act as its user. To end this too: unset ASSAY_TOKEN", which)
}

// mostDays is the greatest number of days for which an access token is accepted, which the server limits to a year.
const mostDays = 365

func makeToken(c *call) {
	scopes, err := c.flags.GetStringSlice("scopes")
	c.fail(err)
	days := c.number("days")
	if days < 1 || days > mostDays {
		c.fail(&refusal{failed, fmt.Sprintf("--days: must be from 1 to %d, and is %d.", mostDays, days), ""})
	}
	body := map[string]any{"name": c.arg(0), "scopes": scopes,
		"expiresAt": time.Now().AddDate(0, 0, days).UTC().Truncate(time.Second)}
	if pools := c.pools(); len(pools) > 0 {
		body["pools"] = pools
	}
	made := c.post(client.Path("user", "tokens"), body)
	c.say(made, "%s", made.text("secret"))
}

// pools returns the pools of the flag in the form of the API. People write the name of an organizer in place of its id.
func (c *call) pools() []string {
	pools, err := c.flags.GetStringSlice("pools")
	if c.fail(err) {
		return nil
	}
	for i, pool := range pools {
		organizer, name, ok := strings.Cut(pool, "/")
		if !ok {
			continue // It is the pool of the platform, or the server refuses it.
		}
		all := c.me().Memberships
		at := slices.IndexFunc(all, func(m membership) bool {
			return m.OrganizerID == organizer || strings.EqualFold(m.OrganizerName, organizer)
		})
		if at < 0 && c.err == nil {
			known := lists.Map(all, func(m membership) string { return m.OrganizerName })
			c.fail(&refusal{notFound, fmt.Sprintf("You are no member of an organizer %q.%s", organizer, closest(organizer, known)),
				"--pools ORGANIZER/NAME with the name of one of your organizers"})
		}
		if at >= 0 {
			pools[i] = all[at].OrganizerID + "/" + name
		}
	}
	return pools
}

func deleteToken(c *call) {
	ask[object](c, http.MethodDelete, client.Path("user", "tokens", c.arg(0)), nil)
	c.say(map[string]string{"id": c.arg(0)}, "Deleted the access token %s. The server refuses it within 10 seconds.", c.arg(0))
}

func showVersion(c *call) {
	v, commit := buildinfo.Version, buildinfo.Commit()
	c.say(map[string]string{"version": v, "commit": commit}, "%s", strings.TrimSpace("assay "+v+" "+commit))
}
