// Package access decides who may do what. Each operation declares the roles that may call it; a Scope says what gives a caller
// these roles for a resource; Decide brings them together. Nothing else in Assay decides about rights, and an operation that
// declares no role is denied.
package access

import (
	"slices"
	"strings"
)

// Role is a set of relations that a caller can have to a resource.
type Role uint16

// The roles. Their zero value is nobody.
const (
	Anyone         Role = 1 << iota // no login needed
	User                            // anyone who is logged in
	Registrant                      // registered for the resource's task, and accepted
	Owner                           // a member of the team whose resource it is or, of what is of no team, its user
	Organizer                       // a member of the organizer behind the resource
	Worker                          // runs the platform's work
	Admin                           // runs the platform
	Applicant                       // registered for the resource's task, and not accepted: pending or rejected
	OrganizerOwner                  // a member of the organizer who is one of its owners; such a caller is an Organizer too
)

// Audience says who may see that a resource exists. An admin sees everything.
type Audience uint8

// The audiences, each wider than the one before it, save that an owner need not be registered.
const (
	Nobody      Audience = iota // the zero value hides from all but admins
	Organizers                  // members of the organizer
	Owners                      // and the owner
	Registrants                 // and those whose registration for the task was accepted
	Everyone
)

// Scope is what a decision about a resource needs to know of it.
type Scope struct {
	OrganizerID string
	TaskID      string
	// RegistrationID is that of the team whose resource it is. Without one it is of the user OwnerID, who made it in either case.
	RegistrationID string
	OwnerID        string
	Audience       Audience
	// KnownTo may know that the resource exists although they are not of its Audience: they are answered Forbid, not Hide.
	KnownTo Role
}

// Caller is who sent a request; the zero Caller is anonymous.
type Caller struct {
	ID       string // user id; empty for an anonymous caller
	Name     string // empty where the token does not have it; so are Username and Email
	Username string // stands for a name that nobody knows
	Email    string // one that the issuer has confirmed
	// EmailRefused says that the token has an address that does not count, so that no earlier one counts either.
	EmailRefused bool
	Admin        bool // never of a caller with an access token
	Worker       bool
	Token        *Token // the access token that was sent; nil for a token of the sign-in issuer

	withheld Role // what the token does not convey to this request
}

// Anonymous reports whether the caller has not logged in.
func (c Caller) Anonymous() bool { return c.ID == "" }

// Grants is what a user was given: memberships of organizers and registrations for tasks.
type Grants struct {
	Memberships   []Membership
	Registrations []Registration // at most one for each task
}

// Membership is what it gives to a user to be a member of an organizer.
type Membership struct {
	OrganizerID string
	Owner       bool // not an editor alone
}

// membershipRole returns the roles that membership of the organizer gives, if the grants hold one.
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

// MemberOf reports whether the grants hold a membership of the organizer.
func (g Grants) MemberOf(organizerID string) bool { return g.membershipRole(organizerID) != 0 }

// Registration is what it gives to a user to be of a team of a task.
type Registration struct {
	ID          string
	TaskID      string
	PrivateTask bool
	Accepted    bool
}

// holds reports whether the grants hold the registration.
func (g Grants) holds(registrationID string) bool {
	return slices.ContainsFunc(g.Registrations, func(r Registration) bool { return r.ID == registrationID })
}

// registrationRole returns the role that the registration for the task gives, if the grants hold one.
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

// PrivateTasks are the private tasks that the grants open: those whose registration was accepted.
func (g Grants) PrivateTasks() []string {
	var ids []string
	for _, r := range g.Registrations {
		if r.PrivateTask && r.Accepted {
			ids = append(ids, r.TaskID)
		}
	}
	return ids
}

// Roles returns every role that the caller has for a resource of the scope.
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

// Public returns which of the roles everyone has who sees the task of a resource.
func Public(roles Role) Role {
	if roles&(Registrant|Organizer|Admin) != 0 {
		return Anyone | Registrant
	}
	return Anyone
}

// members are the roles, admins aside, of which those of an audience that is not Everyone have one.
var members = map[Audience]Role{
	Organizers: Organizer, Owners: Organizer | Owner, Registrants: Organizer | Owner | Registrant,
}

// Sees reports whether one who has the roles may know that a resource with the audience exists.
func Sees(roles Role, a Audience) bool { return a == Everyone || roles&(Admin|members[a]) != 0 }

// Seen returns those of the audiences of which one who has the roles sees resources.
func Seen(roles Role, audiences []Audience) []Audience {
	return slices.DeleteFunc(slices.Clone(audiences), func(a Audience) bool { return !Sees(roles, a) })
}

// Decision is the outcome for one request.
type Decision uint8

// The decisions; the zero value is the one that tells least.
const (
	Hide   Decision = iota // answer as if the resource were missing: 404
	Login                  // logging in could help, and the resource is public knowledge: 401
	Forbid                 // the caller sees the resource but may not do this: 403
	Allow
)

// Decide says whether a caller with the roles may do what only `may` may do, to a resource of the scope. An admin may do
// all that an organizer and its owners may.
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

// Refusals returns, of Login and Forbid, what can be decided about resources of a kind, of which widest is the scope that most
// callers see: who sees a narrower one sees that too. Each is decided of a caller with one role beyond a login, if of any.
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

// String tells a person who may.
func (r Role) String() string {
	var names []string
	for _, n := range []struct {
		role Role
		name string
	}{
		{Anyone, "anyone"}, {User, "a login"}, {Registrant, "an accepted registration for the task"}, {Applicant, "a registration for the task"},
		{Owner, "being its owner or in its team"},
		{Organizer, "membership of the organizer"}, {OrganizerOwner, "being an owner of the organizer"},
		{Worker, "the role worker"}, {Admin, "the role admin"},
	} {
		if r&n.role != 0 {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return "what nobody has"
	}
	return strings.Join(names, " or ")
}
