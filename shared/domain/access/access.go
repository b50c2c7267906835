// Package access decides about access rights. Each operation declares the roles that may call it. A Scope determines which roles a
// caller has for a resource. Decide combines the two. No other code in Assay decides about rights. Operations without declared
// roles are denied.
package access

import (
	"slices"

	"assay/shared/language/lists"
)

// Role is a set of relations that a caller can have to a resource.
type Role uint16

// The roles. Their zero value is nobody.
const (
	Anyone         Role = 1 << iota // no login needed
	User                            // anyone who is logged in
	Registrant                      // registered for the resource's task, and accepted
	Owner                           // a member of the resource's team, or the resource's user if it has no team
	Organizer                       // a member of the organizer behind the resource
	Worker                          // a program that does the platform's work
	Admin                           // runs the platform
	Applicant                       // registered for the resource's task, with a pending or rejected registration
	OrganizerOwner                  // an owner of the organizer; owners are also Organizers
)

// Audience is the set of callers who may know that a resource exists. Admins see everything.
type Audience uint8

// The audiences. Each includes the one before, except that an owner need not be registered.
const (
	Nobody      Audience = iota // only admins
	Organizers                  // members of the organizer
	Owners                      // also the owner
	Registrants                 // also users whose registration for the task was accepted
	Everyone
)

// Scope holds the members of a resource that decisions about access depend on.
type Scope struct {
	OrganizerID string
	TaskID      string
	// RegistrationID identifies the team that owns the resource. Without a team, the user OwnerID owns it. OwnerID made the resource in
	// both cases.
	RegistrationID string
	OwnerID        string
	Audience       Audience
	// KnownTo names roles that may know that the resource exists, even outside its Audience. Decide returns Forbid for them instead of
	// Hide.
	KnownTo Role
}

// Caller is the sender of a request. The zero Caller is anonymous.
type Caller struct {
	ID       string // user ID; empty for an anonymous caller
	Name     string // empty if the token has none, like Username and Email
	Username string // shown if the name is unknown
	Email    string // only if the issuer has confirmed the address
	// EmailRefused reports that the token has an address that must not be used. Then no earlier address may be used either.
	EmailRefused bool
	Admin        bool // never set for callers with an access token
	Worker       bool
	Token        *Token // nil for callers with a token of the sign-in issuer

	withheld Role // roles that the token does not grant for this request
}

// Anonymous reports whether the caller has not signed in.
func (c Caller) Anonymous() bool { return c.ID == "" }

// Grants holds a user's memberships of organizers and registrations for tasks.
type Grants struct {
	Memberships   []Membership
	Registrations []Registration // at most one for each task
}

// Membership is a user's membership of an organizer.
type Membership struct {
	OrganizerID string
	Owner       bool // false for editors
}

// membershipRole returns the roles that g grants through membership of the organizer.
func (g Grants) membershipRole(organizerID string) (roles Role) {
	for _, m := range g.Memberships {
		switch {
		case organizerID == "" || m.OrganizerID != organizerID:
		case m.Owner:
			roles |= Organizer | OrganizerOwner
		default:
			roles |= Organizer
		}
	}
	return roles
}

// MemberOf reports whether g has a membership of the organizer.
func (g Grants) MemberOf(organizerID string) bool { return g.membershipRole(organizerID) != 0 }

// Registration is a user's membership of a team of a task.
type Registration struct {
	ID          string
	TaskID      string
	PrivateTask bool
	Accepted    bool
}

// holds reports whether g has the registration.
func (g Grants) holds(registrationID string) bool {
	return slices.ContainsFunc(g.Registrations, func(r Registration) bool { return r.ID == registrationID })
}

// registrationRole returns the role that g grants through a registration for the task.
func (g Grants) registrationRole(taskID string) Role {
	for _, r := range g.Registrations {
		switch {
		case taskID == "" || r.TaskID != taskID:
		case r.Accepted:
			return Registrant
		default:
			return Applicant
		}
	}
	return 0
}

// PrivateTasks returns the private tasks for which a registration was accepted.
func (g Grants) PrivateTasks() []string {
	var ids []string
	for _, r := range g.Registrations {
		if r.PrivateTask && r.Accepted {
			ids = append(ids, r.TaskID)
		}
	}
	return ids
}

// Roles returns all roles that the caller has for a resource of the scope.
func Roles(c Caller, g Grants, s Scope) Role {
	roles := Anyone
	if c.Anonymous() {
		return roles
	}
	roles |= User
	if s.RegistrationID == "" && c.ID == s.OwnerID || s.RegistrationID != "" && g.holds(s.RegistrationID) {
		roles |= Owner
	}
	roles |= g.membershipRole(s.OrganizerID) | g.registrationRole(s.TaskID)
	if c.Worker {
		roles |= Worker
	}
	if c.Admin {
		roles |= Admin
	}
	return roles &^ c.withheld
}

// Public returns the roles that every caller has who sees the task of a resource, given the caller's own roles.
func Public(roles Role) Role {
	if roles&(Registrant|Organizer|Admin) != 0 {
		return Anyone | Registrant
	}
	return Anyone
}

// members maps each audience except Everyone to the roles that belong to it, without Admin.
var members = map[Audience]Role{
	Organizers: Organizer, Owners: Organizer | Owner, Registrants: Organizer | Owner | Registrant,
}

// Sees reports whether a caller with the roles may know that a resource with the audience exists.
func Sees(roles Role, a Audience) bool { return a == Everyone || roles&(Admin|members[a]) != 0 }

// Seen returns the audiences whose resources a caller with the roles sees.
func Seen(roles Role, audiences []Audience) []Audience {
	return slices.DeleteFunc(slices.Clone(audiences), func(a Audience) bool { return !Sees(roles, a) })
}

// Decision is the outcome for one request.
type Decision uint8

// The decisions. The zero value reveals the least.
const (
	Hide   Decision = iota // answer as if the resource were missing: 404
	Login                  // the resource is visible, and signing in could help: 401
	Forbid                 // the caller sees the resource but may not do this: 403
	Allow
)

// Decide says whether a caller with the roles may call an operation that the roles may are allowed to call, on a resource of the scope.
// Admins may do everything that organizers and their owners may.
func Decide(may, roles Role, s Scope) Decision {
	if may&(Organizer|OrganizerOwner) != 0 {
		may |= Admin
	}
	switch {
	case !Sees(roles, s.Audience) && roles&s.KnownTo != 0:
		return Forbid
	case !Sees(roles, s.Audience):
		return Hide
	case may&roles != 0:
		return Allow
	case roles&User == 0 && may != 0:
		return Login
	default:
		return Forbid
	}
}

// Refusals returns which of Login and Forbid can be decided about resources of a kind. widest is the scope that most callers see;
// callers who see a narrower scope see it too. Refusals tries callers with at most one role beyond a sign-in.
func Refusals(may Role, widest Scope) (refusals []Decision) {
	callers := []Role{Anyone}
	// Applicants see no more than users.
	for _, role := range []Role{User, Registrant, Owner, Organizer, Organizer | OrganizerOwner, Worker, Admin} {
		callers = append(callers, Anyone|User|role)
	}
	for _, refusal := range []Decision{Login, Forbid} {
		if slices.ContainsFunc(callers, func(c Role) bool { return Decide(may, c, widest) == refusal }) || refusal == Forbid &&
			widest.KnownTo != 0 {
			refusals = append(refusals, refusal)
		}
	}
	return refusals
}

// String names the people who have one of the roles, for a sentence: "workers and administrators".
func (r Role) String() string {
	var names []string
	for _, n := range []struct {
		role Role
		name string
	}{
		{Anyone, "anyone"}, {User, "users who are signed in"}, {Registrant, "accepted teams of the task"}, {Applicant, "teams of the task"},
		{Owner, "the team or the user that this belongs to"},
		{Organizer, "members of the organizer"}, {OrganizerOwner, "owners of the organizer"},
		{Worker, "workers"}, {Admin, "administrators"},
	} {
		if r&n.role != 0 {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return "nobody"
	}
	return lists.And(names)
}
