package access

import (
	"slices"
	"strings"
	"time"
)

// TokenScope is the set of uses that an access token of the platform allows.
type TokenScope uint8

// The scopes. The zero value allows nothing.
const (
	ScopeRead     TokenScope = 1 << iota // read everything that its user sees
	ScopeSubmit                          // also take part in tasks
	ScopeOrganize                        // also act as a member of organizers
	ScopeWork                            // lease runs and report on them
)

// SignedIn is for operations that no access token may call. So a token cannot be used to make further tokens.
const SignedIn TokenScope = 1 << 7

// ScopeReading holds the scopes that allow reading: tokens that may change something may also read.
const ScopeReading = ScopeRead | ScopeSubmit | ScopeOrganize

// tokenScopes maps names in the API to scopes.
var tokenScopes = []struct {
	name  string
	scope TokenScope
}{{"read", ScopeRead}, {"submit", ScopeSubmit}, {"organize", ScopeOrganize}, {"work", ScopeWork}}

// ParseTokenScopes returns the set of the named scopes. Unknown names are ignored.
func ParseTokenScopes(names []string) (all TokenScope) {
	for _, s := range tokenScopes {
		if slices.Contains(names, s.name) {
			all |= s.scope
		}
	}
	return all
}

// Names returns the names of the scopes in the set.
func (s TokenScope) Names() (names []string) {
	for _, known := range tokenScopes {
		if s&known.scope != 0 {
			names = append(names, known.name)
		}
	}
	return names
}

// AnyScope is for operations that every access token may call.
const AnyScope = ScopeReading | ScopeWork

// String describes to a person which access tokens are accepted.
func (s TokenScope) String() string {
	names := s.Names()
	if len(names) == 0 {
		return "none"
	}
	return "with the scope " + strings.Join(names, " or ")
}

// Needed describes to a person with an access token what an operation takes that accepts the scopes.
func (s TokenScope) Needed() string {
	if len(s.Names()) == 0 {
		return "a login, and no access token"
	}
	return "a login, or an access token " + s.String()
}

// Token is an access token that a caller sent. It limits the rights of its user.
type Token struct {
	Digest     string // of the secret; part of the token's key
	Scopes     TokenScope
	Pools      []string // of workers, for ScopeWork; empty means all pools
	Expires    time.Time
	LastUsedOn string // in the form of record.TokenDay
}

// Allows reports whether the caller's token allows an operation that accepts any of the scopes. Scopes do not restrict callers without
// an access token.
func (c Caller) Allows(oneOf TokenScope) bool { return c.Token == nil || c.Token.Scopes&oneOf != 0 }

// Changing returns the caller for a request that changes something: without the roles that the scopes of its access token do not grant.
// Requests that only read have all roles of the user. So a token that may only submit sees everything that its user sees.
func (c Caller) Changing() Caller {
	for scope, roles := range granted {
		if !c.Allows(scope) {
			c.withheld |= roles
		}
	}
	return c
}

// granted holds the roles that each scope conveys for changes. A token without the scope conveys them only for reading.
var granted = map[TokenScope]Role{
	ScopeSubmit:   Owner | Registrant | Applicant,
	ScopeOrganize: Organizer | OrganizerOwner,
}

// ScopesFor returns the scopes that convey at least one of the roles for a change.
func ScopesFor(roles Role) (scopes TokenScope) {
	for scope, conveyed := range granted {
		if roles&conveyed != 0 {
			scopes |= scope
		}
	}
	return scopes
}

// Unlimited returns the caller with the roles that Changing removed.
func (c Caller) Unlimited() Caller {
	c.withheld = 0
	return c
}
