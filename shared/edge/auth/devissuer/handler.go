package devissuer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/jsoncheck"
	"assay/shared/language/problem"

	"github.com/go-jose/go-jose/v4"
)

// Limits of a request for a token.
const (
	maxBodyBytes = 16 << 10
	maxNameBytes = 200
	maxGroups    = 20
)

var groupName = regexp.MustCompile(`^[A-Za-z0-9._@-]{1,64}$`)

// Handler serves the issuer under the path of its URL: /token, /jwks.json and /.well-known/openid-configuration. It calls fail with a
// *problem.Error to answer a failed request.
func (i *Issuer) Handler(fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		answer, err := i.respond(r)
		var document []byte
		if err == nil {
			document, err = json.Marshal(answer)
		}
		if problem.MethodNotAllowed.Is(err) {
			w.Header().Set("Allow", strings.Join(i.allowed(r.URL.Path), ", "))
		}
		if err != nil {
			fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document) // fails only when the connection is closed
	})
}

// allowed returns the methods of a path; nil: the path does not exist.
func (i *Issuer) allowed(path string) []string {
	switch path {
	case i.parsedURL.Path + "/token":
		return []string{http.MethodPost}
	case i.parsedURL.Path + "/jwks.json", i.parsedURL.Path + "/.well-known/openid-configuration":
		return []string{http.MethodGet, http.MethodHead}
	default:
		return nil
	}
}

func (i *Issuer) respond(r *http.Request) (any, error) {
	allowed := i.allowed(r.URL.Path)
	switch {
	case allowed == nil && strings.HasPrefix(i.parsedURL.Path+"/.well-known/openid-configuration", strings.TrimSuffix(r.URL.Path, "/")+"/"):
		return nil, problem.Forbidden.New("Nobody can list what is under this address. Its document is at %s.",
			i.url+"/.well-known/openid-configuration")
	case allowed == nil:
		return nil, problem.NotFound.New("The development issuer has nothing here. Get a token with a POST request to %s.", i.url+"/token")
	case !slices.Contains(allowed, r.Method):
		return nil, problem.MethodNotAllowed.New("Use %s here.", strings.Join(allowed, " or "))
	}
	switch r.URL.Path {
	case i.parsedURL.Path + "/token":
		return i.issueToken(r)
	case i.parsedURL.Path + "/jwks.json":
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{i.public}}, nil
	default:
		return map[string]any{ // OpenID Connect Discovery 1.0, section 3
			"issuer":                                i.url,
			"token_endpoint":                        i.url + "/token",
			"jwks_uri":                              i.url + "/jwks.json",
			"response_types_supported":              []string{"token"},
			"subject_types_supported":               []string{"public"},
			"id_token_signing_alg_values_supported": []string{string(jose.ES256)},
		}, nil
	}
}

// isOwnHost reports whether a request with the host was meant for the issuer. It accepts the issuer's own host and loopback addresses,
// at the issuer's own port. This prevents DNS rebinding: a page whose host name resolves to this machine would be same-origin to a
// browser, and could request and read tokens. An issuer that listens on all addresses of the machine accepts any IP address, because
// such a page always has a host name.
func (i *Issuer) isOwnHost(host string) bool {
	asked := &url.URL{Scheme: i.parsedURL.Scheme, Host: host}
	if port(asked) != port(i.parsedURL) {
		return false
	}
	name := asked.Hostname()
	if name != "" && strings.EqualFold(name, i.parsedURL.Hostname()) || strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	bound, err := netip.ParseAddr(i.parsedURL.Hostname())
	return ip.IsLoopback() || err == nil && bound.IsUnspecified()
}

// port returns the port of a URL. It defaults to the port of the scheme.
func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// issueToken answers with a token response of OAuth 2.0 (RFC 6749, section 5.1).
func (i *Issuer) issueToken(r *http.Request) (any, error) {
	const example = `{"user": "alice", "groups": ["admins"]}`
	if !i.isOwnHost(r.Host) {
		return nil, problem.Forbidden.New("Tokens are given to those who ask for them at %s, and not at %q.", i.url+"/token", r.Host)
	}
	// Browsers let a page of any origin send certain other media types without a preflight request.
	if kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" ||
		!jsoncheck.Charset(parameters) {
		return nil, problem.UnsupportedMedia.New("Send JSON in UTF-8 such as %s with `Content-Type: application/json`.", example)
	}
	tooLarge := problem.TooLarge.New("The body may have at most %s.", problem.Size(maxBodyBytes))
	if r.ContentLength > maxBodyBytes {
		return nil, tooLarge // reading the body would send 100 Continue first
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err != nil {
		return nil, problem.BadRequest.Wrap(err, "The body could not be read to its end. Send it again.")
	}
	if len(body) > maxBodyBytes {
		return nil, tooLarge
	}
	if err := jsoncheck.Check(r.Context(), body); err != nil {
		return nil, err
	}
	u, err := api.DecodeDraft[User](r.Context(), body)
	if err != nil {
		return nil, err
	}
	token, err := i.Token(u)
	if err != nil {
		return nil, problem.Internal.Wrap(err, "The token could not be made. Try again.")
	}
	return map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(Lifetime.Seconds())}, nil
}

// Check returns the faults of a request for a token.
func (u User) Check() []problem.Field {
	var faults problem.Fields
	faults.AddIf(u.User == "" || len(u.User) > maxNameBytes || strings.TrimSpace(u.User) != u.User || record.Line(u.User) != u.User, "/user",
		"must be a name in one line, of 1 to %s and without spaces before and after it", problem.Size(maxNameBytes))
	faults.AddIf(len(u.Name) > maxNameBytes, "/name", "must have at most %s", problem.Size(maxNameBytes))
	faults = append(faults, record.CheckLine("/name", u.Name)...)
	faults.AddIf(u.Email != "" && !record.IsAddress(u.Email), "/email", "must be an address such as alice@example.org with at most %s",
		problem.Size(record.MaxAddressBytes))
	faults.AddIf(len(u.Groups) > maxGroups, "/groups", "must have at most %d members", maxGroups)
	for n, group := range u.Groups[:min(len(u.Groups), maxGroups)] {
		faults.AddIf(!groupName.MatchString(group), fmt.Sprintf("/groups/%d", n),
			"must be 1 to 64 of the characters a-z, A-Z, 0-9, '.', '_', '@' and '-'")
	}
	return faults
}
