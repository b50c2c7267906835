package console

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"assay/shared/edge/api"
	"assay/shared/edge/auth"
	"assay/shared/edge/webpage"
	"assay/shared/language/problem"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

// settings are the data that the application needs before its first request. It reads them from an attribute of the page.
type settings struct {
	Issuer      string `json:"issuer"`
	Development bool   `json:"development"`         // the server gives everyone a token
	ClientID    string `json:"client_id,omitempty"` // if empty, users can only paste access tokens
	Problem     string `json:"problem,omitempty"`   // reason why nobody can sign in now
	auth.Endpoints
}

// shell writes the page that loads the application.
func shell(ctx context.Context, c *api.Call) error {
	s := settings{Issuer: c.Info.Issuer, Development: c.Development(), ClientID: c.Info.ClientID}
	connect := "'self'"
	if c.Info.FilesOrigin != "" {
		connect += " " + c.Info.FilesOrigin
	}
	if s.ClientID != "" {
		token, err := s.findIssuer(ctx, c)
		if err != nil {
			p, ok := errors.AsType[*problem.Error](err)
			if !ok {
				return err
			}
			s.Problem = p.Detail // Screens that need no sign-in still work.
		} else {
			connect += " " + token
		}
	}
	files, err := first()
	if err != nil {
		return err
	}
	config, err := api.Encode(s)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := shellPage(files, string(config)).Render(ctx, &out); err != nil {
		return err
	}
	c.SetContentPolicy(policy(c.BaseURL(), c.Host(), connect))
	return c.WriteDocument(webpage.MediaType+"; charset=utf-8", out.Bytes())
}

// findIssuer sets the endpoints of the issuer, and returns the origin of its token endpoint.
func (s *settings) findIssuer(ctx context.Context, c *api.Call) (origin string, err error) {
	if s.Endpoints, err = c.Endpoints(ctx); err != nil {
		return "", err
	}
	for _, address := range []string{s.Authorization, s.Token} {
		at, err := url.Parse(address)
		if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.ContainsAny(at.Host, "*;,' ") {
			return "", problem.Unavailable.Wrap(err, "You can't sign in, because the discovery document of %s lacks the address where people "+
				"sign in, or that for tokens.", s.Issuer)
		}
		origin = at.Scheme + "://" + at.Host
	}
	return origin, nil
}

var hostName = regexp.MustCompile(`^[0-9A-Za-z.-]+(:[0-9]+)?$`)

// policy returns the Content-Security-Policy of the application. Scripts and styles can only come from the bundle, not from uploaded files
// at the same origin, and no text can become markup (Trusted Types). If a page is opened by another name of the server, such as localhost,
// the bundle comes from that name, and links to files have the server's own name.
func policy(base, named, connect string) string {
	_, host, _ := strings.Cut(base, "://") // A source without a scheme has the scheme of the page, also behind a proxy.
	bundle := host + "/console/"
	if named != host && hostName.MatchString(named) {
		bundle, connect = bundle+" "+named+"/console/", connect+" "+base
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data: blob:; " +
		"script-src " + bundle + "; style-src " + bundle + "; connect-src " + connect +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
}
