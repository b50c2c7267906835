package auth

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"assay/shared/domain/record"
	"assay/shared/language/problem"

	"github.com/go-jose/go-jose/v4/jwt"
)

// claims are the claims of a token that Assay reads.
type claims struct {
	jwt.Claims
	ClientID          optionalString  `json:"client_id"`
	Name              optionalString  `json:"name"`
	PreferredUsername optionalString  `json:"preferred_username"`
	CognitoUsername   optionalString  `json:"cognito:username"` // in ID tokens of Cognito
	Username          optionalString  `json:"username"`         // in access tokens of Cognito
	Email             optionalString  `json:"email"`
	EmailVerified     *trueClaim      `json:"email_verified"` // nil: the claim is missing
	Groups            optionalStrings `json:"groups"`
	CognitoGroups     optionalStrings `json:"cognito:groups"`
	Events            json.RawMessage `json:"events"` // marks logout tokens, whose type need not, and other security events
}

// optionalString is a string claim. A claim of another type counts as missing.
type optionalString string

func (t *optionalString) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(t)) != nil {
		*t = ""
	}
	return nil
}

// trueClaim is a boolean claim. Some issuers write "true" as a string. Anything else is false.
type trueClaim bool

func (t *trueClaim) UnmarshalJSON(b []byte) error {
	*t = string(b) == "true" || string(b) == `"true"`
	return nil
}

// optionalStrings is an array of strings. Some issuers write a single string without brackets. A claim of another type counts as missing.
type optionalStrings []string

func (l *optionalStrings) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*jwt.Audience)(l)) != nil {
		*l = nil
	}
	return nil
}

// check returns a problem unless a token with the claims is valid for this server.
func (v *Verifier) check(c claims) error {
	if c.Subject == "" || c.Expiry == nil {
		return problem.InvalidToken.New("The token lacks the claim `sub` or `exp`. Send an access token or ID token of %s.", v.Issuer)
	}
	if c.Events != nil {
		return problem.InvalidToken.New("The token is about an event, such as a logout. Send an access token or ID token of %s.", v.Issuer)
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: v.Issuer, Time: v.Now()}, skew)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return problem.InvalidToken.Wrap(err, "The token expired at %s. Get a new one from %s.", c.Expiry.Time(), v.Issuer)
	case errors.Is(err, jwt.ErrNotValidYet):
		return problem.InvalidToken.Wrap(err, "The token is not valid before %s. Use it then, or have the clock of the issuer or of this "+
			"server set right.", c.NotBefore.Time())
	case errors.Is(err, jwt.ErrIssuedInTheFuture):
		return problem.InvalidToken.Wrap(err, "The token says it was issued at %s, which is yet to come. Have the clock of the issuer or of "+
			"this server set right.", c.IssuedAt.Time())
	case err != nil:
		return problem.InvalidToken.Wrap(err, "The token was issued by another issuer than %s. Get one there.", v.Issuer)
	}
	// An access token of Cognito names a client instead of an audience. If there is an audience, the client does not matter: a token that
	// the client got for another service must not be accepted here.
	audience := c.Audience
	if len(audience) == 0 {
		audience = jwt.Audience{string(c.ClientID)}
	}
	if !audience.Contains(v.Audience) {
		return problem.InvalidToken.Wrap(jwt.ErrInvalidAudience, "The token is meant for another audience than %q. Ask %s for one that is "+
			"meant for it.", v.Audience, v.Issuer)
	}
	return nil
}

// identity returns the identity in the claims of a token whose signature has been verified.
func (v *Verifier) identity(c claims) (Identity, error) {
	if err := v.check(c); err != nil {
		return Identity{}, err
	}
	groups := slices.Concat(c.Groups, c.CognitoGroups)
	slices.Sort(groups)
	return Identity{
		Issuer:       v.Issuer,
		Subject:      c.Subject,
		Name:         cmp.Or(record.Line(string(c.Name)), record.Line(string(c.PreferredUsername)), record.Line(string(c.CognitoUsername))),
		Username:     record.Line(string(c.Username)),
		Email:        v.confirmedAddress(c),
		EmailRefused: c.Email != "" && v.confirmedAddress(c) == "",
		Groups:       slices.Compact(groups),
		Expires:      c.Expiry.Time(),
	}, nil
}

// confirmedAddress returns the e-mail address in the claims if it is a plain address and confirmed; otherwise "". It is confirmed if
// email_verified is true, or if the claim is missing and VerifiesEmail is set.
func (v *Verifier) confirmedAddress(c claims) string {
	confirmed := v.VerifiesEmail
	if c.EmailVerified != nil {
		confirmed = bool(*c.EmailVerified)
	}
	if !confirmed || !record.IsAddress(string(c.Email)) {
		return ""
	}
	return string(c.Email)
}

// Groups in tokens that give a role on the whole platform.
const (
	groupAdmins  = "admins"
	groupWorkers = "workers"
)
