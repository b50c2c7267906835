package access

import (
	"slices"
	"strings"
	"time"
)

// TokenScope is a set of what an access token of the platform may be used for.
type TokenScope uint8

// The scopes. Their zero value allows nothing.
const (
	ScopeRead     TokenScope = 1 << iota // see what its user sees
	ScopeSubmit                          // and take part in tasks
	ScopeOrganize                        // and act as a member of organizers
	ScopeWork                            // lease runs and report on them
)

// SignedIn is no scope: no access token may call what takes it alone, so that one cannot make others.
const SignedIn TokenScope = 1 << 7

// ScopeReading are the scopes with any of which a token may read: who may change something sees it.
const ScopeReading = ScopeRead | ScopeSubmit | ScopeOrganize

// tokenScopes has the scopes by their names in the API.
var tokenScopes = []struct {
	name  string
	scope TokenScope
}{{"read", ScopeRead}, {"submit", ScopeSubmit}, {"organize", ScopeOrganize}, {"work", ScopeWork}}

// ParseTokenScopes returns the set of the named scopes; names that are none add nothing.
func ParseTokenScopes(names []string) (all TokenScope) {
	for _, s := range tokenScopes {
		if slices.Contains(names, s.name) {
			all |= s.scope
		}
	}
	return all
}

// Names are the names of the scopes in the set.
func (s TokenScope) Names() (names []string) {
	for _, known := range tokenScopes {
		if s&known.scope != 0 {
			names = append(names, known.name)
		}
	}
	return names
}

// AnyScope is what is open to every access token.
const AnyScope = ScopeReading | ScopeWork

// String tells a person which access tokens are taken.
func (s TokenScope) String() string {
	names := s.Names()
	if len(names) == 0 {
		return "none"
	}
	return "with the scope " + strings.Join(names, " or ")
}

// Token is what an access token says about the caller who sent it: what its user's rights are limited to.
type Token struct {
	Digest     string // of the secret, under which it is stored
	Scopes     TokenScope
	Pools      []string // of workers, for ScopeWork; none: all
	Expires    time.Time
	LastUsedOn string // a day, as record.TokenDay returns it
}

// Allows reports whether the caller may call what takes one of the scopes: everyone who did not come with an access token may, as
// far as scopes go.
func (c Caller) Allows(oneOf TokenScope) bool { return c.Token == nil || c.Token.Scopes&oneOf != 0 }

// Changing returns the caller for a request that changes something: roles that the scopes of an access token do not convey are
// missing. One who only reads has the user's, so that a token that submits for a member of an organizer sees what the member sees.
func (c Caller) Changing() Caller {
	if !c.Allows(ScopeOrganize) {
		c.withheld |= Organizer | OrganizerOwner
	}
	if !c.Allows(ScopeSubmit) {
		c.withheld |= Owner | Registrant | Applicant
	}
	return c
}

// Unlimited returns the caller with the roles that Changing took.
func (c Caller) Unlimited() Caller {
	c.withheld = 0
	return c
}
